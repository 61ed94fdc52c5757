"""Advance runs without Celery."""

from __future__ import annotations

import threading
from typing import Any

from django.core.management.base import CommandParser

from benchmark.management.door import Door
from runs import shutdown
from runs.waiting import work_on_all


class Command(Door):
    """`proofroom work`."""

    help = "Advance runs without Celery until none is left, or for ever."
    example = "proofroom work --forever"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--forever", action="store_true", help="Wait for new runs at the end.")

    def handle(self, *args: Any, **options: Any) -> None:
        stopping = threading.Event()
        shutdown.on_signals(stopping.set)
        work_on_all(forever=options["forever"], say=self.say, stopping=stopping)
        text = (
            "Stopped; what was at work goes on with the next worker."
            if stopping.is_set()
            else "No run is left."
        )
        self.answer({"stopped": stopping.is_set()}, text=text)
