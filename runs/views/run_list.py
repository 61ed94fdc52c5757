"""The list of runs, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmark.display import Look, duration, figure
from benchmark.models import Benchmark
from benchmark.protocols import protocol
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import RunState
from runs.models import Run
from runs.pages import figures
from runs.pages.run_list import RUNS_A_PAGE, RunFilter, finished_of, trial_counts

STATE_LOOKS = {RunState.RUNNING: Look.RUNNING, RunState.QUEUED: Look.WAITING, RunState.PAUSED: Look.ERROR}


@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    """Show runs that match the filters in the address; `before` is the key of the next page."""
    wanted = RunFilter.from_address(request.GET.dict())
    matching = wanted.apply(Run.objects.select_related("benchmark")).distinct().order_by("-pk")
    if wanted.before is not None:
        matching = matching.filter(pk__lt=wanted.before)
    found = list(matching[: RUNS_A_PAGE + 1])
    page = found[:RUNS_A_PAGE]
    kept = {
        name: value
        for name, value in (
            ("q", wanted.query), ("state", wanted.state), ("benchmark", wanted.benchmark), ("agent", wanted.agent)
        )
        if value
    }  # fmt: skip
    context = {
        "area": "runs",
        "query": wanted.query,
        "wanted": wanted,
        "rows": run_rows(page),
        "states": [state.value for state in RunState],
        "benchmarks": Benchmark.objects.filter(runs__isnull=False).distinct().order_by("key"),
        "agents": Run.objects.order_by("code_agent_label")
        .values_list("code_agent_label", flat=True)
        .distinct()[:200],
        "next": "?" + urlencode(kept | {"before": page[-1].pk}) if len(found) > RUNS_A_PAGE else "",
        "first": ("?" + urlencode(kept)) if wanted.before is not None else "",
        "has_any": bool(page) or Run.objects.exists(),
    }
    return render(request, "runs/runs.html", context)


def run_rows(page: Sequence[Run]) -> list[dict[str, Any]]:
    """Rows of a list of runs: two queries for all of them."""
    counts = trial_counts(page)
    headline = figures.headline([run.pk for run in page])
    return [_row(run, counts[run.pk], headline.get(run.pk, {})) for run in page]


def _row(run: Run, counts: dict[str, int], estimates: figures.Estimates) -> dict[str, Any]:
    finished, total = finished_of(counts)
    lead = figures.leading_metrics(protocol(run.protocol), most=1)[0]
    missing = Estimate(value=None, n=0, reason="no task has finished yet")
    ended = run.finished_at
    return {
        "run": run,
        "look": STATE_LOOKS.get(RunState(run.state)),
        "finished": finished,
        "total": total,
        "width": round(100 * finished / total, 1) if total else 0,
        "lead": figure(estimates.get(lead.name, missing), unit=lead.unit),
        "lead_label": lead.label,
        "took": duration((ended - run.started_at).total_seconds()) if ended and run.started_at else "",
    }
