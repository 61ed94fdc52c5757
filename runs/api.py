"""Runs, marks and evidence as data; the same acts as on the pages, under the same checks."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Router, Schema
from ninja.responses import Status

from benchmark.finding import BenchmarkUnknown, benchmark_named
from benchmark.rules.vocabulary import RunState
from benchmark.serving import blob_response
from people import audit
from people.roles import require_lead
from runs import history, launching
from runs.models import Evidence, Run, Verdict
from runs.summaries import run_document, run_facts
from runs.visibility import concealed_benchmarks, hidden_runs, require_visible, visible_runs

router = Router(tags=["runs"])


class Problem(Schema):
    """Why a request was refused: one sentence, and one for each field at fault."""

    detail: str
    problems: dict[str, str] = {}


class LaunchIn(Schema):
    """A launch; settings that are left out take the protocol's and the adapters' defaults."""

    benchmark: str
    agent: str = "replay"
    agent_settings: dict[str, str | int | float] = {}
    judge: str = "scripted"
    judge_settings: dict[str, str | int | float] = {}
    settings: dict[str, str | int | float] = {}
    tasks: list[str] | None = None
    repeats: int = 1
    sandbox: str = ""
    name: str = ""


@router.get("/runs")
def runs(
    request: HttpRequest,
    before: int | None = None,
    state: RunState | None = None,
    benchmark: str | None = None,
    limit: int = Query(50, ge=1, le=200),  # type: ignore[type-arg]
) -> dict[str, Any]:
    """List runs, newest first; `next` is the `before` of the page behind.

    `hidden` counts runs that are left out while a blind assignment of this person is open.
    """
    found = visible_runs(request.user).select_related("benchmark").order_by("-pk")
    if before is not None:
        found = found.filter(pk__lt=before)
    if state is not None:
        found = found.filter(state=state)
    if benchmark is not None:
        found = found.filter(benchmark__key=benchmark)
    page = list(found[: limit + 1])
    return {
        "items": [run_facts(run) for run in page[:limit]],
        "next": page[limit - 1].pk if len(page) > limit else None,
        "hidden": len(hidden_runs(request.user)),
    }


@router.post("/runs", response={201: dict[str, Any], 422: Problem})
def launch(request: HttpRequest, wanted: LaunchIn) -> Status[Any]:
    """Start a run."""
    require_lead(request.user)
    try:
        chosen = benchmark_named(wanted.benchmark)
        # An answer may name recorded candidates, among them the agent of a run that is hidden.
        if hidden := concealed_benchmarks(request.user).get(chosen.pk):
            require_visible(request.user, hidden)
        checked = launching.plan(
            chosen,
            agent=wanted.agent,
            agent_settings=wanted.agent_settings,
            judge=wanted.judge,
            judge_settings=wanted.judge_settings,
            settings=wanted.settings,
            tasks=wanted.tasks,
            repeats=wanted.repeats,
            sandbox=wanted.sandbox,
            by_operator=request.user.is_staff,
        )
    except BenchmarkUnknown as unknown:
        return Status(422, {"detail": str(unknown), "problems": {"benchmark": str(unknown)}})
    except launching.BadLaunch as bad:
        return Status(422, {"detail": str(bad), "problems": bad.problems})
    run = launching.launch(checked, by=request.user, name=wanted.name)  # type: ignore[arg-type]
    return Status(201, run_document(run) | {"warnings": list(checked.warnings)})


@router.get("/runs/{run_id}")
def run(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """One run with trials, rounds and marks."""
    return run_document(_run(request, run_id))


@router.get("/runs/{run_id}/scores")
def scores(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """Every number of a run as it stands now, in the form of `proofroom score`."""
    return history.scores(_run(request, run_id)).as_json()


@router.post("/runs/{run_id}/cancel")
def cancel(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """End a run's processes; everything recorded stays."""
    require_lead(request.user)
    found = _run(request, run_id)
    if was_open := launching.cancel(found):
        audit.note(request.user, "cancel", f"run:{found.pk}")
    found.refresh_from_db()
    return {"run": found.pk, "state": found.state, "cancelled": was_open}


@router.post("/runs/{run_id}/retry")
def retry(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """Continue what is missing or error."""
    require_lead(request.user)
    found = _run(request, run_id)
    if trials := launching.retry(found):
        audit.note(request.user, "retry", f"run:{found.pk}", trials=trials)
    found.refresh_from_db()
    return {"run": found.pk, "state": found.state, "trials": trials}


@router.get("/runs/{run_id}/marks")
def marks(
    request: HttpRequest,
    run_id: int,
    after: int = 0,
    limit: int = Query(200, ge=1, le=1000),  # type: ignore[type-arg]
) -> dict[str, Any]:
    """Verdicts of a run's primary judgings by id, with what they say and what shows it."""
    found = _run(request, run_id)
    page = list(
        Verdict.objects.filter(judging__round__trial__run=found, judging__is_primary=True, pk__gt=after)
        .select_related("outcome__criterion__task", "judging__round__trial")
        .prefetch_related("evidence")
        .order_by("pk")[: limit + 1]
    )
    return {
        "items": [_verdict(verdict) for verdict in page[:limit]],
        "next": page[limit - 1].pk if len(page) > limit else None,
    }


@router.get("/evidence/{evidence_id}")
def evidence(request: HttpRequest, evidence_id: int) -> dict[str, Any]:
    """What a piece of evidence is and where its bytes are."""
    return _evidence(_piece(request, evidence_id))


@router.get("/evidence/{evidence_id}/content")
def evidence_content(request: HttpRequest, evidence_id: int) -> HttpResponseBase:
    """The bytes, always as a download: a page under test made them."""
    piece = _piece(request, evidence_id)
    return blob_response(piece.digest, media_type="application/octet-stream", name=piece.name)


def _piece(request: HttpRequest, evidence_id: int) -> Evidence:
    piece = get_object_or_404(
        Evidence.objects.select_related("verdict__judging__round__trial"), pk=evidence_id
    )
    require_visible(request.user, piece.verdict.judging.round.trial.run_id)
    return piece


def _run(request: HttpRequest, run_id: int) -> Run:
    require_visible(request.user, run_id)
    return get_object_or_404(Run.objects.select_related("benchmark"), pk=run_id)


def _verdict(verdict: Verdict) -> dict[str, Any]:
    round_ = verdict.judging.round
    return {
        "id": verdict.pk,
        "trial": round_.trial_id,
        "task": verdict.outcome.criterion.task.key,
        "repeat": round_.trial.repeat,
        "round": round_.number,
        "criterion": verdict.outcome.criterion.key,
        "outcome": verdict.outcome.index,
        "text": verdict.outcome.text,
        "role": verdict.role,
        "mark": verdict.mark,
        "reason": verdict.reason,
        "rationale": verdict.rationale,
        "seconds": verdict.seconds,
        "attempt": verdict.attempt,
        "at": verdict.created_at.isoformat(),
        "evidence": [_evidence(piece) for piece in verdict.evidence.all()],
    }


def _evidence(piece: Evidence) -> dict[str, Any]:
    return {
        "id": piece.pk,
        "kind": piece.kind,
        "name": piece.name,
        "media_type": piece.media_type,
        "size": piece.size,
        "sha256": piece.digest,
        "content": reverse("api-1:evidence_content", args=[piece.pk]),
    }
