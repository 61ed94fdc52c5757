"""Tables as papers print them: booktabs, percentages, the half-width as a subscript."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.display import MINUS, UNDEFINED
from runs.reporting.numbers import half_width_text, value_text
from runs.reporting.tables import Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "–": "--",
    "—": "---",
    "±": r"$\pm$",
    "−": "$-$",
    "√": r"$\surd$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "“": "``",
    "”": "''",
    "’": "'",
}


def document(tables: Sequence[Table], notes: Sequence[str]) -> str:
    """A document that compiles by itself with pdflatex; `fragment` gives its tables alone."""
    body = "\n\n".join(fragment(table) for table in tables)
    items = "\n".join(rf"  \item {escaped(note)}" for note in notes)
    reading = (
        rf"\section*{{How to read these numbers}}{chr(10)}\begin{{itemize}}{chr(10)}{items}"
        rf"{chr(10)}\end{{itemize}}"
        if notes
        else ""
    )
    return rf"""\documentclass[a4paper,10pt]{{article}}
\usepackage[T1]{{fontenc}}
\usepackage[utf8]{{inputenc}}
\usepackage{{textcomp}}
\usepackage{{booktabs}}
\usepackage{{graphicx}}
\begin{{document}}
{body}

{reading}
\end{{document}}
"""


def fragment(table: Table) -> str:
    """One floating table."""
    # Wide tables are set on two lines a head and shrunk to the text width, never cut.
    head = " & ".join([escaped(table.row_label), *(_head(column.label) for column in table.columns)])
    rows = "\n".join(
        " & ".join(
            [
                escaped(row.label),
                *(
                    _cell(value_text(estimate, column.unit), half_width_text(estimate, column.unit))
                    for estimate, column in zip(row.estimates, table.columns, strict=True)
                ),
            ]
        )
        + r" \\"
        for row in table.rows
    )
    words = "; ".join(f"{column.label}: {column.our_words}" for column in table.columns)
    caption = ". ".join(part.rstrip(".") for part in (table.title, table.note, words) if part)
    return rf"""\begin{{table}}[htbp]
\centering
\caption{{{escaped(caption)}.}}
\resizebox{{\ifdim\width>\linewidth\linewidth\else\width\fi}}{{!}}{{%
\begin{{tabular}}{{l{"r" * len(table.columns)}}}
\toprule
{head} \\
\midrule
{rows}
\bottomrule
\end{{tabular}}}}
\end{{table}}"""


def escaped(text: str) -> str:
    """Text that LaTeX sets as it stands; what its fonts lack becomes a question mark."""
    parts = []
    for character in text:
        if character in _SPECIAL:
            parts.append(_SPECIAL[character])
        elif character.isprintable() and ord(character) < 0x180:
            parts.append(character)
        else:
            parts.append(" " if character.isspace() else "?")
    return "".join(parts)


def _head(label: str) -> str:
    lines = [escaped(part.strip()) for part in label.split(", ")]
    return rf"\shortstack[r]{{{r' \\ '.join(lines)}}}" if len(lines) > 1 else lines[0]


def _cell(value: str, half_width: str) -> str:
    if value == UNDEFINED:
        return "--"
    number = value.replace(MINUS, "-")
    return rf"${number}_{{\pm {half_width}}}$" if half_width else f"${number}$"
