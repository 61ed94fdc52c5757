"""Store every number of the run as it stands after this round."""

from __future__ import annotations

from runs import scoring
from runs.context import StageContext


def run(context: StageContext) -> None:
    """Recompute and store the run's numbers, where the stored ones are old."""
    scoring.renew(context.run)
