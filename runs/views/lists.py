"""The list of runs, filtered by its address and paged by the number of a run."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmark.display import counted
from benchmark.models import Benchmark
from benchmark.rules.vocabulary import RunState
from people.roles import readers_only
from runs.models import Run
from runs.pages.run_list import listed_runs
from runs.visibility import hidden_words, visible_runs

RUNS_A_PAGE = 50
_FILTERS = ("state", "benchmark", "agent", "q")


@require_safe
@readers_only
def runs(request: HttpRequest) -> HttpResponse:
    """List runs, newest first; `before=N` goes on below run N."""
    given = {name: request.GET[name].strip() for name in _FILTERS if request.GET.get(name, "").strip()}
    visible = visible_runs(request.user)
    matching = _matching(visible, given)
    hidden = hidden_words(request.user)
    total = matching.count()
    before = _number(request.GET.get("before", ""))
    page = matching.filter(pk__lt=before) if before else matching
    found = list(page.select_related("benchmark", "launched_by").order_by("-pk")[: RUNS_A_PAGE + 1])
    shown = found[:RUNS_A_PAGE]
    context = {
        "area": "runs",
        "query": given.get("q", ""),
        "given": given,
        "rows": listed_runs(shown),
        "total": counted(total, "run"),
        "has_runs": bool(total) or bool(hidden) or visible.exists(),
        "hidden_words": hidden,
        "states": [{"value": state.value, "label": state.value.capitalize()} for state in RunState],
        "benchmarks": Benchmark.objects.filter(pk__in=visible.order_by().values("benchmark").distinct()),
        "agents": sorted(set(visible.order_by().values_list("code_agent_label", flat=True)) - {""}),
        "filter_words": _in_words(given),
        "older": f"?{urlencode(given | {'before': str(shown[-1].pk)})}" if len(found) > RUNS_A_PAGE else "",
        "newest": f"?{urlencode(given)}" if before else "",
    }
    return render(request, "runs/runs.html", context)


def _matching(matching: QuerySet[Run], given: dict[str, str]) -> QuerySet[Run]:
    if "state" in given:
        matching = matching.filter(state=given["state"])
    if "benchmark" in given:
        matching = matching.filter(benchmark=_number(given["benchmark"]))
    if "agent" in given:
        matching = matching.filter(
            Q(code_agent_label=given["agent"]) | Q(code_agent_label="", code_agent=given["agent"])
        )
    if "q" in given:
        matching = matching.filter(_said(given["q"]))
    return matching


def _said(text: str) -> Q:
    """What a person types into the search field: a run's number, or part of a name, key or agent."""
    wanted = (
        Q(name__icontains=text)
        | Q(code_agent_label__icontains=text)
        | Q(code_agent__icontains=text)
        | Q(benchmark__key__icontains=text)
        | Q(benchmark__title__icontains=text)
    )
    number = text.lower().removeprefix("run").strip().removeprefix("#")
    return wanted | Q(pk=_number(number)) if _number(number) else wanted


def _number(text: str) -> int:
    """The number that a text is, 0 where it is none; larger ones than a database takes are none."""
    return int(text) if text.isdecimal() and len(text) < 16 else 0


def _in_words(given: dict[str, Any]) -> str:
    """The filter as a sentence's part: `state finished and text “heron”`."""
    parts = []
    for name, value in given.items():
        if name == "benchmark":
            found = Benchmark.objects.filter(pk=_number(value)).first()
            parts.append(f"benchmark {found or value}")
        elif name == "q":
            parts.append(f"text “{value}”")
        else:
            parts.append(f"{name} {value}")
    return " and ".join(parts)
