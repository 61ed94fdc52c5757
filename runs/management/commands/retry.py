"""Continue a run where it stopped or could not judge."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from runs.launching import retry
from runs.management.run_door import RunDoor
from runs.waiting import work_until_over


class Command(RunDoor):
    """`proofroom retry RUN`."""

    help = "Continue only what is missing or error; marks that were given stay."
    example = "proofroom retry 12 --wait"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--wait", action="store_true", help="Work on the run here.")

    def handle(self, *args: Any, **options: Any) -> None:
        run = self.run_of(options["run"])
        trials = retry(run)
        if trials and options["wait"]:
            work_until_over(run, say=self.say)
        run.refresh_from_db()
        text = (
            f"{trials} trials of run {run.pk} are tried again; it is {run.state}."
            if trials
            else f"Run {run.pk} is {run.state}; nothing is missing and no error can be mended by a retry."
        )
        self.answer({"run": run.pk, "state": run.state, "trials": trials}, text=text)
