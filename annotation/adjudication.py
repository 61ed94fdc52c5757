"""Settle a disagreement: a lead's mark is added to the others, and never over what another lead just said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from annotation import webhooks
from annotation.models import Adjudication, Campaign, Item
from annotation.texts import storable
from annotation.vocabulary import CampaignState, MarkSet
from benchmark.rules.vocabulary import Mark
from people import audit

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_NOTE = 4000


class BadAdjudication(ValueError):
    """Raised with a sentence that says what is wrong with the mark, the rating or the note."""


class SomebodyWasFaster(Exception):
    """Raised with what another person said meanwhile; nothing was written."""

    def __init__(self, latest: Adjudication | None) -> None:
        super().__init__("Somebody else adjudicated this item meanwhile.")
        self.latest = latest


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a lead decides, and the number of the adjudication that was last on the page (0: none)."""

    mark: Mark | None = None
    score: float | None = None
    note: str = ""
    seen: int = 0


def decision(campaign: Campaign, item: Item, *, mark: str, score: str, note: str, seen: str) -> Decision:
    """Read a form; raises BadAdjudication."""
    note = storable(note).replace("\r\n", "\n").strip()
    if len(note) > LONGEST_NOTE:
        raise BadAdjudication(f"The note has {len(note):,} characters; it takes at most {LONGEST_NOTE:,}.")
    number = int(seen) if seen.isdecimal() and len(seen) < 9 else 0
    if campaign.mark_set == MarkSet.SCALES:
        return Decision(score=_score(campaign, item, score), note=note, seen=number)
    allowed = {str(word): word for word in campaign.marks}
    if mark not in allowed:
        raise BadAdjudication(f"The mark is {mark[:20]!r}; this campaign takes {', '.join(allowed)}.")
    return Decision(mark=allowed[mark], note=note, seen=number)


def latest(item: Item) -> Adjudication | None:
    """Return the adjudication that counts, None where nobody has decided."""
    return Adjudication.objects.filter(item=item).select_related("by").order_by("-number").first()


def adjudicate(item: Item, decided: Decision, *, by: User) -> Adjudication:
    """Add an adjudication; raises SomebodyWasFaster where one was added since the page was made.

    The originals are never touched. Of two leads at once the unique number lets one win.
    """
    campaign = item.campaign
    if campaign.state == CampaignState.DRAFT:
        raise BadAdjudication("This campaign is a draft: nothing was marked yet.")
    newest = latest(item)
    if (newest.number if newest else 0) != decided.seen:
        raise SomebodyWasFaster(newest)
    try:
        with transaction.atomic():
            added = Adjudication.objects.create(
                item=item,
                number=decided.seen + 1,
                by=by,
                mark=decided.mark or "",
                score=decided.score,
                note=decided.note,
            )
            said = {
                "item": item.pk,
                "number": added.number,
                "mark": added.mark or None,
                "score": added.score,
            }
            audit.note(by, "adjudicate", f"campaign:{campaign.pk}", **said)
            webhooks.announce(campaign, "adjudicated", said | {"by": by.get_username()})
    except IntegrityError:
        raise SomebodyWasFaster(latest(item)) from None
    return added


def _score(campaign: Campaign, item: Item, text: str) -> float:
    scale = next((scale for scale in campaign.scales if scale["key"] == item.scale), None)
    low, high = (scale["minimum"], scale["maximum"]) if scale else (0.0, 100.0)
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise BadAdjudication(f"The rating is {text[:20]!r}; it takes a number from {low:g} to {high:g}.")
    return value
