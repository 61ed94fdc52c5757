"""Figures and further tables of the results page, drawn from what a protocol declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.display import listed
from benchmark.rules.protocol import ChartSpec, MetricSpec, Protocol
from benchmark.rules.vocabulary import ChartKind
from runs.chart_parts import BarChart, LineChart, Series, Style
from runs.charts import NARROW, WIDE, bar_chart, line_chart
from runs.pages.results import Entry, FigureKind, variant
from runs.pages.results_tables import at_round
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
            columns=tuple(Column.of(metric, label=f"Round {number}") for number in range(1, rounds + 1)),
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
                Column.of(metric, label=title) for title, metric in zip(titles, metrics, strict=True)
            ),
            rows=tuple(TableRow(label=each.name, estimates=each.estimates) for each in series),
        ),
    )


def _said(each: Series, metric: MetricSpec) -> str:
    values = [value_text(estimate, metric.unit) for estimate in each.estimates]
    return f"{each.name}: {', '.join(values)}."
