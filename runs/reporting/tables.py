"""Tables of numbers, drawn from what a protocol declares; nothing here knows a protocol by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from benchmark.rules.protocol import MetricSpec, Protocol, TableSpec
from benchmark.rules.records import Estimate, Scores
from benchmark.rules.vocabulary import TableRows, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One run's numbers with what tables say of it."""

    run: int
    agent: str
    protocol: Protocol
    scores: Scores
    facts: tuple[str, ...]
    decisions: tuple[str, ...]
    caution: str = ""
    """What every table of this run says in its note, empty where there is nothing to beware of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: the paper's word, ours, and whether it is a share or a count."""

    label: str
    our_words: str
    unit: Unit

    @classmethod
    def of(cls, spec: MetricSpec, *, label: str = "") -> Self:
        """The column of a metric, under the metric's own label or another one."""
        return cls(label=label or spec.label, our_words=spec.our_words, unit=spec.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row: its label and one estimate a column, None where the run has no such number."""

    label: str
    estimates: tuple[Estimate | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table ready to be set in any format."""

    name: str
    title: str
    row_label: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""


def tables_of(scored: Scored) -> tuple[Table, ...]:
    """Every declared table of one run."""
    return tuple(_table(scored, spec) for spec in scored.protocol.tables)


def _noted(note: str, runs: Sequence[Scored]) -> str:
    cautions = dict.fromkeys(run.caution for run in runs if run.caution)
    return " ".join(part for part in (note, *cautions) if part)


def comparison(runs: Sequence[Scored]) -> Table:
    """One row a run: the headline metric after each round, then the other headline metrics.

    The runs share a protocol; a run with fewer rounds repeats its last one, as the protocol does.
    """
    protocol = runs[0].protocol
    headline = protocol.tables[0]
    first, *others = [protocol.metric(name) for name in headline.metrics]
    rounds = max((at.round for run in runs for at in run.scores.per_round), default=1)
    columns = [Column.of(first, label=f"{first.label}, R{number}") for number in range(1, rounds + 1)] + [
        Column.of(spec) for spec in others
    ]
    rows = [
        Row(
            label=f"{run.agent} (run {run.run})",
            estimates=(
                *(_at_round(run.scores, number, first.name) for number in range(1, rounds + 1)),
                *(run.scores.metrics.get(spec.name) for spec in others),
            ),
        )
        for run in runs
    ]
    return Table(
        name="comparison",
        title=f"{protocol.title}: runs beside each other",
        row_label="Code agent",
        columns=tuple(columns),
        rows=tuple(rows),
        note=_noted(headline.note, runs),
    )


def _table(scored: Scored, spec: TableSpec) -> Table:
    metrics = [scored.protocol.metric(name) for name in spec.metrics]
    row_label, rows = _rows(scored, spec, metrics)
    return Table(
        name=spec.name,
        title=spec.title,
        row_label=row_label,
        columns=tuple(Column.of(metric) for metric in metrics),
        rows=rows,
        note=_noted(spec.note, [scored]),
    )


def _rows(scored: Scored, spec: TableSpec, metrics: Sequence[MetricSpec]) -> tuple[str, tuple[Row, ...]]:
    scores = scored.scores
    if spec.rows is TableRows.ROUNDS:
        by_round = [(f"R{at.round}", at.metrics) for at in scores.per_round]
        return "Round", _picked(by_round, metrics)
    if spec.rows is TableRows.TASKS:
        return "Task", _picked(list(scores.per_task.items()), metrics)
    return "Code agent", _picked([(scored.agent, scores.metrics)], metrics)


def _picked(
    labelled: Sequence[tuple[str, Mapping[str, Estimate]]], metrics: Sequence[MetricSpec]
) -> tuple[Row, ...]:
    return tuple(
        Row(label=label, estimates=tuple(given.get(metric.name) for metric in metrics))
        for label, given in labelled
    )


def _at_round(scores: Scores, number: int, name: str) -> Estimate | None:
    reached = [at for at in scores.per_round if at.round <= number]
    return reached[-1].metrics.get(name) if reached else None
