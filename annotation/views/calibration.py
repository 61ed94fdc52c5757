"""Choose the calibration items of a draft: outcomes whose right mark is known."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.designing import KnownAnswer, known_answers
from annotation.drafting import set_known_answers
from annotation.models import Campaign
from annotation.vocabulary import CampaignState, MarkSet
from benchmark.models import ExpectedOutcome
from benchmark.rules.vocabulary import Mark
from people import audit
from people.roles import leads_only
from runs.models import Round
from runs.visibility import hidden_runs

MOST_ROUNDS = 500


@leads_only
@require_http_methods(["GET", "HEAD", "POST"])
def calibration(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """List the outcomes of one round at a time with the mark that is right, and save them."""
    campaign = get_object_or_404(Campaign, pk=campaign_id, is_imported=False)
    if campaign.state != CampaignState.DRAFT:
        messages.info(request, "Calibration items are part of the sample, which was drawn at the opening.")
        return redirect(campaign)
    rounds = _rounds(campaign, request)
    chosen = _chosen(request, rounds)
    known = list(known_answers(campaign))
    if request.method == "POST" and chosen is not None:
        others = [answer for answer in known if answer.round != chosen.pk]
        given, problem = _given(request, campaign, chosen)
        if not problem:
            set_known_answers(campaign, [*others, *given])
            audit.note(request.user, "calibration", f"campaign:{campaign.pk}", items=len(others) + len(given))
            messages.info(request, f"Saved: {len(given)} of this round, {len(others) + len(given)} in all.")
            return redirect(f"{request.path}?round={chosen.pk}")
    else:
        problem = ""
    counts: dict[int, int] = {}
    for answer in known:
        counts[answer.round] = counts.get(answer.round, 0) + 1
    context = {
        "area": "campaigns",
        "campaign": campaign,
        "rounds": [
            {"round": round_, "known": counts.get(round_.pk, 0), "is_current": round_ == chosen}
            for round_ in rounds
        ],
        "chosen": chosen,
        "rows": _rows(request, campaign, chosen, known) if chosen is not None else [],
        "marks": [mark.value for mark in campaign.marks],
        "is_rated": campaign.mark_set == MarkSet.SCALES,
        "total": len(known),
        "problem": problem,
    }
    return render(request, "annotation/calibration.html", context, status=422 if problem else 200)


def _rounds(campaign: Campaign, request: HttpRequest) -> list[Round]:
    """The rounds that the campaign draws from: those named, or the final one of each trial."""
    rounds = (
        Round.objects.filter(trial__run__in=campaign.runs.exclude(pk__in=hidden_runs(request.user)))
        .select_related("trial__task", "trial__run")
        .order_by("trial__task__position", "trial", "-number")
    )
    if campaign.tasks:
        rounds = rounds.filter(trial__task__key__in=campaign.tasks)
    if campaign.rounds:
        return list(rounds.filter(number__in=campaign.rounds)[:MOST_ROUNDS])
    final: dict[int, Round] = {}
    for round_ in rounds:
        final.setdefault(round_.trial_id, round_)
    return list(final.values())[:MOST_ROUNDS]


def _chosen(request: HttpRequest, rounds: list[Round]) -> Round | None:
    wanted = request.POST.get("round") or request.GET.get("round", "")
    return next((round_ for round_ in rounds if str(round_.pk) == wanted), rounds[0] if rounds else None)


def _rows(
    request: HttpRequest, campaign: Campaign, chosen: Round, known: list[KnownAnswer]
) -> list[dict[str, Any]]:
    """The things that may be known of a round, each with its right answer so far."""
    answers = {(answer.outcome, answer.scale): answer for answer in known if answer.round == chosen.pk}
    if campaign.mark_set == MarkSet.SCALES:
        rows = [
            {
                "name": f"known_{scale['key']}",
                "text": scale["title"],
                "under": f"{scale['minimum']:g} to {scale['maximum']:g}. {scale['definition']}",
                "value": _number(answers.get((None, scale["key"]))),
            }
            for scale in campaign.scales
        ]
    else:
        outcomes = ExpectedOutcome.objects.filter(criterion__task=chosen.trial.task_id).select_related(
            "criterion"
        )
        rows = [
            {
                "name": f"known_{outcome.pk}",
                "text": outcome.text,
                "under": f"{outcome.criterion.key} {outcome.criterion.title}",
                "value": _mark(answers.get((outcome.pk, ""))),
            }
            for outcome in outcomes.order_by("criterion__position", "index")
        ]
    if request.method == "POST":
        for row in rows:
            row["value"] = request.POST.get(row["name"], row["value"])
    return rows


def _given(request: HttpRequest, campaign: Campaign, chosen: Round) -> tuple[list[KnownAnswer], str]:
    """What the form says is right, and the sentence about what cannot be."""
    if campaign.mark_set == MarkSet.SCALES:
        return _given_scores(request, campaign, chosen)
    allowed = {mark.value for mark in campaign.marks}
    given = []
    outcomes = ExpectedOutcome.objects.filter(criterion__task=chosen.trial.task_id)
    for pk in outcomes.order_by("criterion__position", "index").values_list("pk", flat=True):
        text = request.POST.get(f"known_{pk}", "")
        if text and text not in allowed:
            return [], f"{text[:20]!r} is not a mark of this campaign."
        if text:
            given.append(KnownAnswer(round=chosen.pk, outcome=pk, mark=Mark(text)))
    return given, ""


def _given_scores(request: HttpRequest, campaign: Campaign, chosen: Round) -> tuple[list[KnownAnswer], str]:
    given = []
    for scale in campaign.scales:
        text = request.POST.get(f"known_{scale['key']}", "").strip()
        if not text:
            continue
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not scale["minimum"] <= value <= scale["maximum"]:
            return [], (
                f"{scale['title']} is {text[:20]!r}; it takes a number from {scale['minimum']:g} "
                f"to {scale['maximum']:g}."
            )
        given.append(KnownAnswer(round=chosen.pk, scale=scale["key"], score=value))
    return given, ""


def _mark(answer: KnownAnswer | None) -> str:
    return answer.mark.value if answer and answer.mark else ""


def _number(answer: KnownAnswer | None) -> str:
    return f"{answer.score:g}" if answer and answer.score is not None else ""
