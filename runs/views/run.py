"""The page of one run: how far it is, what every trial got so far, and what just happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from benchmark.display import Look, counted, duration, settings_in_words
from benchmark.protocols import protocol
from benchmark.rules.vocabulary import TrialState
from people import audit
from people.roles import leads_only
from runs import launching
from runs.models import OPEN_TRIALS, Round, Run, RunEvent, RunEventKind, Trial
from runs.pages import figures, run_rows
from runs.pages.criterion_graph import CriterionGraph, GraphCriterion, graph_of
from runs.pages.grid import CellShows, GridTrial, looks_of, rows_of
from runs.pages.progress import stalled_for, time_left
from runs.visibility import require_visible

EVENTS_SHOWN = 40
GRAPH_WIDTH = 468
_EVENT_LOOKS: Mapping[str, Look] = {
    RunEventKind.BEGIN: Look.RUNNING,
    RunEventKind.TROUBLE: Look.ERROR,
}


@require_safe
def run(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show a run; `?part=summary` and `?part=events&after=N` are what the live page fetches again."""
    require_visible(request.user, run_id)
    shown = get_object_or_404(Run.objects.select_related("benchmark", "launched_by"), pk=run_id)
    part = request.GET.get("part", "")
    if part == "events":
        return render(
            request, "runs/run.html#events", {"run": shown} | _events(shown, after=_cursor(request))
        )
    context = {"area": "runs", "run": shown} | _summary(shown) | _grid(request, shown)
    if part == "summary":
        return render(request, "runs/run.html#live", context | {"is_part": True})
    return render(request, "runs/run.html", context | _head(shown) | _events(shown))


@require_POST
@leads_only
def cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    """End a run's processes; what is recorded stays."""
    require_visible(request.user, run_id)
    shown = get_object_or_404(Run, pk=run_id)
    if launching.cancel(shown):
        audit.note(request.user, "cancel", f"run:{shown.pk}")
        messages.info(request, f"{shown} was cancelled. Everything recorded stays; Retry goes on from here.")
    else:
        messages.info(request, f"{shown} had ended before it could be cancelled.")
    return redirect(shown)


@require_POST
@leads_only
def retry(request: HttpRequest, run_id: int) -> HttpResponse:
    """Go on with what is missing or error."""
    require_visible(request.user, run_id)
    shown = get_object_or_404(Run, pk=run_id)
    concerned = launching.retry(shown)
    if concerned:
        audit.note(request.user, "retry", f"run:{shown.pk}", trials=concerned)
        messages.info(request, f"{counted(concerned, 'trial')} are tried again. Marks that were given stay.")
    else:
        messages.info(
            request,
            "There is nothing to retry: no trial is paused or cancelled, and no error can be mended by it.",
        )
    return redirect(shown)


def _head(shown: Run) -> dict[str, Any]:
    return {
        "settings_words": settings_in_words(shown.settings),
        "agent_settings": settings_in_words(shown.code_agent_settings),
        "judge_settings": settings_in_words(shown.judge_settings),
        "short_hash": shown.benchmark_hash[:8],
        "is_changed": shown.benchmark_hash != shown.benchmark.content_hash,
    }


def _summary(shown: Run) -> dict[str, Any]:
    recipe = protocol(shown.protocol)
    now = timezone.now()
    progress = run_rows.progress_of(shown)
    errors = run_rows.errors_of(shown)
    last_event = RunEvent.objects.filter(run=shown).order_by("-pk").first()
    estimates = figures.headline([shown.pk]).get(shown.pk, {})
    is_live = shown.is_unfinished
    return {
        "progress": progress,
        "is_live": is_live,
        "cursor": last_event.pk if last_event else 0,
        "stats": [
            figures.stat(
                spec,
                estimates,
                note=_over(estimates, spec.name, is_live=is_live),
                absent="no task has finished yet" if is_live else "nothing was scored",
            )
            for spec in figures.leading_metrics(recipe, most=5)
        ],
        "errors": errors,
        "errors_words": "mark" if errors == 1 else "marks",
        "time": _time(shown, last_event=last_event, has_work=bool(progress.working or progress.queued)),
        "can_retry": bool(progress.paused or progress.cancelled or (errors and not is_live)),
        "retry_words": _retry_words(progress.paused + progress.cancelled, errors),
        "stops_words": f"{counted(progress.working, 'trial')} {'stops' if progress.working == 1 else 'stop'} now",
        "now": now,
    }


def _over(estimates: figures.Estimates, name: str, *, is_live: bool) -> str:
    n = estimates[name].n if name in estimates else 0
    return f"over {counted(n, 'finished task' if is_live else 'task')}"


def _retry_words(stopped: int, errors: int) -> str:
    if stopped:
        return f"Retry {counted(stopped, 'trial')}"
    return f"Retry {counted(errors, 'error')}"


def _time(shown: Run, *, last_event: RunEvent | None, has_work: bool) -> dict[str, Any]:
    now = timezone.now()
    begun = shown.started_at
    spent = duration(((shown.finished_at or now) - begun).total_seconds()) if begun else ""
    if not shown.is_unfinished or begun is None:
        return {"spent": spent, "left": None, "stalled": ""}
    durations: list[float] = []
    running: list[float] = []
    queued = 0
    rows = Trial.objects.filter(run=shown).values_list("state", "started_at", "finished_at")
    for state, started, finished in rows:
        if state == TrialState.FINISHED and started and finished:
            durations.append((finished - started).total_seconds())
        elif state == TrialState.RUNNING and started:
            running.append((now - started).total_seconds())
        elif state in OPEN_TRIALS:
            queued += 1
    left = time_left(durations, running, queued=queued, workers=settings.WORKER_THREADS) if has_work else None
    last = last_event.created_at if last_event else None
    return {
        "spent": spent,
        "left": left,
        "stalled": stalled_for(last_event=last, now=now) if has_work else "",
    }


def _grid(request: HttpRequest, shown: Run) -> dict[str, Any]:
    page = Paginator(run_rows.trials_in_order(shown), run_rows.TRIALS_A_PAGE).get_page(
        request.GET.get("page")
    )
    trials = run_rows.grid_trials(list(page.object_list))
    shows = _cell(request)
    selected = _selected(request, trials)
    columns = _columns(shown)
    return {
        "page": page,
        "columns": range(1, columns + 1),
        "is_wide": columns == 1,
        "shows": shows,
        "cells": [
            {
                "name": each,
                "label": each.value.capitalize(),
                "query": _query(request, cell=each),
            }
            for each in CellShows
        ],
        "rows": [
            {"row": row, "query": _query(request, trial=row.trial.pk)}
            for row in rows_of(
                trials,
                columns=columns,
                shows=shows,
                selected=selected.pk if selected else None,
                now=timezone.now(),
            )
        ],
        "selected": selected,
        "graph": _graph(selected, page) if selected else None,
        "selected_round": selected.rounds[-1].number if selected and selected.rounds else 0,
        "judged_words": _judged(selected) if selected else "",
    }


def _columns(shown: Run) -> int:
    """The rounds that the grid has a column for: those that exist and those that may still come."""
    existing = Round.objects.filter(trial__run=shown).aggregate(most=Max("number"))["most"] or 1
    # With the clarified requirements as the request there is one round by definition.
    planned = 1 if shown.settings.get("request") == "prd" else int(shown.settings.get("max_rounds", 1))
    return max(existing, planned)


def _cell(request: HttpRequest) -> CellShows:
    try:
        return CellShows(request.GET.get("cell", CellShows.MARKS))
    except ValueError:
        return CellShows.MARKS


def _selected(request: HttpRequest, trials: Sequence[GridTrial]) -> GridTrial | None:
    """The trial asked for, else one that is being judged, else the first that has a round."""
    wanted = request.GET.get("trial", "")
    for trial in trials:
        if str(trial.pk) == wanted:
            return trial
    judging = [trial for trial in trials if trial.rounds and trial.rounds[-1].running]
    begun = [trial for trial in trials if trial.rounds]
    return next(iter(judging or begun or trials), None)


def _graph(selected: GridTrial, page: Page[Trial]) -> CriterionGraph:
    task_id = next(trial.task_id for trial in page.object_list if trial.pk == selected.pk)
    outline = run_rows.outline_of(task_id)
    looks = [Look.WAITING] * len(outline)
    round_number = 0
    if selected.rounds:
        round_number = selected.rounds[-1].number
        looks = looks_of(selected.criteria, selected.rounds[-1])
    return graph_of(
        [
            GraphCriterion(
                key=criterion.key,
                title=criterion.title,
                needs=criterion.needs,
                look=look,
                href=f"{selected.href}?round={round_number}#c-{criterion.key}"
                if round_number
                else selected.href,
            )
            for criterion, look in zip(outline, looks, strict=True)
        ],
        width=GRAPH_WIDTH,
    )


def _judged(selected: GridTrial) -> str:
    if not selected.rounds:
        return "no round yet"
    last = selected.rounds[-1]
    judged = sum(1 for criterion in selected.criteria if last.marks.get(criterion.key))
    return f"round {last.number}, {judged} of {len(selected.criteria)} judged"


def _events(shown: Run, *, after: int = 0) -> dict[str, Any]:
    events = RunEvent.objects.filter(run=shown, pk__gt=after).select_related("trial__task").order_by("-pk")
    return {
        "events": [{"event": event, "look": _event_look(event)} for event in events[:EVENTS_SHOWN]],
        "has_events": bool(after) or events.exists(),
    }


def _event_look(event: RunEvent) -> str:
    return event.mark or _EVENT_LOOKS.get(event.kind, "")


def _cursor(request: HttpRequest) -> int:
    raw = request.GET.get("after", "0")
    return int(raw) if raw.isdecimal() and len(raw) <= 18 else 0


def _query(request: HttpRequest, **changed: object) -> str:
    kept = {name: request.GET[name] for name in ("cell", "trial", "page") if name in request.GET}
    return "?" + urlencode(kept | {name: str(value) for name, value in changed.items()})
