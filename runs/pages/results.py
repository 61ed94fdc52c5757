"""The results of several runs laid beside each other: rows, differences to the leader, and what to note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from benchmark.display import UNDEFINED, counted, listed, signed_points
from benchmark.rules.intervals import mean_gap
from benchmark.rules.protocol import MetricSpec, Protocol
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import TableRows, Unit
from runs.chart_parts import COLOURED, Interval, Style
from runs.charts import interval_of
from runs.pages.numbers import RunNumbers
from runs.reporting.numbers import half_width_text, value_text

INTERVAL_WIDTH = 252
INTERVAL_NARROW = 318
NO_COMMON_TASK = "No task has a number in both runs."


class FigureKind(StrEnum):
    """Which of the figures that stand beside each other under one name is shown."""

    CUMULATIVE = "cumulative"
    STATE = "state"
    JUDGED = "judged"

    @property
    def suffix(self) -> str:
        """What the names of its metrics end in."""
        return "" if self is FigureKind.CUMULATIVE else f"_{self.value}"

    @property
    def words(self) -> str:
        """What the switch calls it."""
        return {"cumulative": "Cumulative", "state": "This round alone", "judged": "Judged only"}[self.value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One run of the page: what it is called and its numbers."""

    run: int
    name: str
    agent: str
    under: str
    href: str
    state_words: str
    is_over: bool
    tasks: tuple[str, ...]
    trials: Mapping[str, int]
    numbers: RunNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A number in a table; `note` is the letter of the footnote that says why there is none."""

    label: str
    value: str
    plus_minus: str = ""
    note: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A run against the leader over the tasks that both have."""

    value: str
    interval: str
    over: str
    is_established: bool
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run in the leading table."""

    entry: Entry
    style: Style
    is_picked: bool
    interval: Interval
    narrow: Interval
    mean: Cell
    n: str
    errors: int | None
    difference: Difference | None
    cells: tuple[Cell, ...]


@dataclass(slots=True)
class Footnotes:
    """Reasons for missing numbers, lettered in the order in which they are met."""

    by_reason: dict[str, str] = field(default_factory=dict)

    def letter(self, reason: str) -> str:
        """The letter of a reason; the same reason keeps its letter."""
        return self.by_reason.setdefault(reason, _letters(len(self.by_reason)))

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Letter and reason."""
        return [(letter, reason) for reason, letter in self.by_reason.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The leading table."""

    leading: MetricSpec
    columns: tuple[MetricSpec, ...]
    rows: tuple[Row, ...]
    footnotes: Footnotes
    finding: str


def figure_kinds(recipe: Protocol) -> tuple[FigureKind, ...]:
    """The figures that a protocol declares for its leading metric."""
    first = recipe.tables[0].metrics[0]
    declared = {spec.name for spec in recipe.metric_specs}
    return tuple(kind for kind in FigureKind if first + kind.suffix in declared)


def variant(recipe: Protocol, name: str, kind: FigureKind) -> MetricSpec:
    """The metric under that figure, or as it is where there is no such figure of it."""
    declared = {spec.name for spec in recipe.metric_specs}
    return recipe.metric(name + kind.suffix if name + kind.suffix in declared else name)


def board_columns(recipe: Protocol, kind: FigureKind) -> tuple[MetricSpec, ...]:
    """The leading metric, the others of the first table, and the first new one of each table of whole runs."""
    names = [variant(recipe, name, kind).name for name in recipe.tables[0].metrics]
    for table in recipe.tables:
        if table.rows is TableRows.RUN:
            names += [name for name in table.metrics if name not in (*recipe.tables[0].metrics, *names)][:1]
    return tuple(recipe.metric(name) for name in names)


def board_of(entries: Sequence[Entry], *, recipe: Protocol, kind: FigureKind, picked: Sequence[int]) -> Board:
    """Rank the runs by the leading metric and set every one beside the leader."""
    leading, *others = board_columns(recipe, kind)
    ranked = sorted(entries, key=lambda entry: _rank(entry.numbers.metrics.get(leading.name)))
    styles = styles_of([entry.run for entry in ranked], picked=picked)
    footnotes = Footnotes()
    leader = ranked[0] if ranked and _value(ranked[0], leading.name) is not None else None
    rows = tuple(
        _row(
            entry, leader=leader, leading=leading, others=others, style=styles[entry.run], footnotes=footnotes
        )
        for entry in ranked
    )
    return Board(
        leading=leading,
        columns=tuple(others),
        rows=rows,
        footnotes=footnotes,
        finding=_finding(rows, leading),
    )


def styles_of(ranked: Sequence[int], *, picked: Sequence[int]) -> dict[int, Style]:
    """A colour for at most three runs, in the order of the ranking; the others are grey."""
    wanted = [run for run in ranked if run in picked][: len(COLOURED)] or list(ranked[: len(COLOURED)])
    coloured = dict(zip(wanted, COLOURED, strict=False))
    return {run: coloured.get(run, Style.OTHER) for run in ranked}


def difference_of(entry: Entry, leader: Entry, *, metric: str) -> Difference:
    """The paired difference to the leader: the half-width is that of the differences task by task."""
    both = [key for key in leader.numbers.per_task if key in entry.numbers.per_task]
    own = [of_task(entry, key, metric) for key in both]
    leaders = [of_task(leader, key, metric) for key in both]
    gap = mean_gap(own, leaders, if_none=NO_COMMON_TASK)
    over = counted(gap.n, "task")
    if gap.value is None:
        return Difference(value=UNDEFINED, interval="", over=over, is_established=False, words=NO_COMMON_TASK)
    value = signed_points(gap.value)
    if gap.half_width is None:
        return Difference(
            value=value,
            interval="",
            over=over,
            is_established=False,
            words="one common task gives no interval",
        )
    low, high = gap.value - gap.half_width, gap.value + gap.half_width
    return Difference(
        value=value,
        interval=f"[{signed_points(low)}, {signed_points(high)}]",
        over=over,
        is_established=not low <= 0 <= high,
        words="",
    )


def names_of(labels: Mapping[int, str]) -> dict[int, str]:
    """What charts call each run: the agent's label, with the run's number where two share it."""
    shared = Counter(labels.values())
    return {run: label if shared[label] == 1 else f"{label} ({run})" for run, label in labels.items()}


def _row(
    entry: Entry,
    *,
    leader: Entry | None,
    leading: MetricSpec,
    others: Sequence[MetricSpec],
    style: Style,
    footnotes: Footnotes,
) -> Row:
    estimate = entry.numbers.metrics.get(leading.name)
    return Row(
        entry=entry,
        style=style,
        is_picked=style is not Style.OTHER,
        interval=interval_of(estimate, style=style, width=INTERVAL_WIDTH),
        narrow=interval_of(estimate, style=style, width=INTERVAL_NARROW, height=24),
        mean=cell_of(estimate, leading, footnotes=footnotes),
        n=str(estimate.n if estimate is not None else 0),
        errors=entry.numbers.counts.get("errors"),
        difference=None
        if leader is None or entry is leader or estimate is None or estimate.value is None
        else difference_of(entry, leader, metric=leading.name),
        cells=tuple(
            cell_of(entry.numbers.metrics.get(spec.name), spec, footnotes=footnotes) for spec in others
        ),
    )


def cell_of(estimate: Estimate | None, spec: MetricSpec, *, footnotes: Footnotes, href: str = "") -> Cell:
    """A number with its half-width, or a dash with the letter of its reason."""
    if estimate is None or estimate.value is None:
        reason = (estimate.reason if estimate is not None else None) or "Not computed for this run."
        return Cell(label=spec.label, value=UNDEFINED, note=footnotes.letter(reason), href=href)
    width = half_width_text(estimate, spec.unit)
    return Cell(
        label=spec.label,
        value=value_text(estimate, spec.unit),
        plus_minus=f"±{width}" if width else "",
        href=href,
    )


def _finding(rows: Sequence[Row], leading: MetricSpec) -> str:
    """What the table shows, in two sentences."""
    defined = [row for row in rows if row.mean.value != UNDEFINED]
    if not defined:
        return f"{leading.label} is not defined for any of these runs."
    first = defined[0]
    unit = " per cent" if leading.unit is Unit.SHARE else ""
    verb = "leads with" if len(rows) > 1 else "reaches"
    sentence = f"{first.entry.name} {verb} {first.mean.value}{unit} over {counted(int(first.n), 'task')}."
    followers = [row for row in defined[1:] if row.difference is not None]
    if not followers:
        return sentence
    close = [row.entry.name for row in followers if row.difference and not row.difference.is_established]
    if not close:
        return f"{sentence} Every difference to it is established."
    if len(close) == len(followers):
        return f"{sentence} No difference to it is established."
    return f"{sentence} The difference to {listed(close, most=3)} is not established."


def _rank(estimate: Estimate | None) -> tuple[bool, float]:
    if estimate is None or estimate.value is None:
        return True, 0.0
    return False, -estimate.value


def _value(entry: Entry, metric: str) -> float | None:
    estimate = entry.numbers.metrics.get(metric)
    return None if estimate is None else estimate.value


def of_task(entry: Entry, key: str, metric: str) -> float | None:
    estimate = entry.numbers.per_task.get(key, {}).get(metric)
    return None if estimate is None else estimate.value


def _letters(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else f"a{place - 25}"
