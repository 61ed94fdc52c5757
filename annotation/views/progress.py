"""How a campaign goes: people, projects, sets that stand still, environment problems, reveals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.blindness import blind_campaigns
from annotation.calibration import Drift
from annotation.campaign_progress import (
    CampaignProgress,
    Tally,
    idle_sets,
    idle_since,
    last_sign,
    progress_of_campaign,
)
from annotation.comments import waiting_for_leads
from annotation.models import Assignment, Campaign, Item
from annotation.models.work import NOT_EXPIRED
from annotation.pairing import Between, Settled, disagreements
from annotation.progress import NOTHING, progress_by_assignment
from annotation.texts import row_key
from annotation.views.troubles import problems_of, reveals_of
from annotation.vocabulary import AssignmentState, CampaignState
from benchmark.display import UNDEFINED, duration, points, signed_points, whole
from benchmark.models import Task
from people.roles import leads_only

ROWS_A_PAGE = 50
EXPORTS = (
    ("results", "Result files"),
    ("csv", "CSV"),
    ("jsonl", "JSON lines, with history"),
)


@leads_only
@require_safe
def campaign(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show how far a campaign is, and what keeps it."""
    shown = get_object_or_404(Campaign.objects.select_related("created_by"), pk=campaign_id)
    if shown.state == CampaignState.DRAFT:
        return redirect("annotation:edit", shown.pk)
    now = timezone.now()
    far = progress_of_campaign(shown)
    is_blind_here = shown.pk in blind_campaigns(request.user)
    people = {user.pk: user for user in User.objects.filter(pk__in=far.people)}
    invited = list(shown.annotators.order_by("username"))
    people |= {user.pk: user for user in invited}
    idle = idle_sets(shown, now=now).count()
    context = {
        "area": "campaigns",
        "campaign": shown,
        "is_blind_here": is_blind_here,
        "stats": _stats(far, idle=idle),
        "width": round(100 * far.all.decided / far.all.total, 2) if far.all.total else 0,
        "people": _people(people, far, with_drift=not is_blind_here),
        "has_calibration": Item.objects.filter(
            ~Q(known_mark="") | Q(known_score__isnull=False), campaign=shown
        ).exists(),
        "projects": _projects(request, far),
        "sets": _sets(request, shown, far, idle=idle, invited=invited),
        "sets_at_work": far.sets["open"],
        # Where everything gets as many people, a share would say nothing.
        "overlap_share": f"{shown.overlap_share * 100:g}%" if shown.overlap > 1 > shown.overlap_share else "",
        "invited": invited,
        "problems": problems_of(shown),
        "reveals": reveals_of(shown),
        "exports": _exports(shown),
        "open_disagreements": 0
        if is_blind_here
        else disagreements(shown, between=Between.PEOPLE, settled=Settled.OPEN).count(),
        "waiting_threads": 0 if is_blind_here else waiting_for_leads(shown),
        "guideline": shown.guidelines.order_by("-version").first(),
    }
    return render(request, "annotation/campaign.html", context)


def _stats(far: CampaignProgress, *, idle: int) -> list[dict[str, str]]:
    every = far.all
    left = every.open * (every.median_seconds or 0)
    sets = far.sets
    return [
        {
            "label": "Marked",
            "value": whole(every.decided),
            "of": f"of {whole(every.total)}",
            "under": f"{points(every.decided / every.total)}% of all marks"
            if every.total
            else "nothing was drawn",
        },
        {
            "label": "Sets submitted",
            "value": whole(sets["submitted"]),
            "of": f"of {whole(sets['submitted'] + sets['open'] + sets['given'] + sets['free'])}",
            "under": f"{whole(sets['free'])} free, "
            + (f"{whole(sets['given'])} given out, " if sets["given"] else "")
            + f"{whole(sets['open'])} at work"
            + (f", {idle} without a sign" if idle else ""),
        },
        {
            "label": "Median time",
            "value": duration(every.median_seconds) if every.median_seconds is not None else UNDEFINED,
            "of": "",
            "under": f"for one mark, n {whole(len(every.times))}"
            if every.times
            else "no time at work is known yet",
        },
        {
            "label": "Time left",
            "value": duration(left) if left else UNDEFINED if every.open else duration(0),
            "of": "",
            "under": "of people's work, at the median"
            if left
            else "nothing is open"
            if not every.open
            else "no median yet",
        },
        {
            "label": "Environment problems",
            "value": whole(every.problems),
            "of": "",
            "under": "left out of agreement, counted there",
        },
    ]


def _people(people: dict[int, User], far: CampaignProgress, *, with_drift: bool) -> list[dict[str, Any]]:
    rows = [
        _person_row(user.get_username(), far.people.get(pk, Tally()))
        | {"drift": _drift(far.drifts.get(pk)) if with_drift else None}
        for pk, user in people.items()
    ]
    # Who marked elsewhere was never seen here: the time of those marks is of their file.
    rows += [
        _person_row(name, tally) | {"drift": None, "seen_at": None} for name, tally in far.elsewhere.items()
    ]
    return sorted(rows, key=lambda row: row["name"].lower())


def _person_row(name: str, tally: Tally) -> dict[str, Any]:
    return {"name": name, "seen_at": tally.seen_at} | _counts(tally)


def _counts(tally: Tally) -> dict[str, Any]:
    return {
        "decided": whole(tally.decided),
        "total": whole(tally.total),
        "width": round(100 * tally.decided / tally.total, 2) if tally.total else 0,
        "words": f"{tally.decided} of {tally.total} marked",
        "problems": tally.problems,
        "median": duration(tally.median_seconds) if tally.median_seconds is not None else UNDEFINED,
    }


def _drift(drift: Drift | None) -> dict[str, str] | None:
    """Shares right early and late with their n; a drop is named in words, never by colour alone."""
    if drift is None or not drift.early_n:
        return None
    change = drift.change
    return {
        "early": f"{drift.early_right} of {drift.early_n}",
        "late": f"{drift.late_right} of {drift.late_n}" if drift.late_n else UNDEFINED,
        "change": "" if change is None else f"{signed_points(change)} points",
        "is_drop": "yes" if change is not None and change < 0 else "",
    }


def _projects(request: HttpRequest, far: CampaignProgress) -> dict[str, Any]:
    """Projects in the order of their benchmark, a page at a time, by the key of the last one."""
    after = _key(request, "projects_after")
    found = list(Task.objects.filter(pk__in=far.projects, pk__gt=after).order_by("pk")[: ROWS_A_PAGE + 1])
    shown = found[:ROWS_A_PAGE]
    return {
        "rows": [{"task": task} | _counts(far.projects[task.pk]) for task in shown],
        "total": len(far.projects),
        "next": f"?projects_after={shown[-1].pk}#projects" if len(found) > len(shown) else "",
        "is_later": bool(after),
    }


def _sets(
    request: HttpRequest, shown: Campaign, far: CampaignProgress, *, idle: int, invited: Sequence[User]
) -> dict[str, Any]:
    """Sets of one state, a page at a time, by the key of the last one; those without a sign first of all."""
    counts = {**far.sets, "idle": idle}
    wanted = request.GET.get("sets", "")
    if wanted not in counts:
        wanted = (
            "idle"
            if idle
            else "open"
            if counts["open"]
            else "given"
            if counts["given"]
            else "free"
            if counts["free"]
            else "submitted"
        )
    after = _key(request, "sets_after")
    page = _of_state(shown, wanted).filter(pk__gt=after)
    found = list(
        page.select_related("annotator", "campaign", "round__trial__task").order_by("pk")[: ROWS_A_PAGE + 1]
    )
    rows = found[:ROWS_A_PAGE]
    progress = progress_by_assignment([row.pk for row in rows])
    busy = _people_by_round(shown, {row.round_id for row in rows})
    until = idle_since(shown, now=timezone.now())
    return {
        "rows": [
            {
                "assignment": row,
                "task": row.round.trial.task,
                "progress": progress.get(row.pk, NOTHING),
                "seen_at": last_sign(row),
                "is_idle": wanted in ("idle", "open")
                and row.lease_until is not None
                and row.lease_until < until,
                "is_run_out": row.lease_until is not None and row.lease_until < timezone.now(),
                "can_release": row.state == AssignmentState.OPEN and row.annotator_id is not None,
                "can_reopen": row.state == AssignmentState.SUBMITTED and row.annotator_id is not None,
                # Nobody marks a round twice, so who has a copy of it (this one too) is not offered.
                "may_have": [person for person in invited if person.pk not in busy[row.round_id]],
                "can_reassign": row.state == AssignmentState.OPEN and not row.rater,
            }
            for row in rows
        ],
        "state": wanted,
        "after": request.GET.get("sets_after", ""),
        "tabs": [
            {"value": value, "label": label, "count": whole(counts[value]), "is_current": value == wanted}
            for value, label in _SET_TABS
        ],
        "next": f"?{urlencode({'sets': wanted, 'sets_after': rows[-1].pk})}#sets"
        if len(found) > len(rows)
        else "",
        "is_later": bool(after),
    }


def _people_by_round(shown: Campaign, rounds: Collection[int]) -> Mapping[int, Collection[int | None]]:
    """Who has a copy of each round now."""
    people: dict[int, set[int | None]] = defaultdict(set)
    held = Assignment.objects.filter(NOT_EXPIRED, campaign=shown, round__in=rounds, annotator__isnull=False)
    for round_, annotator in held.order_by().values_list("round_id", "annotator_id"):
        people[round_].add(annotator)
    return people


def _of_state(shown: Campaign, state: str) -> QuerySet[Assignment]:
    if state == "idle":
        return idle_sets(shown, now=timezone.now())
    sets = Assignment.objects.filter(campaign=shown)
    if state == "free":
        return sets.filter(state=AssignmentState.OPEN, annotator=None)
    if state in ("open", "given"):
        held = sets.filter(state=AssignmentState.OPEN, annotator__isnull=False)
        return held.filter(taken_at__isnull=state == "given")
    return sets.filter(state=state)


def _exports(shown: Campaign) -> list[dict[str, str]]:
    """Where the campaign's files are."""
    return [
        {"label": label, "href": reverse("annotation:export_campaign", args=[shown.pk, kind])}
        for kind, label in EXPORTS
    ]


def _key(request: HttpRequest, name: str) -> int:
    return row_key(request.GET.get(name, ""))


_SET_TABS = (
    ("idle", "Without a sign"),
    ("open", "At work"),
    ("given", "Given out"),
    ("free", "Free"),
    ("submitted", "Submitted"),
    ("expired", "Taken back"),
)
