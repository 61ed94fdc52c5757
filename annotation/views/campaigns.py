"""The list of campaigns, for leads."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.models import DECIDED, Annotation, Assignment, Campaign
from annotation.texts import row_key
from annotation.vocabulary import AssignmentState, CampaignState
from benchmark.display import counted
from people.roles import leads_only

CAMPAIGNS_A_PAGE = 50


@leads_only
@require_safe
def campaigns(request: HttpRequest) -> HttpResponse:
    """List campaigns, newest first; `before=N` goes on below campaign N."""
    state = request.GET.get("state", "")
    text = request.GET.get("q", "").strip()
    given = {name: value for name, value in (("state", state), ("q", text)) if value}
    matching = Campaign.objects.all()
    if state:
        matching = matching.filter(state=state)
    if text:
        matching = matching.filter(name__icontains=text)
    total = matching.count()
    before = request.GET.get("before", "")
    page = matching.filter(pk__lt=row_key(before)) if row_key(before) else matching
    found = list(_with_counts(page).select_related("created_by").order_by("-pk")[: CAMPAIGNS_A_PAGE + 1])
    shown = found[:CAMPAIGNS_A_PAGE]
    context = {
        "area": "campaigns",
        "campaigns": [_row(campaign) for campaign in shown],
        "total": counted(total, "campaign"),
        "has_any": bool(total) or Campaign.objects.exists(),
        "given": given,
        "states": [{"value": each.value, "label": each.value.capitalize()} for each in CampaignState],
        "filter_words": " and ".join(f"text “{v}”" if n == "q" else f"{n} {v}" for n, v in given.items()),
        "older": f"?{urlencode(given | {'before': str(shown[-1].pk)})}" if len(found) > len(shown) else "",
        "newest": f"?{urlencode(given)}" if before else "",
    }
    return render(request, "annotation/campaigns.html", context)


def _with_counts(campaigns: Any) -> Any:
    """Count marks in subqueries, one a campaign: joins would count each mark once for each person."""
    rows = (
        Annotation.objects.filter(assignment__campaign=OuterRef("pk"))
        .exclude(assignment__state=AssignmentState.EXPIRED)
        .order_by()
        .values("assignment__campaign")
    )
    raters = (
        Assignment.objects.filter(campaign=OuterRef("pk")).exclude(rater="").order_by().values("campaign")
    )
    return campaigns.annotate(
        people=Count("annotators", distinct=True),
        raters=Subquery(raters.annotate(n=Count("rater", distinct=True)).values("n")),
        total=Subquery(rows.annotate(n=Count("pk")).values("n")),
        decided=Subquery(rows.annotate(n=Count("pk", filter=DECIDED)).values("n")),
    )


def _row(campaign: Any) -> dict[str, Any]:
    total, decided = campaign.total or 0, campaign.decided or 0
    return {
        "campaign": campaign,
        "total": total,
        "decided": decided,
        "width": round(100 * decided / total, 1) if total else 0,
        "people": counted(campaign.people + (campaign.raters or 0), "person", "people"),
        "is_draft": campaign.state == CampaignState.DRAFT,
    }
