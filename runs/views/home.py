"""The first page: what runs, what is new, and three steps for a newcomer."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmark.models import Benchmark
from benchmark.rules.vocabulary import RunState, TrialState
from runs.models import UNFINISHED_RUNS, Run, Trial
from runs.views.run_list import run_rows

SHOWN = 6


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show what waits for a person, live runs and the newest results."""
    live = list(
        Run.objects.select_related("benchmark").filter(state__in=UNFINISHED_RUNS).order_by("-pk")[:SHOWN]
    )
    finished = list(
        Run.objects.select_related("benchmark")
        .filter(state=RunState.FINISHED)
        .order_by("-finished_at", "-pk")[:SHOWN]
    )
    benchmark = Benchmark.objects.order_by("-imported_at", "-pk").first()
    context = {
        "area": "home",
        "waiting": _waiting(),
        "live": run_rows(live),
        "finished": run_rows(finished),
        "newest": live[0] if live else finished[0] if finished else None,
        "is_new": not live and not finished,
        "benchmark": benchmark,
        "public_url": settings.PUBLIC_URL,
    }
    return render(request, "home.html", context)


def _waiting() -> list[dict[str, Any]]:
    """Trials that the bench could not go on with: nothing moves there until a person looks."""
    paused = Trial.objects.filter(state=TrialState.PAUSED, run__state__in=UNFINISHED_RUNS)
    return [
        {"trial": trial, "run": trial.run, "task": trial.task}
        for trial in paused.select_related("run", "task").order_by("-run", "pk")[:SHOWN]
    ]
