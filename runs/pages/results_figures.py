"""Figures and further tables of the results page, drawn from what a protocol declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.display import listed
from benchmark.rules.protocol import ChartSpec, MetricSpec, Protocol, TableSpec
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import ChartKind, TableRows
from runs.chart_parts import BarChart, LineChart, Series, Style
from runs.charts import NARROW, WIDE, bar_chart, line_chart
from runs.pages.results import Cell, Entry, FigureKind, Footnotes, cell_of, variant
from runs.reporting.numbers import value_text
from runs.reporting.tables import Column, Table
from runs.reporting.tables import Row as TableRow


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFigure:
    """A chart in two widths with its table and the sentence that says what it shows."""

    name: str
    title: str
    caption: str
    words: str
    lines: tuple[LineChart, ...]
    bars: tuple[BarChart, ...]
    table: Table


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


def figures_of(
    entries: Sequence[Entry], *, recipe: Protocol, kind: FigureKind, styles: Mapping[int, Style], rounds: int
) -> list[DrawnFigure]:
    """Every declared chart; entries are in the order of the ranking."""
    return [
        _line_figure(entries, spec, recipe=recipe, kind=kind, styles=styles, rounds=rounds)
        if spec.kind is ChartKind.LINE_BY_ROUND
        else _bar_figure(entries, spec, recipe=recipe, styles=styles)
        for spec in recipe.charts
    ]


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
        columns = tuple(Column(label=m.label, our_words=m.our_words, unit=m.unit) for m in metrics)
    else:
        leading = variant(recipe, spec.metrics[0], kind)
        of_task = [
            [entry.numbers.per_task.get(key, {}).get(leading.name) for entry in entries] for key in keys
        ]
        columns = tuple(
            Column(label=entry.name, our_words=leading.our_words, unit=leading.unit) for entry in entries
        )
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


def round_metrics(recipe: Protocol) -> list[str]:
    """The metrics that are read round by round: those of charts and of tables by round."""
    names = [name for chart in recipe.charts for name in chart.metrics]
    names += [name for table in recipe.tables for name in table.metrics if table.rows is TableRows.ROUNDS]
    return list(dict.fromkeys(names))


def at_round(entry: Entry, name: str, number: int) -> Estimate | None:
    """The estimate after a round; a run that ended earlier carries its last round forward."""
    reached = [each for each in entry.numbers.per_round if each <= number]
    return entry.numbers.per_round[max(reached)].get(name) if reached else None


def _line_figure(
    entries: Sequence[Entry],
    spec: ChartSpec,
    *,
    recipe: Protocol,
    kind: FigureKind,
    styles: Mapping[int, Style],
    rounds: int,
) -> DrawnFigure:
    metric = variant(recipe, spec.metrics[0], kind)
    series = [
        Series(
            name=entry.name,
            style=styles[entry.run],
            estimates=tuple(at_round(entry, metric.name, number) for number in range(1, rounds + 1)),
        )
        for entry in entries
    ]
    carried = [entry.name for entry in entries if 0 < entry.numbers.last_round < rounds]
    caption = "Bands are 95% intervals over tasks, drawn for the selected runs."
    if carried:
        ended = "ended earlier and carries its" if len(carried) == 1 else "ended earlier and carry their"
        caption += f" {listed(carried)} {ended} last round forward."
    return DrawnFigure(
        name=spec.name,
        title=spec.title if kind is FigureKind.CUMULATIVE else f"{metric.label}, by round",
        caption=caption,
        words=" ".join(_said(each, metric) for each in series),
        lines=(line_chart(series, width=WIDE), line_chart(series, width=NARROW, label_width=116)),
        bars=(),
        table=Table(
            name=spec.name,
            title=f"{metric.label} by round",
            row_label="Code agent",
            columns=tuple(
                Column(label=f"Round {number}", our_words=metric.our_words, unit=metric.unit)
                for number in range(1, rounds + 1)
            ),
            rows=tuple(TableRow(label=each.name, estimates=each.estimates) for each in series),
        ),
    )


def _bar_figure(
    entries: Sequence[Entry], spec: ChartSpec, *, recipe: Protocol, styles: Mapping[int, Style]
) -> DrawnFigure:
    metrics = [recipe.metric(name) for name in spec.metrics]
    titles = [metric.label.rpartition(", ")[2].capitalize() for metric in metrics]
    series = [
        Series(
            name=entry.name,
            style=styles[entry.run],
            estimates=tuple(entry.numbers.metrics.get(metric.name) for metric in metrics),
        )
        for entry in entries
    ]
    drawn = [each for each in series if each.style is not Style.OTHER]
    words = " ".join(
        f"{title}: "
        + ", ".join(f"{each.name} {value_text(each.estimates[place], metrics[place].unit)}" for each in drawn)
        + "."
        for place, title in enumerate(titles)
    )
    return DrawnFigure(
        name=spec.name,
        title=spec.title,
        caption=" ".join(part for part in (spec.note, "Drawn for the selected runs.") if part),
        words=words,
        lines=(),
        bars=tuple(bar_chart(titles, drawn, width=width) for width in (WIDE, NARROW)),
        table=Table(
            name=spec.name,
            title=spec.title,
            row_label="Code agent",
            columns=tuple(
                Column(label=title, our_words=metric.our_words, unit=metric.unit)
                for title, metric in zip(titles, metrics, strict=True)
            ),
            rows=tuple(TableRow(label=each.name, estimates=each.estimates) for each in series),
        ),
    )


def _said(each: Series, metric: MetricSpec) -> str:
    values = [value_text(estimate, metric.unit) for estimate in each.estimates]
    return f"{each.name}: {', '.join(values)}."


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
        columns=tuple(
            Column(label=f"{metric.label}, R{number}", our_words=metric.our_words, unit=metric.unit)
            for metric, number in places
        ),
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
        columns=tuple(Column(label=m.label, our_words=m.our_words, unit=m.unit) for m in metrics),
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
