"""Give an outcome that could not be judged to one more person; what the first one said stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F, Max

from annotation import queue
from annotation.models import Annotation, Assignment, Campaign, Item
from annotation.vocabulary import AssignmentState, CampaignState
from people import audit

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class CannotAskAgain(ValueError):
    """Raised with a sentence that says why nobody else can be asked."""


@transaction.atomic
def ask_again(annotation: Annotation, *, to: User | None, by: User) -> Assignment:
    """Make a set of the one item for somebody else and return it, free to be taken or given to `to`.

    Raises CannotAskAgain. The environment problem stays what it is: it is left out of agreement and
    counted there.
    """
    # One at a time in a campaign, so that two leads do not both ask for the same item.
    campaign = Campaign.objects.select_for_update().get(pk=annotation.assignment.campaign_id)
    item = annotation.item
    if campaign.state != CampaignState.OPEN:
        raise CannotAskAgain("This campaign is not open. Reopen it, then ask again.")
    if not annotation.problem:
        raise CannotAskAgain("This outcome is marked by now: there is no environment problem any more.")
    if _is_asked(item):
        raise CannotAskAgain(
            "Another set has this outcome and waits for its mark, so nobody else is asked yet."
        )
    current = Assignment.objects.filter(campaign=campaign, round=item.round_id)
    copy = (current.aggregate(last=Max("copy"))["last"] or 0) + 1
    added = Assignment.objects.create(
        campaign=campaign, round_id=item.round_id, copy=copy, alias=annotation.assignment.alias
    )
    Annotation.objects.create(assignment=added, item=item)
    Item.objects.filter(pk=item.pk).update(copies=F("copies") + 1)
    audit.note(by, "ask_again", f"campaign:{campaign.pk}", item=item.pk, assignment=added.pk)
    if to is not None:
        try:
            return queue.reassign(added, to=to, by=by, reason="environment problem")
        except queue.NothingGiven as nothing:
            raise CannotAskAgain(str(nothing)) from None
    return added


def _is_asked(item: Item) -> bool:
    """Whether somebody's set, or a free one, still has this item unmarked."""
    return (
        Annotation.objects.filter(item=item, mark="", score=None)
        .exclude(assignment__state=AssignmentState.EXPIRED)
        .exists()
    )
