"""A person's sets: what to go on with, what was handed in, and what was given to somebody else."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation import queue
from annotation.models import Assignment, Campaign
from annotation.own_sets import waiting_for
from people.roles import is_lead

MOST_DONE = 50


@require_safe
def assignments(request: HttpRequest) -> HttpResponse:
    """Show the sets of whoever looks, and where the next one can be taken."""
    context: dict[str, Any] = {
        "area": "annotation",
        "waiting": waiting_for(request.user, now=timezone.now()),
        "is_lead": is_lead(request.user),
        "most_done": MOST_DONE,
    }
    return render(request, "annotation/assignments.html", context)


@require_POST
def take(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Take the next set of a campaign, or say why there is none; never one that somebody else has."""
    campaign = get_object_or_404(Campaign, pk=campaign_id, annotators=request.user.pk)
    try:
        taken = queue.take_next(campaign, request.user)  # type: ignore[arg-type]  # signed in, or 404 above
    except queue.NothingGiven as nothing:
        messages.info(request, str(nothing))
        return redirect("annotation:assignments")
    return redirect(taken)


@require_POST
def take_back(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """Go on with a set that ran out, while nobody else has it."""
    assignment = get_object_or_404(Assignment, pk=assignment_id, annotator=request.user.pk)
    try:
        mine = queue.take_back(assignment, request.user)  # type: ignore[arg-type]  # signed in, or 404 above
    except queue.NothingGiven as nothing:
        messages.info(request, str(nothing))
        return redirect("annotation:assignments")
    return redirect(mine)
