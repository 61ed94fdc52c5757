"""Runs of one benchmark beside each other: who leads, by how much, and whether that is established."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmark.display import Figure, figure, signed_points
from benchmark.rules.intervals import mean_gap
from benchmark.rules.protocol import MetricSpec, Protocol
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import TableRows, Unit
from runs.charts import DrawnInterval, Series, Value, interval
from runs.pages.figures import Estimates

MOST_COLOURED = 3
MOST_COLUMNS = 8


class FigureKind(StrEnum):
    """Which of a metric's figures is shown."""

    CUMULATIVE = "cumulative"
    STATE = "state"
    JUDGED = "judged"

    @property
    def words(self) -> str:
        return {"cumulative": "Cumulative", "state": "State at the last round", "judged": "Judged only"}[
            self.value
        ]

    def name_of(self, metric: str, recipe: Protocol) -> str:
        """The metric's name for this kind of figure; its own where the protocol declares no such one."""
        if self is FigureKind.CUMULATIVE:
            return metric
        wanted = f"{metric}_{self.value}"
        return wanted if any(spec.name == wanted for spec in recipe.metric_specs) else metric


def kinds_of(recipe: Protocol) -> list[FigureKind]:
    """The kinds of figures that a protocol's leading metric has."""
    lead = recipe.tables[0].metrics[0]
    return [
        kind for kind in FigureKind if kind is FigureKind.CUMULATIVE or kind.name_of(lead, recipe) != lead
    ]


def columns_of(recipe: Protocol, kind: FigureKind) -> list[MetricSpec]:
    """The metrics of the main table after the leading one: its own, and the head of each other table."""
    charted = {name for chart in recipe.charts for name in chart.metrics}
    names = [
        name
        for name in recipe.tables[0].metrics[1:]
        # A variant of a figure that has its own column stands in the tables below.
        if not any(name.startswith(f"{other}_") for other in recipe.tables[0].metrics)
    ]
    for table in recipe.tables[1:]:
        if table.rows is TableRows.TASKS:
            continue
        fresh = [
            name
            for name in table.metrics
            if name not in names and name not in charted and not name.endswith(("_state", "_judged"))
        ]
        names.extend(fresh[:1])
    return [recipe.metric(kind.name_of(name, recipe)) for name in names[:MOST_COLUMNS]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A run against the leader, over the tasks that both have."""

    words: str
    range_words: str = ""
    is_established: bool = True
    is_leader: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One run of the table."""

    run_id: int
    slot: int
    is_selected: bool
    lead: Figure
    lead_value: float | None
    drawn: DrawnInterval
    difference: Difference
    cells: tuple[Figure, ...]


def standings(
    run_ids: Sequence[int],
    *,
    lead: MetricSpec,
    columns: Sequence[MetricSpec],
    headline: Mapping[int, Estimates],
    per_task: Mapping[int, Mapping[str, Estimates]],
    slots: Mapping[int, int],
) -> list[Standing]:
    """Order runs by the leading metric, best first; undefined ones last, in the order given."""
    absent = Estimate(value=None, n=0, reason="no task has finished")

    def lead_of(run_id: int) -> Estimate:
        return headline.get(run_id, {}).get(lead.name, absent)

    defined = [run_id for run_id in run_ids if lead_of(run_id).is_defined]
    ordered = sorted(defined, key=lambda run_id: -(lead_of(run_id).value or 0.0))
    leader = ordered[0] if ordered else None
    rows = []
    for run_id in [*ordered, *(each for each in run_ids if each not in defined)]:
        estimate = lead_of(run_id)
        slot = slots.get(run_id, 0)
        rows.append(
            Standing(
                run_id=run_id,
                slot=slot,
                is_selected=run_id in slots,
                lead=figure(estimate, unit=lead.unit, with_sign=False),
                lead_value=estimate.value,
                drawn=interval(Value(value=estimate.value, half_width=estimate.half_width), slot=slot),
                difference=_difference(run_id, leader, per_task, lead.name),
                cells=tuple(
                    figure(headline.get(run_id, {}).get(spec.name, absent), unit=spec.unit, with_sign=False)
                    for spec in columns
                ),
            )
        )
    return rows


def series_by_round(
    rows: Sequence[Standing],
    names: Mapping[int, str],
    by_round: Mapping[int, Mapping[int, Estimates]],
    metric: str,
) -> list[Series]:
    """Each run's values of one metric by round, for a line chart."""
    return [
        Series(
            name=names[row.run_id],
            slot=row.slot,
            values=tuple(
                _value(estimates.get(metric)) for _, estimates in sorted(by_round.get(row.run_id, {}).items())
            ),
        )
        for row in rows
    ]


def series_of(
    rows: Sequence[Standing], names: Mapping[int, str], headline: Mapping[int, Estimates], metric: str
) -> list[Series]:
    """Each selected run's headline value of one metric, for bars."""
    chosen = [row for row in rows if row.slot] or list(rows[:MOST_COLOURED])
    return [
        Series(
            name=names[row.run_id],
            slot=row.slot,
            values=(_value(headline.get(row.run_id, {}).get(metric)),),
        )
        for row in chosen
    ]


def _value(estimate: Estimate | None) -> Value:
    if estimate is None:
        return Value(value=None)
    return Value(value=estimate.value, half_width=estimate.half_width)


def _difference(
    run_id: int, leader: int | None, per_task: Mapping[int, Mapping[str, Estimates]], metric: str
) -> Difference:
    if run_id == leader:
        return Difference(words="leader", is_leader=True)
    if leader is None:
        return Difference(words="–", reason="no run has a figure yet")
    mine, theirs = per_task.get(run_id, {}), per_task.get(leader, {})
    shared = [
        (own[metric].value, other[metric].value)
        for key, own in mine.items()
        if metric in own and (other := theirs.get(key)) is not None and metric in other
    ]
    gap = mean_gap(
        [own for own, _ in shared], [other for _, other in shared], if_none="no task is in both runs"
    )
    if gap.value is None:
        return Difference(words="–", reason=gap.reason or "")
    if gap.half_width is None:
        return Difference(
            words=signed_points(gap.value), is_established=False, reason="one shared task has no interval"
        )
    low, high = gap.value - gap.half_width, gap.value + gap.half_width
    return Difference(
        words=signed_points(gap.value),
        range_words=f"[{signed_points(low)}, {signed_points(high)}]",
        is_established=not low <= 0 <= high,
    )


def plain_number(shown: Estimate | None, unit: Unit) -> str:
    """A number for a spreadsheet: shares as shares, empty where undefined."""
    if shown is None or shown.value is None:
        return ""
    return f"{shown.value:.0f}" if unit is Unit.COUNT else f"{shown.value:.6f}"
