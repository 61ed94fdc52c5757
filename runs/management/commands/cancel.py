"""End a run's processes and keep what is recorded."""

from __future__ import annotations

from typing import Any

from runs.launching import cancel
from runs.management.run_door import RunDoor


class Command(RunDoor):
    """`proofroom cancel RUN`."""

    help = "End a run's processes within seconds; everything recorded stays."
    example = "proofroom cancel 12"

    def handle(self, *args: Any, **options: Any) -> None:
        run = self.run_of(options["run"])
        was_open = cancel(run)
        run.refresh_from_db()
        text = (
            f"Run {run.pk} is cancelled. `proofroom retry {run.pk}` continues it."
            if was_open
            else f"Run {run.pk} was over already: {run.state}."
        )
        self.answer({"run": run.pk, "state": run.state, "cancelled": was_open}, text=text)
