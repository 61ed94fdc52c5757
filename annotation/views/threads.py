"""Threads of a campaign for its leads: what annotators ask, what leads say among themselves."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation import comments
from annotation.blindness import require_not_blind
from annotation.models import Campaign, Comment, Item
from annotation.texts import row_key
from people.roles import leads_only

THREADS_A_PAGE = 30


@leads_only
@require_safe
def threads(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """List threads, newest first; `before=N` goes on below the thread that comment N began."""
    return _page(request, _campaign(request, campaign_id))


@leads_only
@require_POST
def answer(request: HttpRequest, campaign_id: int, comment_id: int) -> HttpResponse:
    """Answer in a thread, or settle it."""
    campaign = _campaign(request, campaign_id)
    root = get_object_or_404(Comment, pk=comment_id, campaign=campaign, parent=None)
    if "settle" in request.POST:
        comments.settle(root)
        messages.info(request, "Settled. The thread stays readable.")
    else:
        text = request.POST.get("text", "")
        try:
            comments.answer(root, by=request.user, text=text)  # type: ignore[arg-type]  # signed in
        except comments.BadComment as bad:
            return _page(request, campaign, failed={"thread": root.pk, "text": text, "problem": str(bad)})
    return redirect(_back(request, campaign, root.item_id))


@leads_only
@require_POST
def comment(request: HttpRequest, campaign_id: int, item_id: int) -> HttpResponse:
    """Begin a thread among the leads about an item."""
    campaign = _campaign(request, campaign_id)
    item = get_object_or_404(Item.objects.select_related("campaign"), pk=item_id, campaign=campaign)
    try:
        comments.add_among_leads(item, by=request.user, text=request.POST.get("text", ""))  # type: ignore[arg-type]
    except comments.BadComment as bad:
        messages.info(request, f"{bad} Nothing was added.")
    return redirect(_back(request, campaign, item.pk))


def _campaign(request: HttpRequest, campaign_id: int) -> Campaign:
    campaign = get_object_or_404(Campaign, pk=campaign_id)
    require_not_blind(request.user, campaign)
    return campaign


def _back(request: HttpRequest, campaign: Campaign, item: int) -> str:
    if request.POST.get("from") == "disagreements":
        filters = {
            name: request.POST[name]
            for name in ("between", "settled", "task", "after")
            if request.POST.get(name)
        }
        address = reverse("annotation:disagreements", args=[campaign.pk])
        return f"{address}?{urlencode(filters | {'item': str(item)})}#threads"
    return reverse("annotation:threads", args=[campaign.pk])


def _page(request: HttpRequest, campaign: Campaign, *, failed: dict[str, Any] | None = None) -> HttpResponse:
    state = request.GET.get("state", "")
    before = request.GET.get("before", "")
    roots = Comment.objects.filter(campaign=campaign, parent=None)
    if state != "all":
        roots = roots.filter(settled_at=None)
    if row_key(before):
        roots = roots.filter(pk__lt=row_key(before))
    found = list(roots.order_by("-pk")[: THREADS_A_PAGE + 1])
    shown = found[:THREADS_A_PAGE]
    ids = [root.pk for root in shown]
    rows = (Comment.objects.filter(pk__in=ids) | Comment.objects.filter(parent__in=ids)).select_related(
        "author", "assignment__annotator", "item__outcome__criterion", "item__round__trial__task"
    )
    listed = sorted(comments.threads(rows.order_by("pk")), key=lambda each: -each.root.pk)
    query = {"state": state} if state == "all" else {}
    context = {
        "area": "campaigns",
        "campaign": campaign,
        "threads": listed,
        "state": state,
        "failed": failed,
        "older": f"?{urlencode(query | {'before': str(shown[-1].pk)})}" if len(found) > len(shown) else "",
        "is_later": bool(before),
    }
    return render(request, "annotation/threads.html", context, status=422 if failed else 200)
