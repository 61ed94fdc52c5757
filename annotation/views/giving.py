"""Take a set back, give it to somebody, open a submitted one again, or ask another person about an outcome."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation import queue, second_looks, submitting
from annotation.models import Annotation, Assignment
from annotation.texts import row_key
from people.roles import leads_only


@leads_only
@require_POST
def release(request: HttpRequest, campaign_id: int, assignment_id: int) -> HttpResponse:
    """Take a set back by hand: its marks stay with it, and a free one takes its place."""
    assignment = get_object_or_404(Assignment, pk=assignment_id, campaign=campaign_id)
    reason = request.POST.get("reason", "").strip()[:300] or "released by hand"
    try:
        queue.release(assignment, by=request.user, reason=reason)  # type: ignore[arg-type]  # signed in
    except queue.NothingGiven as nothing:
        messages.info(request, str(nothing))
    else:
        messages.info(
            request, f"Set {assignment.pk} is free again. What was marked in it stays and can be exported."
        )
    return _back(request, campaign_id)


@leads_only
@require_POST
def reopen(request: HttpRequest, campaign_id: int, assignment_id: int) -> HttpResponse:
    """Let the annotator of a submitted set go on with it."""
    assignment = get_object_or_404(Assignment, pk=assignment_id, campaign=campaign_id)
    try:
        again = submitting.reopen(assignment, by=request.user, reason="reopened by hand")  # type: ignore[arg-type]
    except submitting.NotPossible as why:
        messages.info(request, str(why))
    else:
        messages.info(request, f"Set {again.pk} is open again for {again.rater_name}. Every mark stays.")
    return _back(request, campaign_id)


@leads_only
@require_POST
def reassign(request: HttpRequest, campaign_id: int, assignment_id: int) -> HttpResponse:
    """Give a set to a named person, who sees it among the own sets at once."""
    assignment = get_object_or_404(Assignment, pk=assignment_id, campaign=campaign_id)
    to = _person(request)
    if to is None:
        messages.info(request, "Choose the person who is to have this set. Nothing was changed.")
        return _back(request, campaign_id)
    try:
        given = queue.reassign(assignment, to=to, by=request.user, reason="reassigned by hand")  # type: ignore[arg-type]
    except queue.NothingGiven as nothing:
        messages.info(request, str(nothing))
    else:
        messages.info(request, f"Set {given.pk} is now {to.get_username()}'s.")
    return _back(request, campaign_id)


@leads_only
@require_POST
def ask_again(request: HttpRequest, campaign_id: int, annotation_id: int) -> HttpResponse:
    """Let somebody else judge an outcome that one person could not."""
    annotation = get_object_or_404(
        Annotation.objects.select_related("assignment", "item"),
        pk=annotation_id,
        assignment__campaign=campaign_id,
    )
    to = _person(request)
    try:
        added = second_looks.ask_again(annotation, to=to, by=request.user)  # type: ignore[arg-type]  # signed in
    except second_looks.CannotAskAgain as cannot:
        messages.info(request, str(cannot))
    else:
        whose = f"{to.get_username()}'s" if to else "free to be taken"
        messages.info(request, f"Set {added.pk} holds this outcome and is {whose}.")
    return _back(request, campaign_id)


def _back(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """To the same part of the same list, without trusting an address from outside."""
    query = {name: request.POST[name] for name in ("sets", "sets_after") if request.POST.get(name)}
    place = request.POST.get("place", "")
    address = reverse("annotation:campaign", args=[campaign_id])
    return redirect(f"{address}?{urlencode(query)}#{place}" if place in ("sets", "problems") else address)


def _person(request: HttpRequest) -> User | None:
    return User.objects.filter(pk=row_key(request.POST.get("to", "")), is_active=True).first()
