"""Base of the commands that speak of one run."""

from __future__ import annotations

from django.core.management.base import CommandParser

from benchmark.management.door import Door
from runs.finding import RunUnknown, run_named
from runs.models import Run


class RunDoor(Door):
    """A command whose first argument is a run."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="Number of the run.")

    def run_of(self, text: str) -> Run:
        """Return the run, or end with exit 2 and a sentence."""
        try:
            return run_named(text)
        except RunUnknown as unknown:
            self.bad_input(str(unknown))
