"""Results as files: tables of runs as CSV, LaTeX, JSON and HTML, and single tables of a page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from django.http import Http404, HttpResponse

from runs.models import Run
from runs.reporting import as_csv, as_html, as_latex
from runs.reporting.reading import report_tables, scored
from runs.reporting.tables import Table

FORMATS = {"csv": "CSV", "latex": "LaTeX", "json": "JSON", "html": "HTML"}
_TYPES = {"csv": "text/csv", "latex": "application/x-tex", "json": "application/json", "html": "text/html"}
_SUFFIXES = {"csv": "csv", "latex": "tex", "json": "json", "html": "html"}
_COLUMNS = ("table", "row", "column", "value", "half_width", "n", "reason")


def download(runs: Sequence[Run], wanted: str) -> HttpResponse:
    """The same text that `proofroom report` writes; LaTeX as a fragment to be included."""
    if wanted not in FORMATS:
        raise Http404
    reports = [scored(run) for run in sorted(runs, key=lambda run: run.pk)]
    name = "results-" + "-".join(str(report.run) for report in reports[:6])
    if wanted == "csv":
        return _file(as_csv.csv_text(reports), wanted, name)
    if wanted == "json":
        documents = {str(report.run): report.scores.as_json() for report in reports}
        return _file(
            json.dumps({"runs": documents}, ensure_ascii=False, indent=2, allow_nan=False), wanted, name
        )
    tables = report_tables(reports)
    if wanted == "html":
        return _file(as_html.page(reports, tables), wanted, name)
    return _file("\n\n".join(as_latex.fragment(table) for table in tables) + "\n", wanted, name)


def one_table(tables: Sequence[Table], name: str, wanted: str) -> HttpResponse:
    """One table of the page, as CSV or as a LaTeX fragment."""
    table = next((table for table in tables if table.name == name), None)
    if table is None or wanted not in ("csv", "latex"):
        raise Http404
    if wanted == "latex":
        return _file(as_latex.fragment(table) + "\n", wanted, name)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in table.rows:
        for column, estimate in zip(table.columns, row.estimates, strict=True):
            if estimate is None:
                continue
            writer.writerow(
                [
                    table.name,
                    as_csv.neutral(row.label),
                    as_csv.neutral(column.label),
                    "" if estimate.value is None else repr(estimate.value),
                    "" if estimate.half_width is None else repr(estimate.half_width),
                    estimate.n,
                    as_csv.neutral(estimate.reason or ""),
                ]
            )
    return _file(out.getvalue(), wanted, name)


def _file(text: str, wanted: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{_TYPES[wanted]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.{_SUFFIXES[wanted]}"'
    return response
