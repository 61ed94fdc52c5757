"""A table for a terminal: aligned columns, the interval beside its mean."""

from __future__ import annotations

from runs.reporting.numbers import half_width_text, value_text
from runs.reporting.tables import Table


def text_lines(table: Table) -> list[str]:
    """The table as lines: title, head, rows, note."""
    head = [table.row_label, *(column.label for column in table.columns)]
    body = [
        [
            row.label,
            *(
                _cell(value_text(estimate, column.unit), half_width_text(estimate, column.unit))
                for estimate, column in zip(row.estimates, table.columns, strict=True)
            ),
        ]
        for row in table.rows
    ]
    widths = [max(len(line[place]) for line in [head, *body]) for place in range(len(head))]
    lines = [table.title, _aligned(head, widths)]
    lines += [_aligned(line, widths) for line in body]
    if table.note:
        lines.append(table.note)
    return lines


def _cell(value: str, half_width: str) -> str:
    return f"{value} ±{half_width}" if half_width else value


def _aligned(cells: list[str], widths: list[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])
