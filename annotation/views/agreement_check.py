"""Check published figures: which tables of counts could have given them, and what those tables imply."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.agreement.consistency import (
    MOST_UNITS,
    Examination,
    Figure,
    Printed,
    PublishedError,
    Span,
    TableSet,
    examine,
)
from annotation.agreement.table_runs import shares_of
from annotation.reports.calculator_fields import NumberField, Typed
from benchmark.display import UNDEFINED, counted, whole

TABLES_SHOWN = 12
EXAMPLE = {"accuracy": "93.35", "precision": "97.37", "recall": "95.68", "f1": "96.52", "n": "3576"}
"""What Asuka-Bench prints about its judge."""
_LABELS = {
    Figure.ACCURACY: "Accuracy",
    Figure.PRECISION: "Precision",
    Figure.RECALL: "Recall",
    Figure.F1: "F1",
}


@require_safe
def check(request: HttpRequest) -> HttpResponse:
    """Ask for printed figures, and show every table of whole numbers that has them."""
    defaults = {figure.value: "" for figure in Figure} | {"n": "", "tolerance": "0"}
    typed = Typed(request.GET.dict(), defaults=defaults)
    printed = _printed(typed)
    is_asked = bool(printed or typed.problems or typed.text("n"))
    n = typed.whole("n", least=1, most=MOST_UNITS) if is_asked else 0
    tolerance = typed.number("tolerance", least=0, most=5) / 100
    answer, problem = None, ""
    if is_asked and not typed.problems:
        try:
            answer = examine(printed, n=n, tolerance=tolerance)
        except PublishedError as error:
            problem = str(error)
    context = {
        "area": "agreement",
        "figures": [_field(typed, figure) for figure in Figure],
        "others": [
            typed.field("n", "n", "Number of outcomes that the figures are of."),
            typed.field(
                "tolerance",
                "Tolerance, points",
                "How far off a figure may be besides its rounding. 0 takes them as printed.",
            ),
        ],
        "example": "?" + urlencode(EXAMPLE),
        "problem": problem,
        "answer": _answer(answer) if answer is not None else None,
    }
    return render(
        request, "annotation/agreement_check.html", context, status=422 if typed.problems or problem else 200
    )


def _printed(typed: Typed) -> dict[Figure, Printed]:
    printed = {}
    for figure in Figure:
        if text := typed.text(figure.value):
            try:
                printed[figure] = Printed.parse(text)
            except PublishedError as error:
                typed.problems[figure.value] = str(error)
    return printed


def _field(typed: Typed, figure: Figure) -> NumberField:
    helps = {
        Figure.ACCURACY: "As printed, with all its decimals: 93.35, 93.35% or 0.9335.",
        Figure.PRECISION: "Of Pass. May stay empty.",
        Figure.RECALL: "Of Pass. May stay empty.",
        Figure.F1: "Of Pass. May stay empty.",
    }
    return typed.field(figure.value, _LABELS[figure], helps[figure])


def _answer(answer: Examination) -> dict[str, Any]:
    found = answer.consistent or answer.nearest
    shown: dict[str, Any] = {
        "sentence": answer.sentence(),
        "is_consistent": answer.consistent is not None,
        "title": "Nothing comes near",
        "always_pass_wins": answer.always_pass_wins,
    }
    if found is None:
        return shown
    if answer.consistent is not None:
        shown["title"] = counted(found.n_tables, "table has these figures", "tables have these figures")
    else:
        shown["title"] = "No table of whole numbers gives these figures"
    return shown | {
        "stats": _stats(found, answer),
        "rows": _rows(found),
        "more": whole(found.n_tables - min(found.n_tables, TABLES_SHOWN))
        if found.n_tables > TABLES_SHOWN
        else "",
        "heads": [_LABELS[figure] for figure in Figure],
        "kind": "consistent" if answer.consistent is not None else "nearest",
    }


def _stats(found: TableSet, answer: Examination) -> list[dict[str, Any]]:
    printed = answer.printed.get(Figure.ACCURACY)
    return [
        {
            "label": "Tables",
            "value": whole(found.n_tables),
            "under": "at the printed rounding"
            if answer.consistent is not None
            else f"nearest; off by {100 * found.deviation:.3f} points at most",
        },
        {"label": "Cohen's kappa", "value": _ends(found.kappa, "{:.2f}"), "under": "implied"},
        {"label": "Specificity, %", "value": _ends(found.specificity, "{:.1f}", 100), "under": "implied"},
        {
            "label": "Always Pass, %",
            "value": _ends(found.always_pass, "{:.1f}", 100),
            "under": f"accuracy, beside {100 * printed.share:g}% printed"
            if printed is not None
            else "accuracy",
            "is_hot": bool(answer.always_pass_wins),
        },
    ]


def _ends(span: Span | None, shown: str, times: float = 1) -> str:
    if span is None:
        return UNDEFINED
    low, high = (shown.format(times * end).replace("-", "−") for end in (span.low, span.high))
    return low if low == high else f"{low} to {high}"


def _rows(found: TableSet) -> list[dict[str, Any]]:
    tables = found.tables[:TABLES_SHOWN]
    shares = shares_of(tables.T)

    def text(name: str, place: int, *, is_coefficient: bool = False) -> str:
        value = float(shares[name][place])
        if np.isnan(value):
            return UNDEFINED
        return f"{value:.3f}".replace("-", "−") if is_coefficient else f"{100 * value:.2f}"

    return [
        {
            "counts": [whole(int(count)) for count in table],
            "figures": [text(figure.value, place) for figure in Figure],
            "kappa": text("kappa", place, is_coefficient=True),
            "specificity": text("specificity", place),
            "always_pass": text("always_pass", place),
        }
        for place, table in enumerate(tables)
    ]
