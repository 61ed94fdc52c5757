"""Where marks differ: side by side, and settled by a mark that is added to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation import adjudication, comments
from annotation.blindness import require_not_blind
from annotation.models import Adjudication, Campaign, Item
from annotation.pairing import Between, Settled, marks_on, raters
from annotation.pairing import disagreements as differing
from annotation.texts import row_key
from annotation.vocabulary import CampaignState, MarkSet
from benchmark.display import whole
from benchmark.models import Task
from people.roles import leads_only
from runs.models import Verdict
from runs.pages.evidence import OutcomeEvidence, outcome_evidence

ITEMS_A_PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What the list is narrowed to, and where in it the reader is."""

    between: Between
    settled: Settled
    task: str
    after: int
    item: int

    def query(self, **changed: str | int) -> str:
        """The address of the same list with something changed."""
        values = {
            "between": self.between if self.between is not Between.PEOPLE else "",
            "settled": self.settled if self.settled is not Settled.OPEN else "",
            "task": self.task,
            "after": self.after or "",
            "item": self.item or "",
        } | changed
        return "?" + urlencode({name: value for name, value in values.items() if value != ""})


@leads_only
@require_safe
def disagreements(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """List the items on which marks differ, one of them side by side."""
    campaign = _campaign(request, campaign_id)
    return _page(request, campaign, _filters(request.GET))


@leads_only
@require_POST
def adjudicate(request: HttpRequest, campaign_id: int, item_id: int) -> HttpResponse:
    """Add a mark to an item; where another lead was faster, show that one's and ask whether to add ours."""
    campaign = _campaign(request, campaign_id)
    item = get_object_or_404(Item.objects.select_related("campaign"), pk=item_id, campaign=campaign)
    filters = _filters(request.POST, item=item.pk)
    given = {name: request.POST.get(name, "") for name in ("mark", "score", "note")}
    try:
        decided = adjudication.decision(campaign, item, **given, seen=request.POST.get("seen", ""))
        adjudication.adjudicate(item, decided, by=request.user)  # type: ignore[arg-type]  # signed in
    except adjudication.BadAdjudication as bad:
        return _page(request, campaign, filters, given=given, problem=str(bad), status=422)
    except adjudication.SomebodyWasFaster as faster:
        return _page(request, campaign, filters, given=given, faster=faster.latest, status=409)
    messages.info(request, "Added. The marks of the others stay as they are.")
    address = reverse("annotation:disagreements", args=[campaign.pk])
    return redirect(f"{address}{filters.query()}")


def _campaign(request: HttpRequest, campaign_id: int) -> Campaign:
    campaign = get_object_or_404(Campaign.objects.exclude(state=CampaignState.DRAFT), pk=campaign_id)
    require_not_blind(request.user, campaign)
    return campaign


def _filters(values: Any, *, item: int = 0) -> Filters:
    between, settled = values.get("between", ""), values.get("settled", "")
    return Filters(
        between=Between(between) if between in set(Between) else Between.PEOPLE,
        settled=Settled(settled) if settled in set(Settled) else Settled.OPEN,
        task=values.get("task", "")[:64],
        after=row_key(values.get("after", "")),
        item=item or row_key(values.get("item", "")),
    )


def _page(
    request: HttpRequest,
    campaign: Campaign,
    filters: Filters,
    *,
    given: dict[str, str] | None = None,
    problem: str = "",
    faster: Adjudication | None = None,
    status: int = 200,
) -> HttpResponse:
    matching = differing(campaign, between=filters.between, settled=filters.settled, task=filters.task)
    related = matching.select_related("outcome__criterion", "round__trial__task", "round__trial__run")
    found = list(related.filter(pk__gt=filters.after)[: ITEMS_A_PAGE + 1])
    listed = found[:ITEMS_A_PAGE]
    current = _current(campaign, filters, listed)
    # The one that was just settled leaves the list of open ones, but stays before the reader's eyes.
    following = next((item for item in listed if current is None or item.pk > current.pk), None)
    context = {
        "area": "campaigns",
        "campaign": campaign,
        "filters": filters,
        "total": whole(matching.count()),
        "rows": _rows(filters, listed, current),
        "next_page": filters.query(after=listed[-1].pk, item="") if len(found) > len(listed) else "",
        "first_page": filters.query(after="", item="") if filters.after else "",
        "current": _side_by_side(request, campaign, current, faster=faster) if current is not None else None,
        "following": filters.query(item=following.pk) if following is not None else "",
        "betweens": _choices(Between, filters.between, "between", filters, _BETWEEN_WORDS),
        "settleds": _choices(Settled, filters.settled, "settled", filters, _SETTLED_WORDS),
        "tasks": Task.objects.filter(
            pk__in=Item.objects.filter(campaign=campaign).values("round__trial__task")
        ).order_by("key"),
        "given": given or {"mark": "", "score": "", "note": ""},
        "problem": problem,
        "faster": faster,
        "marks": [mark.value for mark in reversed(campaign.marks)],
        "is_rated": campaign.mark_set == MarkSet.SCALES,
    }
    return render(request, "annotation/disagreements.html", context, status=status)


def _current(campaign: Campaign, filters: Filters, listed: list[Item]) -> Item | None:
    """The item asked for, whether or not it is still in the list; else the first of the list."""
    if not filters.item:
        return listed[0] if listed else None
    of = Item.objects.select_related("outcome__criterion", "round__trial__task", "round__trial__run")
    return get_object_or_404(of, pk=filters.item, campaign=campaign)


def _rows(filters: Filters, listed: list[Item], current: Item | None) -> list[dict[str, Any]]:
    marks = marks_on(listed)
    return [
        {
            "item": item,
            "href": filters.query(item=item.pk),
            "is_current": current is not None and item.pk == current.pk,
            # In the order of the marks: the place in the row names nobody.
            "looks": sorted(annotation.mark for annotation in marks[item.pk] if annotation.mark),
            "scores": [f"{s:g}" for s in sorted(a.score for a in marks[item.pk] if a.score is not None)],
        }
        for item in listed
    ]


def _side_by_side(
    request: HttpRequest, campaign: Campaign, item: Item, *, faster: Adjudication | None
) -> dict[str, Any]:
    """An item with every mark on it; names and the judge only once whoever looks has decided, where it is blind."""
    added = list(Adjudication.objects.filter(item=item).select_related("by").order_by("number"))
    is_blind = campaign.is_blind and not any(each.by_id == request.user.pk for each in added)
    marked = raters(item, marks_on([item])[item.pk], with_names=not is_blind)
    verdict = _verdict(item)
    evidence = outcome_evidence(list(verdict.evidence.all())) if verdict is not None else OutcomeEvidence()
    scale = next((scale for scale in campaign.scales if scale["key"] == item.scale), None)
    return {
        "item": item,
        "text": item.outcome.text if item.outcome else scale["definition"] if scale else item.scale,
        "scale": scale,
        "task": item.round.trial.task,
        "round": item.round,
        "is_blind": is_blind,
        "raters": marked,
        "rated_it": any(each.annotation.assignment.annotator_id == request.user.pk for each in marked),
        "verdict": None if is_blind else verdict,
        "judge_look": "" if is_blind else item.judge_mark,
        # A screenshot shows the application, not what the judge thought of it: where it looked is left out.
        "shots": evidence.pictures if is_blind else (),
        "evidence": None if is_blind else evidence,
        "adjudications": added if not is_blind else [],
        "decided_by_others": len(added) if is_blind else 0,
        # Only what is on the page counts as seen: a blind adjudicator is told of an earlier mark afterwards.
        "seen": faster.number if faster else added[-1].number if added and not is_blind else 0,
        "threads": comments.threads(comments.of_items([item])) if not is_blind else (),
        "hidden_threads": comments.of_items([item]).count() if is_blind else 0,
        "known": item.known_mark,
    }


def _verdict(item: Item) -> Verdict | None:
    """What the judge said of the outcome; None for ratings, and where it was not judged."""
    if item.outcome_id is None:
        return None
    return (
        Verdict.objects.filter(
            judging__round=item.round_id, judging__is_primary=True, outcome=item.outcome_id
        )
        .select_related("judging")
        .prefetch_related("evidence")
        # Of a judge's and a refuter's verdict the later one is final.
        .order_by("-pk")
        .first()
    )


def _choices(
    words: Any, current: Any, name: str, filters: Filters, labels: dict[Any, str]
) -> list[dict[str, Any]]:
    return [
        {
            "label": labels[word],
            "href": filters.query(**{name: word.value, "after": "", "item": ""}),
            "is_current": word is current,
        }
        for word in words
    ]


_BETWEEN_WORDS = {Between.PEOPLE: "Between people", Between.JUDGE: "People and judge"}
_SETTLED_WORDS = {Settled.OPEN: "Open", Settled.SETTLED: "Settled", Settled.ANY: "All"}
