"""Import the sample benchmarks, run one of them in a real browser, and serve the site."""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import CommandParser
from django.db import close_old_connections

from annotation import demonstration
from benchmark.importing import import_path
from benchmark.management.door import Door
from benchmark.models import Benchmark
from benchmark.protocols import samples
from benchmark.rules.vocabulary import RunState
from runs import launching
from runs.management.serving import PortTaken, listener, run_server
from runs.models import UNFINISHED_RUNS, Run
from runs.reporting.reading import headline_lines
from runs.waiting import progress, work_until_over

NAME = "demo"
USER = "lead"
ANNOTATORS = ("annotator", "second-annotator")


class Command(Door):
    """`make demo`."""

    help = "Show a complete run on the sample benchmark, without any key."
    example = "proofroom demo --no-serve"
    speaks_json = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="End after the run.")
        parser.add_argument(
            "--prepare", action="store_true", help="Import the samples and make the account, no more."
        )
        parser.add_argument("--tasks", metavar="KEYS", help="Run these tasks alone, separated by commas.")
        parser.add_argument("--host", default="127.0.0.1", help="Address to listen on.")
        parser.add_argument("--port", type=int, default=8000, help="0 takes a free one.")

    def handle(self, *args: Any, **options: Any) -> None:
        bound = None
        if not options["no_serve"] and not options["prepare"]:
            try:
                bound = listener(host=options["host"], port=options["port"], public_url=None)
            except PortTaken as taken:
                self.bad_input(str(taken))
        benchmark = self._benchmark()
        password = _ensure_user()
        self._annotators = demonstration.annotators(ANNOTATORS, password=password)
        if options["prepare"]:
            return
        run = self._run(benchmark, tasks=options["tasks"].split(",") if options["tasks"] else None)
        if bound is None:
            work_until_over(run, say=self.say)
            self._report(run)
            self.say(f"`proofroom report {run.pk}` prints the tables; `make demo` serves the site.")
            return
        self.say(f"Proofroom is at {settings.PUBLIC_URL}/runs/{run.pk}/")
        self.say(f"Sign in as {USER!r} with the password {password!r} (Ctrl-C ends the site).")
        self.say(
            f"{' and '.join(map(repr, ANNOTATORS))} have the same password; their sets open after the run."
        )
        threading.Thread(target=self._follow, args=(run,), daemon=True).start()
        run_server(bound, with_worker=True)

    def _benchmark(self) -> Benchmark:
        imported = [import_path(path).benchmark for path in samples()]
        for benchmark in imported:
            self.say(f"Sample benchmark {benchmark} is there: {benchmark.tasks.count()} tasks.")
        return imported[0]

    def _run(self, benchmark: Benchmark, *, tasks: Sequence[str] | None) -> Run:
        """The demo's run: the earlier one where there is one, so that repeating is harmless."""
        runs = Run.objects.filter(benchmark=benchmark, name=NAME)
        run = runs.exclude(state=RunState.CANCELLED).order_by("-pk").first()
        if run is None:
            try:
                checked = launching.plan(benchmark, agent="replay", tasks=tasks, by_operator=True)
            except launching.BadLaunch as problem:
                self.bad_input(str(problem))
            run = launching.launch(checked, name=NAME)
            self.say(f"Run {run.pk} was launched.")
        elif run.state == RunState.PAUSED:
            launching.retry(run)
        return run

    def _report(self, run: Run) -> None:
        run.refresh_from_db()
        self._open_campaign(run)
        for line in headline_lines(run):
            self.say(line)
        if run.state != RunState.FINISHED:
            self.failed_job(f"Run {run.pk} is {run.state}; `proofroom show {run.pk}` says where it stopped.")

    def _open_campaign(self, run: Run) -> None:
        """Ask people about the finished run's marks, as a lead would."""
        if run.state == RunState.FINISHED:
            lead = get_user_model().objects.filter(username=USER).first()
            demonstration.campaign_over(run, people=self._annotators, by=lead)

    def _follow(self, run: Run) -> None:
        """Keep one line of the terminal up to date until the run is over."""
        last = ""
        rewrites = sys.stdout.isatty()
        while True:
            close_old_connections()
            run.refresh_from_db()
            line = progress(run).line()
            if line != last:
                self.stdout.write(f"\r\x1b[K{line}" if rewrites else line, ending="" if rewrites else "\n")
                self.stdout.flush()
                last = line
            if run.state not in UNFINISHED_RUNS or run.state == RunState.PAUSED:
                break
            time.sleep(1)
        self._open_campaign(run)
        if rewrites:
            self.stdout.write("")
        for line in headline_lines(run):
            self.stdout.write(line)
        self.stdout.flush()


def _ensure_user() -> str:
    """The demo's account; its password is made once and kept where only this account reads it."""
    path = Path(settings.DATA_DIR) / "demo_password"
    model = get_user_model()
    if not path.exists():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as out:
            out.write(secrets.token_urlsafe(9))
    password = path.read_text().strip()
    user, created = model.objects.get_or_create(
        username=USER, defaults={"is_staff": True, "is_superuser": True}
    )
    if created or not user.check_password(password):
        user.set_password(password)
        user.save()
    return password
