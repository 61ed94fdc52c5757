"""The table of counts as a page shows it: people in rows, the judge in columns, each cell a list of outcomes."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.reports.campaign_findings import Comparison
from annotation.reports.charts import heat
from benchmark.display import UNDEFINED, counted, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of the table of counts; `people` and `judge` narrow the list of outcomes down to it."""

    count: str
    share: str
    heat: str
    agrees: bool
    people: str
    judge: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRow:
    """One mark of people's: the judge's marks of those outcomes, and how many there are."""

    mark: str
    cells: tuple[Cell, ...]
    total: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The table of counts, the best mark first."""

    marks: tuple[str, ...]
    rows: tuple[CountRow, ...]
    totals: tuple[str, ...]
    total: str


def counts_of(compared: Comparison) -> Counts:
    """Return the table of counts: people in rows, the judge in columns, shades by share of the row."""
    table, labels = compared.pair.table, compared.ratings.labels
    order = list(range(len(labels)))[::-1]
    rows = []
    for row in order:
        total = int(table[row].sum())
        cells = []
        for column in order:
            count = int(table[row, column])
            share = count / total if total else 0.0
            cells.append(
                Cell(
                    count=whole(count),
                    share=f"{100 * share:.0f}%" if total else UNDEFINED,
                    heat=heat(share).value,
                    agrees=row == column,
                    people=labels[row],
                    judge=labels[column],
                    words=f"{counted(count, 'outcome')}: people {labels[row]}, judge {labels[column]}",
                )
            )
        rows.append(CountRow(mark=labels[row], cells=tuple(cells), total=whole(total)))
    return Counts(
        marks=tuple(labels[index] for index in order),
        rows=tuple(rows),
        totals=tuple(whole(int(table[:, index].sum())) for index in order),
        total=whole(int(table.sum())),
    )
