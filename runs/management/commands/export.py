"""A run as files for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from runs.exporting import write_results
from runs.management.run_door import RunDoor

FORMATS = ("results",)


class Command(RunDoor):
    """`proofroom export RUN`."""

    help = "Write a run's marks as result files, one a trial and round."
    example = "proofroom export 12 --format results -o results/"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--format", default="results", help="results (the default).")
        parser.add_argument("-o", "--output", metavar="PATH", help="A folder (default: run-<RUN>).")

    def handle(self, *args: Any, **options: Any) -> None:
        run = self.run_of(options["run"])
        if options["format"] not in FORMATS:
            self.bad_input(
                f"--format {options['format']!r} is not there yet; known are: {', '.join(FORMATS)}."
            )
        folder = Path(options["output"] or f"run-{run.pk}")
        try:
            written = write_results(run, folder)
        except OSError as error:
            self.bad_input(f"{str(folder)!r} cannot be written: {error.strerror}.")
        self.answer(
            {"run": run.pk, "files": written, "path": str(folder)},
            text=f"{written} result files of run {run.pk} are in {folder}.",
        )
