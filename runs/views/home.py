"""The first page: what goes on, what is new, and for a newcomer the way to a first run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchmark.models import Benchmark
from benchmark.rules.vocabulary import RunState
from people.roles import ASSIGNMENTS, is_lead, may_read_runs
from runs.models import UNFINISHED_RUNS, Run
from runs.pages.run_list import ListedRun, listed_runs
from runs.visibility import hidden_words, visible_runs

LIVE_SHOWN = 8
NEWEST_SHOWN = 8


@require_safe
def home(request: HttpRequest, *, mine: Mapping[str, Any] | None = None) -> HttpResponse:
    """Show live runs and the newest results; without any run, the three steps to a first one.

    `mine` is what a layer above adds: what waits for this person, and its own `action` to go on with.

    Annotators alone see no run: their first page is that of their assignments.
    """
    if not may_read_runs(request.user):
        return redirect(ASSIGNMENTS)
    runs = visible_runs(request.user).select_related("benchmark").order_by("-pk")
    hidden = hidden_words(request.user)
    live = list(runs.filter(state__in=UNFINISHED_RUNS)[: LIVE_SHOWN + 1])
    over = list(runs.filter(state__in=[RunState.FINISHED, RunState.CANCELLED])[:NEWEST_SHOWN])
    rows = listed_runs(live[:LIVE_SHOWN] + over)
    newest_benchmark = Benchmark.objects.order_by("-pk").first()
    context = {
        "area": "home",
        "live": rows[: len(live[:LIVE_SHOWN])],
        "has_more_live": len(live) > LIVE_SHOWN,
        "over": rows[len(live[:LIVE_SHOWN]) :],
        "paused": [row for row in rows if row.progress.paused],
        "benchmark": newest_benchmark,
        "is_new": not live and not over and not hidden,
        "hidden_words": hidden,
        "action": _action(live, over, newest_benchmark, may_launch=is_lead(request.user)),
        "comparisons": _comparisons(rows),
    }
    return render(request, "home.html", context | dict(mine or {}))


def _action(
    live: Sequence[Run], over: Sequence[Run], newest: Benchmark | None, *, may_launch: bool
) -> dict[str, str]:
    """The one thing to go on with."""
    if live:
        return {"label": f"Open run {live[0].pk}", "href": live[0].get_absolute_url()}
    if over:
        return {
            "label": "Open results",
            "href": f"{reverse('runs:results')}?benchmark={over[0].benchmark_id}",
        }
    if newest and may_launch:
        return {"label": "Launch a run", "href": f"{reverse('runs:launch')}?benchmark={newest.pk}"}
    return {}


def _comparisons(rows: Sequence[ListedRun]) -> list[dict[str, Any]]:
    """The benchmarks of the runs shown that have numbers, each once."""
    seen: dict[int, Benchmark] = {}
    for row in rows:
        if row.figure.is_defined:
            seen.setdefault(row.run.benchmark_id, row.run.benchmark)
    return [
        {"benchmark": benchmark, "href": f"{reverse('runs:results')}?benchmark={pk}"}
        for pk, benchmark in seen.items()
    ]
