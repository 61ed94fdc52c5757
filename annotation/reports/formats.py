"""A report of agreement as text, CSV, LaTeX, HTML or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from enum import StrEnum

from django.template.loader import render_to_string

from annotation.agreement.report import Report
from annotation.agreement.values import Statistic, Undefined, Value
from annotation.reports.tables import TextTable, facts_of, tables_of
from benchmark.display import MINUS, UNDEFINED
from runs.reporting.as_csv import neutral
from runs.reporting.as_latex import escaped

COLUMNS = (
    "scope",
    "first",
    "second",
    "statistic",
    "value",
    "low",
    "high",
    "n",
    "method",
    "reason",
    "flags",
    "analytic_low",
    "analytic_high",
    "jackknife_low",
    "jackknife_high",
    "always_pass_accuracy",
    "always_fail_accuracy",
)

LATEX_HEAD = r"""\documentclass[a4paper,10pt]{article}
\usepackage[margin=2cm]{geometry}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{graphicx}"""
"""What begins a document with these tables that compiles by itself with pdflatex."""


class AgreementFormat(StrEnum):
    """What a report can be had as."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    LATEX = "latex"
    HTML = "html"


def written(report: Report, wanted: AgreementFormat) -> str:
    """Return the whole report in a format."""
    if wanted is AgreementFormat.JSON:
        return json.dumps(report.document(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    if wanted is AgreementFormat.CSV:
        return csv_text(report)
    if wanted is AgreementFormat.LATEX:
        return latex_text(report)
    if wanted is AgreementFormat.HTML:
        return html_text(report)
    return plain_text(report)


def plain_text(report: Report) -> str:
    """Aligned columns for a terminal; warnings come first."""
    blocks = ["\n".join(facts_of(report))]
    if report.warnings:
        blocks.append("\n".join(f"! {warning}" for warning in report.warnings))
    blocks += ["\n".join(_lines(table)) for table in tables_of(report)]
    blocks.append("\n".join(report.methods.values()))
    return "\n\n".join(blocks) + "\n"


def csv_text(report: Report) -> str:
    """One row a statistic, with the baselines of the pair in every row that has them."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n", restval="")
    writer.writeheader()
    for row in _csv_rows(report):
        writer.writerow(
            {name: neutral(cell) if isinstance(cell, str) else cell for name, cell in row.items()}
        )
    return out.getvalue()


def latex_text(report: Report) -> str:
    """A document that compiles by itself with pdflatex."""
    tables = "\n\n".join(latex_table(table) for table in tables_of(report))
    facts = "\n".join(rf"  \item {escaped(fact)}" for fact in (*facts_of(report), *report.warnings))
    methods = " ".join(escaped(sentence) for sentence in report.methods.values())
    return rf"""{LATEX_HEAD}
\begin{{document}}
\section*{{Agreement}}
\begin{{itemize}}
{facts}
\end{{itemize}}

{tables}

\section*{{Methods}}
{methods}
\end{{document}}
"""


def html_text(report: Report) -> str:
    """One file that opens from disk, without scripts or outside files; the template escapes every text."""
    return render_to_string(
        "annotation/agreement_file.html",
        {
            "facts": facts_of(report),
            "warnings": report.warnings,
            "tables": tables_of(report),
            "methods": report.methods.values(),
        },
    )


def _lines(table: TextTable) -> Iterator[str]:
    yield table.title
    shown = [table.head, *table.rows]
    last = len(table.head) - 1
    widths = [max(len(row[place]) for row in shown) for place in range(len(table.head))]
    has_remarks = table.head[-1] == "Remark"
    for row in shown:
        cells = [
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            if not (has_remarks and place == last)
        ]
        if has_remarks:
            cells.append(row[last])
        yield "  ".join(cells).rstrip()
    if table.note:
        yield table.note


def latex_table(table: TextTable) -> str:
    """Return one table; it needs booktabs, longtable and graphicx."""
    # Remarks are sentences: they are set in a column that breaks, and the table may run over pages.
    has_remarks = table.head[-1] == "Remark"
    columns = "lrrrp{5.6cm}" if has_remarks else "l" + "r" * (len(table.head) - 1)
    head = " & ".join(escaped(cell) for cell in table.head)
    body = "\n".join(" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in table.rows)
    caption = escaped(". ".join(part.rstrip(".") for part in (table.title, table.note) if part))
    if has_remarks:
        return rf"""{{\footnotesize
\begin{{longtable}}{{{columns}}}
\caption{{{caption}.}} \\
\toprule
{head} \\
\midrule
\endhead
{body}
\bottomrule
\end{{longtable}}}}"""
    return rf"""\begin{{table}}[htbp]
\centering
\caption{{{caption}.}}
\resizebox{{\ifdim\width>\linewidth\linewidth\else\width\fi}}{{!}}{{%
\begin{{tabular}}{{{columns}}}
\toprule
{head} \\
\midrule
{body}
\bottomrule
\end{{tabular}}}}
\end{{table}}"""


def _latex_cell(cell: str) -> str:
    return "--" if cell == UNDEFINED else escaped(cell.replace(MINUS, "-"))


def _csv_rows(report: Report) -> Iterator[dict[str, object]]:
    for warning in report.warnings:
        yield {"scope": "warning", "reason": warning}
    for each in report.excluded:
        yield {"scope": "excluded", "n": each.n, "reason": each.reason}
    yield from _statistic_rows("all", report.statistics)
    for pair in report.pairs:
        yield from _statistic_rows("pair", pair.statistics, raters=pair.raters)
    for fold, pairs in report.folds.items():
        for pair in pairs:
            yield from _statistic_rows(fold.value, pair.statistics, raters=pair.raters)
    yield from _statistic_rows("sensitivity", report.sensitivity)
    if report.ceiling is not None:
        yield from _statistic_rows("human_human", report.ceiling.human_human)
        yield from _statistic_rows("judge_human", report.ceiling.judge_human)
        yield from _statistic_rows("human_gap", report.ceiling.gap)


def _statistic_rows(
    scope: str, statistics: Mapping[str, Statistic], *, raters: tuple[str, str] = ("", "")
) -> Iterator[dict[str, object]]:
    baselines = {
        name: found.value
        for name in ("always_pass_accuracy", "always_fail_accuracy")
        if isinstance(found := statistics.get(name), Value)
    }
    for name, statistic in statistics.items():
        row: dict[str, object] = {"scope": scope, "first": raters[0], "second": raters[1], "statistic": name}
        row |= baselines
        if isinstance(statistic, Undefined):
            row["reason"] = statistic.reason.value
        else:
            row |= {
                "value": statistic.value,
                "low": statistic.low,
                "high": statistic.high,
                "n": statistic.n,
                "method": str(statistic.method),
                "flags": " ".join(flag.value for flag in statistic.flags),
            }
            for kind, interval in (("analytic", statistic.analytic), ("jackknife", statistic.jackknife)):
                if interval is not None:
                    row |= {f"{kind}_low": interval.low, f"{kind}_high": interval.high}
        yield row
