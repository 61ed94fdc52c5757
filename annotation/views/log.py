"""The log of a campaign for its leads: who did what to it and to its sets, newest first."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import CharField, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.blindness import require_not_blind
from annotation.models import Assignment, Campaign
from annotation.texts import row_key
from people.models import AuditEntry
from people.roles import leads_only

ENTRIES_A_PAGE = 100
LONGEST_DETAIL = 300


@leads_only
@require_safe
def log(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """List entries, newest first; `before=N` goes on below entry N."""
    campaign = get_object_or_404(Campaign, pk=campaign_id)
    # An entry may name marks: those that an adjudication settled on.
    require_not_blind(request.user, campaign)
    before = row_key(request.GET.get("before", ""))
    entries = _entries(campaign)
    if before:
        entries = entries.filter(pk__lt=before)
    found = list(entries.order_by("-pk")[: ENTRIES_A_PAGE + 1])
    shown = found[:ENTRIES_A_PAGE]
    context = {
        "area": "campaigns",
        "campaign": campaign,
        "rows": [_row(entry) for entry in shown],
        "older": f"?before={shown[-1].pk}" if len(found) > len(shown) else "",
        "is_later": bool(before),
    }
    return render(request, "annotation/campaign_log.html", context)


def _entries(campaign: Campaign) -> QuerySet[AuditEntry]:
    """What was done to the campaign, and to any set that it has."""
    sets = Assignment.objects.filter(campaign=campaign).order_by()
    subjects = sets.annotate(subject=Concat(Value("assignment:"), Cast("pk", CharField())))
    return AuditEntry.objects.filter(
        Q(subject=f"campaign:{campaign.pk}") | Q(subject__in=subjects.values("subject"))
    )


def _row(entry: AuditEntry) -> dict[str, Any]:
    kind, _, key = entry.subject.partition(":")
    return {
        "entry": entry,
        "act": entry.act.replace("_", " "),
        "subject": f"set {key}" if kind == "assignment" else "campaign",
        "details": [
            {"name": name.replace("_", " "), "value": _said(value)}
            for name, value in entry.details.items()
            # The page is of one campaign, so its number says nothing.
            if name != "campaign" and value not in ("", None)
        ],
    }


def _said(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_DETAIL else f"{text[:LONGEST_DETAIL]}…"
