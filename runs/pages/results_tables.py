"""Further tables of the results page: declared ones that no figure shows, and one of single tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.rules.protocol import MetricSpec, Protocol, TableSpec
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import TableRows
from runs.pages.results import Cell, Entry, FigureKind, Footnotes, cell_of, variant
from runs.reporting.tables import Column, Table
from runs.reporting.tables import Row as TableRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTable:
    """A table as cells, ready to be set in HTML."""

    name: str
    title: str
    note: str
    row_label: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    footnotes: tuple[tuple[str, str], ...]


def at_round(entry: Entry, name: str, number: int) -> Estimate | None:
    """The estimate after a round; a run that ended earlier carries its last round forward."""
    reached = [each for each in entry.numbers.per_round if each <= number]
    return entry.numbers.per_round[max(reached)].get(name) if reached else None


def further_tables(entries: Sequence[Entry], *, recipe: Protocol, rounds: int) -> list[Table]:
    """Declared tables that neither the leading table nor a figure shows: one row a run."""
    leading = recipe.tables[0].metrics
    declared = {spec.name for spec in recipe.metric_specs}
    shown = {leading, *(chart.metrics for chart in recipe.charts)}
    shown |= {
        tuple(name + kind.suffix for name in leading if name + kind.suffix in declared) for kind in FigureKind
    }
    tables = []
    for spec in recipe.tables:
        if spec.metrics in shown or spec.rows is TableRows.TASKS:
            continue
        own = [name for name in spec.metrics if name not in leading]
        if not any(_is_defined(entry, name) for entry in entries for name in own):
            continue
        if spec.rows is TableRows.ROUNDS:
            tables.append(_by_round(entries, spec, recipe=recipe, rounds=rounds))
        else:
            tables.append(_whole_runs(entries, spec, recipe=recipe))
    return tables


def set_table(table: Table, *, hrefs: Mapping[tuple[str, int], str] | None = None) -> SetTable:
    """The table's numbers as text; `hrefs` are addresses by row label and column number."""
    footnotes = Footnotes()
    rows = tuple(
        (
            row.label,
            tuple(
                cell_of(
                    estimate,
                    MetricSpec(
                        name=column.label,
                        label=column.label,
                        our_words=column.our_words,
                        definition="",
                        unit=column.unit,
                    ),
                    footnotes=footnotes,
                    href=(hrefs or {}).get((row.label, place), ""),
                )
                for place, (estimate, column) in enumerate(zip(row.estimates, table.columns, strict=True))
            ),
        )
        for row in table.rows
    )
    return SetTable(
        name=table.name,
        title=table.title,
        note=table.note,
        row_label=table.row_label,
        columns=table.columns,
        rows=rows,
        footnotes=tuple(footnotes.lines),
    )


def tasks_table(
    entries: Sequence[Entry], keys: Sequence[str], *, recipe: Protocol, kind: FigureKind
) -> Table | None:
    """A row a task: every declared metric of one run, or the leading metric of several; None if undeclared."""
    spec = next((table for table in recipe.tables if table.rows is TableRows.TASKS), None)
    if spec is None:
        return None
    if len(entries) == 1:
        metrics = [variant(recipe, name, kind) for name in spec.metrics]
        of_task = [[entries[0].numbers.per_task.get(key, {}).get(m.name) for m in metrics] for key in keys]
        columns = tuple(Column.of(m) for m in metrics)
    else:
        leading = variant(recipe, spec.metrics[0], kind)
        of_task = [
            [entry.numbers.per_task.get(key, {}).get(leading.name) for entry in entries] for key in keys
        ]
        columns = tuple(Column.of(leading, label=entry.name) for entry in entries)
    title = (
        "Each task" if len(entries) == 1 else f"{variant(recipe, spec.metrics[0], kind).label} of each task"
    )
    return Table(
        name=spec.name,
        title=title,
        row_label="Task",
        columns=columns,
        rows=tuple(
            TableRow(label=key, estimates=tuple(_absent(estimate) for estimate in estimates))
            for key, estimates in zip(keys, of_task, strict=True)
        ),
    )


def task_metrics(recipe: Protocol, kind: FigureKind, *, runs: int) -> list[str]:
    """The metrics that are read task by task: the leading one, and for a single run all declared ones."""
    names = [recipe.tables[0].metrics[0]]
    if runs == 1:
        names += [name for table in recipe.tables if table.rows is TableRows.TASKS for name in table.metrics]
    return list(dict.fromkeys(variant(recipe, name, kind).name for name in names))


def _by_round(entries: Sequence[Entry], spec: TableSpec, *, recipe: Protocol, rounds: int) -> Table:
    """Rounds side by side; a round in which nothing is defined for any run has no column."""
    places = [
        (recipe.metric(name), number)
        for name in spec.metrics
        for number in range(1, rounds + 1)
        if any((e := at_round(entry, name, number)) is not None and e.value is not None for entry in entries)
    ]
    return Table(
        name=spec.name,
        title=spec.title,
        row_label="Code agent",
        columns=tuple(Column.of(metric, label=f"{metric.label}, R{number}") for metric, number in places),
        rows=tuple(
            TableRow(
                label=entry.name,
                estimates=tuple(at_round(entry, metric.name, number) for metric, number in places),
            )
            for entry in entries
        ),
        note=spec.note,
    )


def _whole_runs(entries: Sequence[Entry], spec: TableSpec, *, recipe: Protocol) -> Table:
    metrics = [recipe.metric(name) for name in spec.metrics]
    return Table(
        name=spec.name,
        title=spec.title,
        row_label="Code agent",
        columns=tuple(Column.of(m) for m in metrics),
        rows=tuple(
            TableRow(label=entry.name, estimates=tuple(entry.numbers.metrics.get(m.name) for m in metrics))
            for entry in entries
        ),
        note=spec.note,
    )


def _is_defined(entry: Entry, name: str) -> bool:
    estimate = entry.numbers.metrics.get(name)
    return estimate is not None and estimate.value is not None


def _absent(estimate: Estimate | None) -> Estimate:
    return estimate or Estimate(
        value=None, n=0, reason="Not defined for this task, or the task has not finished."
    )
