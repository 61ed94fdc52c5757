"""The door to agreement: campaigns whose judge can be looked at, and the two calculators."""

from __future__ import annotations

from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.blindness import blind_campaigns
from annotation.models import Campaign
from annotation.texts import row_key
from annotation.vocabulary import CampaignState
from people.roles import is_lead

CAMPAIGNS_A_PAGE = 50


@require_safe
def agreements(request: HttpRequest) -> HttpResponse:
    """List campaigns that were opened, newest first, for leads; the calculators are for everybody."""
    context: dict[str, Any] = {"area": "agreement", "is_lead": is_lead(request.user)}
    if context["is_lead"]:
        context |= _campaigns(request)
    return render(request, "annotation/agreements.html", context)


def _campaigns(request: HttpRequest) -> dict[str, Any]:
    hidden = blind_campaigns(request.user)
    before = row_key(request.GET.get("before", ""))
    matching = Campaign.objects.exclude(state=CampaignState.DRAFT)
    if before:
        matching = matching.filter(pk__lt=before)
    counted = matching.annotate(total=Count("items")).order_by("-pk")
    found = list(counted[: CAMPAIGNS_A_PAGE + 1])
    shown = found[:CAMPAIGNS_A_PAGE]
    return {
        "campaigns": [{"campaign": each, "is_hidden": each.pk in hidden} for each in shown],
        "older": f"?before={shown[-1].pk}" if len(found) > len(shown) else "",
        "newest": "?" if before else "",
    }
