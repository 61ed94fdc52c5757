"""Store a run's numbers, each as one row, so that tables and exports need no recomputation."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from benchmark.rules.records import Estimate, Scores
from runs import history
from runs.models import MetricValue, Run

log = logging.getLogger(__name__)

COUNTS = ("errors", "skipped", "infrastructure_failures", "audit_failed", "unfinished")
"""What is counted beside the metrics and stored under the same names."""

SECONDS_A_TRIAL = 0.05
"""How long a running run's stored numbers stay as they are, for each of its trials."""


def store(run: Run) -> Scores:
    """Recompute every number of a run from its marks and replace the stored ones."""
    with transaction.atomic():
        # Two trials of a run may end at once: the later one must see the earlier one's marks.
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        scores = history.scores(locked)
        MetricValue.objects.filter(run=locked).delete()
        MetricValue.objects.bulk_create(_rows(locked, scores), batch_size=500)
    return scores


def store_if_possible(run: Run) -> None:
    """Store a run's numbers where that must not keep it from stopping; what is in the way is logged."""
    try:
        store(run)
    except Exception:
        log.exception("Run %s: its numbers cannot be stored.", run.pk)


def renew(run: Run) -> None:
    """Store a run's numbers anew unless that was done a moment ago; its end stores them in any case.

    The numbers rest on all of a run's trials: made after every trial of a large run, they would cost more
    than the judging. So the moment grows with the trials.
    """
    newest = MetricValue.objects.filter(run=run, task_key="", round_number=0).aggregate(
        at=Max("computed_at")
    )["at"]
    if newest is not None:
        moment = SECONDS_A_TRIAL * run.trials.count()
        if 0 <= (timezone.now() - newest).total_seconds() < moment:
            return
    store(run)


def _rows(run: Run, scores: Scores) -> list[MetricValue]:
    now = timezone.now()
    return [
        MetricValue(
            run=run,
            name=name,
            task_key=task_key,
            round_number=round_number,
            value=estimate.value,
            half_width=estimate.half_width,
            n=estimate.n,
            denominator=estimate.denominator,
            reason=estimate.reason or "",
            computed_at=now,
        )
        for task_key, round_number, metrics in _scopes(scores)
        for name, estimate in metrics.items()
    ]


def _scopes(scores: Scores) -> Iterator[tuple[str, int, Mapping[str, Estimate]]]:
    yield "", 0, scores.metrics
    n = len(scores.per_task)
    yield "", 0, {name: Estimate(value=getattr(scores, name), n=n) for name in COUNTS}
    for at in scores.per_round:
        yield "", at.round, at.metrics
    for task_key, metrics in scores.per_task.items():
        yield task_key, 0, metrics
