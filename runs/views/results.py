"""The results page: runs of one benchmark beside each other, with what is needed to read the numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmark.display import counted, figure, settings_in_words, whole
from benchmark.models import Benchmark
from benchmark.protocols import protocol
from benchmark.rules.protocol import ChartSpec, Protocol
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import ChartKind, Mark, TableRows
from runs.charts import bar_chart, line_chart
from runs.models import Run, Verdict
from runs.pages import figures
from runs.pages.standings import (
    MOST_COLOURED,
    FigureKind,
    Standing,
    columns_of,
    kinds_of,
    plain_number,
    series_by_round,
    series_of,
    standings,
)

RUNS_SHOWN = 40
WIDE, NARROW = 412, 340


@require_safe
def results(request: HttpRequest) -> HttpResponse:
    """Show every run of one benchmark; `?csv=NAME` gives one figure as a table."""
    with_runs = list(Benchmark.objects.filter(runs__isnull=False).distinct().order_by("key", "-imported_at"))
    shown = _benchmark(request, with_runs)
    if shown is None:
        return render(request, "runs/results.html", {"area": "results", "benchmark": None})
    page = _Results(request, shown)
    if "csv" in request.GET:
        return page.as_csv(request.GET["csv"])
    return render(request, "runs/results.html", page.context() | {"benchmarks": with_runs})


def _benchmark(request: HttpRequest, with_runs: Sequence[Benchmark]) -> Benchmark | None:
    wanted = request.GET.get("benchmark", "")
    if wanted:
        return get_object_or_404(Benchmark, pk=wanted if wanted.isdecimal() else 0)
    newest = Run.objects.order_by("-pk").values_list("benchmark", flat=True).first()
    return next((each for each in with_runs if each.pk == newest), None)


class _Results:
    """Reads the stored numbers of a benchmark's runs: a fixed number of queries."""

    def __init__(self, request: HttpRequest, shown: Benchmark) -> None:
        self._request = request
        self._benchmark = shown
        self._recipe: Protocol = protocol(shown.protocol)
        self._kind = _kind(request, self._recipe)
        self._runs = {run.pk: run for run in Run.objects.filter(benchmark=shown).order_by("-pk")[:RUNS_SHOWN]}
        self._names = _names(self._runs.values())
        self._lead = self._recipe.metric(self._kind.name_of(self._recipe.tables[0].metrics[0], self._recipe))
        self._columns = columns_of(self._recipe, self._kind)
        self._headline = figures.headline(self._runs)
        self._per_task = figures.by_task(self._runs, [self._lead.name])
        self._slots = self._chosen()
        self._rows = standings(
            list(self._runs),
            lead=self._lead,
            columns=self._columns,
            headline=self._headline,
            per_task=self._per_task,
            slots=self._slots,
        )
        line_metrics = {self._metric(name) for chart in self._recipe.charts for name in chart.metrics}
        table_metrics = {
            name for table in self._recipe.tables if table.rows is TableRows.ROUNDS for name in table.metrics
        }
        self._by_round = figures.by_round(self._runs, line_metrics | table_metrics)

    def context(self) -> dict[str, Any]:
        marks = self._marks()
        return {
            "area": "results",
            "benchmark": self._benchmark,
            "protocol": self._recipe,
            "hash": self._benchmark.content_hash[:8],
            "lead": self._lead,
            "columns": self._columns,
            "kinds": [
                {"kind": kind, "query": self._query(figure=kind.value), "is_current": kind is self._kind}
                for kind in kinds_of(self._recipe)
            ],
            "rows": [self._row(row, marks) for row in self._rows],
            "count": counted(len(self._runs), "run"),
            "charts": [self._chart(chart) for chart in self._recipe.charts],
            "tables": self._round_tables(),
            "notes": self._notes(marks),
            "kept": self._kept(),
        }

    def as_csv(self, name: str) -> HttpResponse:
        """One figure as comma-separated values; text that a spreadsheet would run is defused."""
        if name == "table":
            rows = self._table_csv()
        else:
            chart = next((chart for chart in self._recipe.charts if chart.name == name), None)
            if chart is None:
                raise Http404(f"There is no figure {name!r}.")
            rows = self._chart_csv(chart)
        stream = io.StringIO()
        csv.writer(stream).writerows([[_defused(cell) for cell in row] for row in rows])
        # The mark at the head makes Excel read UTF-8.
        response = HttpResponse("﻿" + stream.getvalue(), content_type="text/csv; charset=utf-8")
        file_name = f"{self._benchmark.key}-{name}.csv"
        response["Content-Disposition"] = f'attachment; filename="{file_name}"'
        return response

    def _metric(self, name: str) -> str:
        return self._kind.name_of(name, self._recipe)

    def _chosen(self) -> dict[int, int]:
        """Run → colour slot: those ticked in the address, else the best three."""
        wanted = [int(text) for text in self._request.GET.getlist("run") if text.isdecimal()]
        chosen = [run_id for run_id in dict.fromkeys(wanted) if run_id in self._runs]
        if not chosen:
            values = {
                run_id: estimate.value
                for run_id in self._runs
                if (estimate := self._headline.get(run_id, {}).get(self._lead.name))
                and estimate.value is not None
            }
            chosen = sorted(values, key=lambda run_id: -(values[run_id] or 0))
        return {run_id: slot for slot, run_id in enumerate(chosen[:MOST_COLOURED], start=1)}

    def _row(self, row: Standing, marks: Mapping[int, Mapping[str, int]]) -> dict[str, Any]:
        run = self._runs[row.run_id]
        return {
            "row": row,
            "run": run,
            "name": self._names[run.pk],
            "errors": marks.get(run.pk, {}).get(Mark.ERROR, 0),
            "settings": ", ".join(settings_in_words(run.settings)),
            "cells": list(zip(self._columns, row.cells, strict=True)),
        }

    def _marks(self) -> dict[int, dict[str, int]]:
        """Run → mark → how many outcomes carry it in primary judgings: one grouped query."""
        found: dict[int, dict[str, int]] = {}
        counts = (
            Verdict.objects.filter(judging__round__trial__run__in=list(self._runs), judging__is_primary=True)
            .filter(mark__in=[Mark.ERROR, Mark.SKIPPED])
            .order_by()
            .values_list("judging__round__trial__run", "mark")
            .annotate(Count("pk"))
        )
        for run_id, mark, count in counts:
            found.setdefault(run_id, {})[mark] = count
        return found

    def _chart(self, chart: ChartSpec) -> dict[str, Any]:
        drawn: dict[str, Any] = {"spec": chart, "csv": self._query(csv=chart.name), "is_lines": False}
        if chart.kind is ChartKind.LINE_BY_ROUND:
            metric = self._metric(chart.metrics[0])
            series = series_by_round(self._rows, self._names, self._by_round, metric)
            return drawn | {
                "is_lines": True,
                "title": self._recipe.metric(metric).label + " by round",
                "wide": line_chart(series, width=WIDE),
                "narrow": line_chart(series, width=NARROW),
                "says": _says_of_lines(series),
                "table": self._chart_table(chart),
            }
        kinds = [
            (
                _short_label(self._recipe.metric(name).label),
                series_of(self._rows, self._names, self._headline, name),
            )
            for name in chart.metrics
        ]
        return drawn | {
            "title": chart.title,
            "wide": bar_chart(kinds, width=WIDE),
            "narrow": bar_chart(kinds, width=NARROW),
            "says": "; ".join(
                f"{title}: " + ", ".join(_said(each) for each in group) for title, group in kinds
            ),
            "table": self._chart_table(chart),
        }

    def _chart_table(self, chart: ChartSpec) -> dict[str, Any]:
        rows = self._chart_csv(chart)
        return {"head": rows[0], "rows": rows[1:]}

    def _chart_csv(self, chart: ChartSpec) -> list[list[str]]:
        if chart.kind is ChartKind.LINE_BY_ROUND:
            metric = self._metric(chart.metrics[0])
            rows = [["run", "agent", "round", "value", "half_width", "n"]]
            for row in self._rows:
                for number, estimates in sorted(self._by_round.get(row.run_id, {}).items()):
                    rows.append([*self._who(row.run_id), str(number), *_cells(estimates.get(metric))])
            return rows
        rows = [["run", "agent", "kind", "value", "half_width", "n"]]
        for row in self._rows:
            for name in chart.metrics:
                label = _short_label(self._recipe.metric(name).label)
                estimate = self._headline.get(row.run_id, {}).get(name)
                rows.append([*self._who(row.run_id), label, *_cells(estimate)])
        return rows

    def _table_csv(self) -> list[list[str]]:
        specs = [self._lead, *self._columns]
        rows = [["run", "agent", "metric", "value", "half_width", "n"]]
        for row in self._rows:
            for spec in specs:
                estimate = self._headline.get(row.run_id, {}).get(spec.name)
                cells = _cells(estimate)
                cells[0] = plain_number(estimate, spec.unit)
                rows.append([*self._who(row.run_id), spec.name, *cells])
        return rows

    def _who(self, run_id: int) -> list[str]:
        return [str(run_id), self._names[run_id]]

    def _round_tables(self) -> list[dict[str, Any]]:
        """Every table by rounds that the protocol declares, for the runs that are selected."""
        chosen = [row for row in self._rows if row.slot] or self._rows[:MOST_COLOURED]
        tables = []
        for table in self._recipe.tables:
            if table.rows is not TableRows.ROUNDS:
                continue
            specs = [self._recipe.metric(name) for name in table.metrics]
            rows = []
            for row in chosen:
                for number, estimates in sorted(self._by_round.get(row.run_id, {}).items()):
                    missing = Estimate(value=None, n=0, reason="not stored for this round")
                    cells = [
                        figure(estimates.get(spec.name, missing), unit=spec.unit, with_sign=False)
                        for spec in specs
                    ]
                    rows.append({"name": self._names[row.run_id], "round": number, "cells": cells})
            tables.append({"table": table, "specs": specs, "rows": rows})
        return tables

    def _notes(self, marks: Mapping[int, Mapping[str, int]]) -> dict[str, Any]:
        settings = {tuple(settings_in_words(run.settings)) for run in self._runs.values()}
        hashes = {run.benchmark_hash for run in self._runs.values()}
        judges = sorted({run.judge for run in self._runs.values()})
        first = next(iter(self._runs.values()), None)
        return {
            "decisions": self._recipe.decisions(first.settings) if first else (),
            "settings": settings.pop() if len(settings) == 1 else (),
            "settings_differ": len(settings) > 1,
            "hash_differs": len(hashes) > 1,
            "judges": ", ".join(judges),
            "errors": whole(sum(each.get(Mark.ERROR, 0) for each in marks.values())),
            "skipped": whole(sum(each.get(Mark.SKIPPED, 0) for each in marks.values())),
            "unfinished": sum(run.is_unfinished for run in self._runs.values()),
        }

    def _kept(self) -> dict[str, Any]:
        return {"benchmark": self._benchmark.pk, "figure": self._kind.value}

    def _query(self, **changed: str) -> str:
        parts: dict[str, Any] = {"benchmark": self._benchmark.pk, "figure": self._kind.value}
        if runs := self._request.GET.getlist("run"):
            parts["run"] = runs
        return "?" + urlencode(parts | changed, doseq=True)


def _kind(request: HttpRequest, recipe: Protocol) -> FigureKind:
    wanted = request.GET.get("figure", FigureKind.CUMULATIVE)
    return next((kind for kind in kinds_of(recipe) if kind.value == wanted), FigureKind.CUMULATIVE)


def _names(runs: Any) -> dict[int, str]:
    """What each run is called: its agent, and its number where an agent ran more than once."""
    runs = list(runs)
    labels = [run.name or run.agent_label for run in runs]
    return {
        run.pk: label if labels.count(label) == 1 else f"{label} #{run.pk}"
        for run, label in zip(runs, labels, strict=True)
    }


def _short_label(label: str) -> str:
    return label.rpartition(", ")[2].capitalize()


def _cells(estimate: Estimate | None) -> list[str]:
    if estimate is None or estimate.value is None:
        return ["", "", str(estimate.n) if estimate else "0"]
    width = "" if estimate.half_width is None else f"{estimate.half_width:.6f}"
    return [f"{estimate.value:.6f}", width, str(estimate.n)]


def _defused(cell: str) -> str:
    is_number = cell.lstrip("-").replace(".", "", 1).isdecimal()
    return f"'{cell}" if cell[:1] in "=+-@\t\r" and cell and not is_number else cell


def _said(series: Any) -> str:
    value = series.values[0].value if series.values else None
    return f"{series.name} {'undefined' if value is None else f'{value * 100:.0f}'}"


def _says_of_lines(series: Sequence[Any]) -> str:
    """The finding of a line chart in a sentence, for those who do not see it."""
    parts = []
    for each in series:
        known = [value.value for value in each.values if value.value is not None]
        if known:
            parts.append(f"{each.name} goes from {known[0] * 100:.0f} in round 1 to {known[-1] * 100:.0f}")
    return "; ".join(parts) or "no value yet"
