"""Blindness: what a person may not see while a blind set is open, and the act of looking all the same.

A person is blind to a campaign while a blind set of it is open in that person's name, or free for that
person to take. Then every run of the campaign is hidden: by exclusion, one shown run would name the agent
of another. A reveal is written down; it holds for the person and the campaign from then on.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign
from annotation.vocabulary import AssignmentState, CampaignState
from people import audit, hiding
from people.hiding import Hiding, RunHidden
from people.roles import ASSIGNMENTS, Refused

if TYPE_CHECKING:
    from django.db.models import QuerySet

MOST_REASON = 1000


class CannotReveal(ValueError):
    """Raised with a sentence that says why there is nothing to reveal, or what is missing."""


class StillBlind(Refused):
    """Raised where somebody asks for what blindness hides from that person."""


def reveal(assignment: Assignment, *, by: User, reason: str) -> datetime:
    """Show a person what blindness hides, and write down that it was done; answers since when.

    It concerns every open set that the person has in this campaign, because its runs are shown as a whole.
    Raises CannotReveal without a reason, and for a set that is not blind, not open or nobody's.
    """
    reason = reason.strip()
    if not reason:
        raise CannotReveal("Say why you look: the reason is kept with the reveal.")
    if assignment.annotator_id is None:
        raise CannotReveal("Nobody has this set, so there is nobody to reveal anything to.")
    with transaction.atomic():
        # Read again under the transaction: of two tabs that reveal at once, one writes it down.
        fresh = (
            Assignment.objects.select_for_update(of=("self",))
            .select_related("campaign")
            .get(pk=assignment.pk)
        )
        if not fresh.campaign.is_blind:
            raise CannotReveal("This campaign is not blind: nothing is hidden from its annotators.")
        if fresh.state != AssignmentState.OPEN:
            raise CannotReveal("This set is no longer open, so blindness hides nothing any more.")
        if fresh.revealed_at is None:
            now = timezone.now()
            concerned = _open_blind_sets(assignment.annotator_id).filter(
                Q(campaign=fresh.campaign_id) | Q(round=fresh.round_id)
            )
            sets = sorted(concerned.values_list("pk", flat=True))
            Assignment.objects.filter(pk__in=sets).update(revealed_at=now)
            audit.note(
                by,
                "reveal",
                f"assignment:{fresh.pk}",
                campaign=fresh.campaign_id,
                annotator=assignment.annotator_id,
                assignments=sets,
                reason=reason[:MOST_REASON],
            )
            fresh.revealed_at = now
    assignment.revealed_at = fresh.revealed_at
    hiding.forget(by)
    assert fresh.revealed_at is not None
    return fresh.revealed_at


def hides_something(assignment: Assignment) -> bool:
    """Whether the set is open and blind, so that there is something to reveal."""
    return (
        assignment.campaign.is_blind
        and assignment.annotator_id is not None
        and assignment.state == AssignmentState.OPEN
        and assignment.revealed_at is None
    )


def revealed_since(assignment: Assignment, annotator_id: int) -> datetime | None:
    """Return since when a person has seen what a set hides: its campaign, or its round in another one.

    A set that such a person takes later is revealed from the beginning. None for everybody else.
    """
    seen = Assignment.objects.filter(
        Q(campaign=assignment.campaign_id) | Q(round=assignment.round_id),
        annotator=annotator_id,
        revealed_at__isnull=False,
    ).order_by("revealed_at")
    return seen.values_list("revealed_at", flat=True).first()


def blind_campaigns(user: User | AnonymousUser) -> frozenset[int]:
    """Return the campaigns whose judge marks, peers and agents are hidden from a person now.

    Among them are other campaigns on a hidden run: their pages would tell of it as well.
    """
    hidden = hiding.hidden_runs(user)
    if not hidden:
        return frozenset()
    on_hidden = Campaign.runs.through.objects.filter(run__in=sorted(hidden))
    return frozenset(on_hidden.values_list("campaign_id", flat=True))


def require_not_blind(user: User | AnonymousUser, campaign: Campaign) -> None:
    """Raise StillBlind where a page would show a person what the campaign hides from that person."""
    if not user.is_authenticated or campaign.pk not in blind_campaigns(user):
        return
    refusal = _refusal(
        user, list(_blind_to(user).filter(runs__in=campaign.runs.all()).values_list("pk", flat=True))
    )
    raise StillBlind(
        f"Marks of the judge and of others in {campaign.name} are hidden from you: {refusal['why']}",
        way_on=refusal["way_on"],
        way_on_words=refusal["way_on_words"],
    )


def runs_hidden_from(user: User) -> frozenset[int]:
    """Return the runs that a person may not see while blind, in two queries at most.

    Asked with every page, and most people are on no campaign: for them the first, short one is all.
    """
    if not _may_be_blind(user):
        return frozenset()
    of_campaigns = Campaign.runs.through.objects.filter(campaign__in=_blind_to(user))
    return frozenset(of_campaigns.values_list("run_id", flat=True))


def refusal_of_run(user: User, run_id: int) -> RunHidden:
    """Return what to raise for a hidden run: the reason and the way out."""
    campaigns = _blind_to(user).filter(runs=run_id).values_list("pk", flat=True)
    refusal = _refusal(user, list(campaigns))
    return RunHidden(
        f"Run {run_id} is hidden from you: {refusal['why']}",
        way_on=refusal["way_on"],
        way_on_words=refusal["way_on_words"],
    )


def hide_runs_of_blind_campaigns() -> None:
    """Tell the layers below what to hide; called when the site starts."""
    hiding.add_hiding("blindness", Hiding(runs_of=runs_hidden_from, refusal=refusal_of_run))


def _blind_to(user: User) -> QuerySet[Campaign]:
    mine = _open_blind_sets(user.pk).filter(campaign=OuterRef("pk"))
    of_person = Assignment.objects.filter(campaign=OuterRef("pk"), annotator=user.pk)
    same_round = Assignment.objects.filter(
        campaign=OuterRef("campaign"), round=OuterRef("round"), annotator=user.pk
    ).exclude(state=AssignmentState.EXPIRED)
    # The same round is never marked twice by one person, so its other copies cannot be taken.
    free = Assignment.objects.filter(
        ~Exists(same_round), campaign=OuterRef("pk"), annotator=None, rater="", state=AssignmentState.OPEN
    )
    may_take = Exists(
        Campaign.annotators.through.objects.filter(campaign=OuterRef("pk"), user=user.pk)
    ) & Exists(free)
    return Campaign.objects.filter(
        Exists(mine) | (may_take & ~Exists(of_person.filter(revealed_at__isnull=False))),
        state=CampaignState.OPEN,
        is_blind=True,
    ).order_by("pk")


def _may_be_blind(user: User) -> bool:
    """Whether a person is on any campaign, or has any set: nobody else is blind to anything."""
    on_lists = Campaign.annotators.through.objects.filter(user=user.pk)
    with_sets = Assignment.objects.filter(annotator=user.pk).order_by()
    return on_lists.values("pk").union(with_sets.values("pk"), all=True).exists()


def _open_blind_sets(annotator_id: int) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        annotator=annotator_id,
        state=AssignmentState.OPEN,
        revealed_at=None,
        campaign__is_blind=True,
        campaign__state=CampaignState.OPEN,
    )


def _refusal(user: User, campaigns: Collection[int]) -> dict[str, Any]:
    mine = (
        _open_blind_sets(user.pk)
        .filter(campaign__in=campaigns)
        .values("pk", "alias", name=F("campaign__name"))
    )
    found = mine.order_by("pk").first()
    if found is None:
        return {
            "why": "a blind campaign still has sets that you may take. Mark them, or ask its lead to take you "
            "off the list of annotators.",
            "way_on": ASSIGNMENTS,
            "way_on_words": "Open your assignments",
        }
    return {
        "why": f"your set {found['alias']} of {found['name']} is blind and open. Submit it, or reveal what it "
        "hides; a reveal is written down.",
        "way_on": reverse("annotation:reveal", args=[found["pk"]]),
        "way_on_words": "Reveal, with a reason",
    }
