"""Recompute a run's numbers from its marks."""

from __future__ import annotations

from typing import Any

from runs import scoring
from runs.management.run_door import RunDoor
from runs.models import MetricValue


class Command(RunDoor):
    """`proofroom rescore RUN`."""

    help = "Recompute a run's numbers from its marks; no agent, browser or key is needed."
    example = "proofroom rescore 12"

    def handle(self, *args: Any, **options: Any) -> None:
        run = self.run_of(options["run"])
        stored = MetricValue.objects.filter(run=run)
        earlier = {
            (name, task, round_): value
            for name, task, round_, value in stored.values_list("name", "task_key", "round_number", "value")
        }
        scores = scoring.store(run)
        changed = sorted(
            name if not task and not round_ else f"{name} ({task or f'round {round_}'})"
            for name, task, round_, value in MetricValue.objects.filter(run=run).values_list(
                "name", "task_key", "round_number", "value"
            )
            if earlier.get((name, task, round_), value) != value
        )
        text = (
            f"{len(changed)} numbers of run {run.pk} changed: {', '.join(changed[:5])}."
            if changed
            else f"All {len(earlier)} numbers of run {run.pk} are as they were."
        )
        self.answer({"run": run.pk, "changed": changed, **scores.as_json()}, text=text)
