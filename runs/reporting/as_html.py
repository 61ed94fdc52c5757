"""A report as one HTML file that opens from disk, without scripts or outside files."""

from __future__ import annotations

from collections.abc import Sequence

from django.template.loader import render_to_string

from runs.reporting.numbers import half_width_text, value_text
from runs.reporting.tables import Scored, Table


def page(runs: Sequence[Scored], tables: Sequence[Table]) -> str:
    """The whole page; every text is escaped by the template."""
    return render_to_string(
        "runs/report_file.html",
        {"runs": runs, "tables": [_prepared(table) for table in tables]},
    )


def _prepared(table: Table) -> dict[str, object]:
    return {
        "title": table.title,
        "note": table.note,
        "row_label": table.row_label,
        "columns": table.columns,
        "rows": [
            {
                "label": row.label,
                "cells": [
                    {
                        "value": value_text(estimate, column.unit),
                        "half_width": half_width_text(estimate, column.unit),
                        "n": estimate.n if estimate is not None else None,
                        "reason": (estimate.reason if estimate is not None else "") or "",
                    }
                    for estimate, column in zip(row.estimates, table.columns, strict=True)
                ],
            }
            for row in table.rows
        ],
    }
