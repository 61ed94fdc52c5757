"""Stored numbers of runs, read back as estimates and printed as figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmark.display import Figure, figure
from benchmark.rules.protocol import MetricSpec, Protocol
from benchmark.rules.records import Estimate
from runs.models import MetricValue

type Estimates = Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """One figure with its definition and the line below it."""

    name: str
    label: str
    our_words: str
    definition: str
    figure: Figure
    note: str


def headline(run_ids: Iterable[int]) -> dict[int, dict[str, Estimate]]:
    """Run → metric name → the headline estimate, in one query."""
    found: dict[int, dict[str, Estimate]] = defaultdict(dict)
    for value in MetricValue.objects.filter(run__in=list(run_ids), task_key="", round_number=0):
        found[value.run_id][value.name] = estimate_of(value)
    return dict(found)


def by_round(run_ids: Iterable[int], names: Iterable[str]) -> dict[int, dict[int, dict[str, Estimate]]]:
    """Run → round → metric name → estimate, in one query."""
    found: dict[int, dict[int, dict[str, Estimate]]] = defaultdict(lambda: defaultdict(dict))
    values = MetricValue.objects.filter(
        run__in=list(run_ids), task_key="", round_number__gt=0, name__in=list(names)
    ).order_by("round_number")
    for value in values:
        found[value.run_id][value.round_number][value.name] = estimate_of(value)
    return {run_id: dict(rounds) for run_id, rounds in found.items()}


def by_task(run_ids: Iterable[int], names: Iterable[str]) -> dict[int, dict[str, dict[str, Estimate]]]:
    """Run → task key → metric name → estimate at the last round, in one query."""
    found: dict[int, dict[str, dict[str, Estimate]]] = defaultdict(lambda: defaultdict(dict))
    values = MetricValue.objects.filter(run__in=list(run_ids), name__in=list(names), round_number=0).exclude(
        task_key=""
    )
    for value in values:
        found[value.run_id][value.task_key][value.name] = estimate_of(value)
    return {run_id: dict(tasks) for run_id, tasks in found.items()}


def estimate_of(value: MetricValue) -> Estimate:
    """A stored number as the record it was."""
    return Estimate(
        value=value.value,
        half_width=value.half_width,
        n=value.n,
        reason=(value.reason or "not known") if value.value is None else None,
        denominator=value.denominator,
    )


def stat(spec: MetricSpec, estimates: Estimates, *, note: str, absent: str) -> Stat:
    """One metric as a figure; `absent` is the reason where nothing is stored yet."""
    estimate = estimates.get(spec.name) or Estimate(value=None, n=0, reason=absent)
    shown = figure(estimate, unit=spec.unit)
    return Stat(
        name=spec.name,
        label=spec.label,
        our_words=spec.our_words,
        definition=spec.definition,
        figure=shown,
        note=shown.reason or note,
    )


def leading_metrics(recipe: Protocol, *, most: int) -> Sequence[MetricSpec]:
    """The metrics that a protocol puts first: those of its first table."""
    return [recipe.metric(name) for name in recipe.tables[0].metrics[:most]]
