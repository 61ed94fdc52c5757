"""Numbers of several runs side by side, read in a number of queries that does not grow with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchmark.protocols import protocol
from benchmark.rules.records import Estimate, Scores
from runs import history
from runs.models import Run
from runs.pages import figures
from runs.scoring import COUNTS

type Metrics = Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNumbers:
    """One run's numbers: over all tasks, by round, and of single tasks; counts None where not stored."""

    metrics: Metrics
    per_round: Mapping[int, Metrics]
    per_task: Mapping[str, Metrics]
    counts: Mapping[str, int | None]

    @property
    def last_round(self) -> int:
        """The last round that any task of the run has."""
        return max(self.per_round, default=0)


def stored(runs: Sequence[Run], *, names: Sequence[str], task_names: Sequence[str]) -> dict[int, RunNumbers]:
    """What the score stage stored: `names` by round, `task_names` by task; runs without numbers are absent."""
    ids = [run.pk for run in runs]
    headlines = figures.headline(ids)
    rounds = figures.by_round(ids, names)
    tasks = figures.by_task(ids, task_names)
    return {
        pk: RunNumbers(
            metrics=metrics,
            per_round=rounds.get(pk, {}),
            per_task=tasks.get(pk, {}),
            counts={name: _count(metrics.get(name)) for name in COUNTS},
        )
        for pk, metrics in headlines.items()
    }


def at_round(runs: Sequence[Run], number: int, *, names: Sequence[str]) -> dict[int, RunNumbers]:
    """The numbers as they stood after a round, computed from the marks up to it."""
    found: dict[int, RunNumbers] = {}
    for pk, records in history.trial_records_of(runs).items():
        cut = [replace(record, rounds=record.rounds[:number]) for record in records]
        settings = cut[0].settings if cut else {}
        run = next(run for run in runs if run.pk == pk)
        scores = protocol(run.protocol).score(cut, settings)
        found[pk] = _numbers(scores, names=names)
    return found


def _numbers(scores: Scores, *, names: Sequence[str]) -> RunNumbers:
    return RunNumbers(
        metrics=scores.metrics,
        per_round={
            at.round: {name: at.metrics[name] for name in names if name in at.metrics}
            for at in scores.per_round
        },
        per_task=scores.per_task,
        counts={name: getattr(scores, name) for name in COUNTS},
    )


def _count(estimate: Estimate | None) -> int | None:
    return None if estimate is None or estimate.value is None else int(estimate.value)
