"""Open a campaign after asking, close it, reopen it, or make a new draft of its design."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotation import opening, webhooks
from annotation.designing import preview, settings_of
from annotation.drafting import duplicate, lacks_of, pace
from annotation.models import Campaign
from annotation.plan_words import plan_in_words
from annotation.times import moment
from annotation.vocabulary import CampaignState
from people.roles import leads_only

CLOSED = "campaign.closed"
"""Event that other sites are told of."""


@leads_only
@require_http_methods(["GET", "HEAD", "POST"])
def open_(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Ask whether to draw the sample now, with what that makes; then do it."""
    campaign = get_object_or_404(Campaign, pk=campaign_id, is_imported=False)
    if campaign.state != CampaignState.DRAFT:
        messages.info(request, "This campaign is open already: its sample was drawn and stays.")
        return redirect(campaign)
    if lacks_of(campaign):
        return redirect(f"{reverse('annotation:edit', args=[campaign.pk])}?check=1")
    problem = ""
    if request.method == "POST":
        try:
            opening.open_campaign(campaign, by=request.user)  # type: ignore[arg-type]  # signed in, or 403 above
        except opening.CannotOpen as cannot:
            problem = str(cannot)
        else:
            messages.info(request, f"{campaign.name} is open: its sample is drawn and stays as it is.")
            return redirect(campaign)
    shown = preview(settings_of(campaign))
    context = {
        "area": "campaigns",
        "campaign": campaign,
        "people": list(campaign.annotators.order_by("username")),
        "plan": plan_in_words(shown, pace()),
        "problem": problem,
    }
    return render(request, "annotation/open_campaign.html", context, status=422 if problem else 200)


@leads_only
@require_POST
def close(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """End the marking; every mark stays, and reopening goes on from here."""
    campaign = get_object_or_404(Campaign, pk=campaign_id)
    done = f"{campaign.name} is closed. Every mark stays, and Reopen goes on from here."
    return _changed(request, campaign, _close, done)


@leads_only
@require_POST
def reopen(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Let people mark again in a closed campaign."""
    campaign = get_object_or_404(Campaign, pk=campaign_id)
    return _changed(request, campaign, opening.reopen_campaign, f"{campaign.name} is open again.")


@leads_only
@require_POST
def double(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Make a new draft with the same design."""
    campaign = get_object_or_404(Campaign, pk=campaign_id)
    made = duplicate(campaign, by=request.user)  # type: ignore[arg-type]  # signed in, or 403 above
    messages.info(request, f"This draft has the design of {campaign.name}.")
    return redirect("annotation:edit", made.pk)


@transaction.atomic
def _close(campaign: Campaign, *, by: User) -> None:
    """Close it and put the message in line: neither is there without the other."""
    opening.close_campaign(campaign, by=by)
    webhooks.announce(campaign, CLOSED, {"closed_at": moment(campaign.closed_at)})


def _changed(request: HttpRequest, campaign: Campaign, act: Callable[..., object], done: str) -> HttpResponse:
    """Change the campaign's state and go to its page, which says what was done or why it was not."""
    try:
        act(campaign, by=request.user)
    except opening.CannotOpen as cannot:
        messages.info(request, str(cannot))
    else:
        messages.info(request, done)
    return redirect(campaign)
