"""A run as files for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from runs.exporting import write_results
from runs.management.run_door import RunDoor
from runs.models import Judging, Run

FORMATS = ("results",)


class Command(RunDoor):
    """`proofroom export RUN`."""

    help = "Write a run's marks as result files, one a trial and round."
    example = "proofroom export 12 --format results -o results/"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--format", default="results", help="results (the default).")
        parser.add_argument(
            "--judge", metavar="NAME", help="The newest marks of this judge instead of the primary ones."
        )
        parser.add_argument("-o", "--output", metavar="PATH", help="A folder (default: run-<RUN>).")

    def handle(self, *args: Any, **options: Any) -> None:
        run = self.run_of(options["run"])
        if options["format"] not in FORMATS:
            self.bad_input(
                f"--format {options['format']!r} is not there yet; known are: {', '.join(FORMATS)}."
            )
        judge = options["judge"]
        if judge is not None:
            self._require_judge(run, judge)
        folder = Path(options["output"] or f"run-{run.pk}")
        try:
            written = write_results(run, folder, judge=judge)
        except OSError as error:
            self.bad_input(f"{str(folder)!r} cannot be written: {error.strerror}.")
        self.answer(
            {"run": run.pk, "files": written, "path": str(folder)},
            text=f"{written} result files of run {run.pk} are in {folder}.",
        )

    def _require_judge(self, run: Run, judge: str) -> None:
        known = sorted(
            set(Judging.objects.filter(round__trial__run=run).order_by().values_list("judge", flat=True))
        )
        if judge not in known:
            there = f"those are {', '.join(known)}" if known else "nobody judged it yet"
            self.bad_input(f"--judge {judge!r} gave no marks in run {run.pk}; {there}.")
