"""The site and its embedded worker."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from benchmark.management.door import Door
from runs.management.serving import PortTaken, listener, run_server


class Command(Door):
    """`proofroom serve`."""

    help = "Serve the site, with a worker in the same process."
    example = "proofroom serve --port 8000"
    speaks_json = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="Address to listen on.")
        parser.add_argument("--port", type=int, default=8000, help="0 takes a free one.")
        parser.add_argument("--public-url", help="Address under which people reach the site.")
        parser.add_argument(
            "--no-worker",
            action="store_true",
            help="Serve pages only; Celery workers run elsewhere (REDIS_URL).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            bound = listener(host=options["host"], port=options["port"], public_url=options["public_url"])
        except PortTaken as taken:
            self.bad_input(str(taken))
        self.say(f"Proofroom is at {settings.PUBLIC_URL} (Ctrl-C ends it).")
        self.stdout.flush()
        run_server(bound, with_worker=not options["no_worker"])
