"""Open a campaign: draw its sample once, make its sets, give them out; and close it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation import assigning, guidelines
from annotation.designing import Design, PlannedItem, design, settings_of
from annotation.models import Annotation, Assignment, Campaign, Item
from annotation.sampling import seeded
from annotation.vocabulary import CampaignState, Distribution
from people import audit

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class CannotOpen(ValueError):
    """Raised with a sentence that says what stands against opening, closing or changing a campaign."""


def open_campaign(campaign: Campaign, *, by: User | None) -> Campaign:
    """Draw the sample, make every set and give them out where that is planned; all or nothing.

    Raises CannotOpen. The same settings and seed make the same sets, in the same order.
    """
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if locked.state != CampaignState.DRAFT:
            raise CannotOpen(f"The campaign {locked.name!r} was opened already; its sample stays as it is.")
        laid_out = design(settings_of(locked))
        if laid_out.problems:
            raise CannotOpen(" ".join(laid_out.problems))
        items = _store_items(locked, laid_out)
        _store_sets(locked, laid_out, items)
        if guidelines.current(locked) is None:
            guidelines.write(locked, guidelines.CONVENTIONS, by=by)
        Campaign.objects.filter(pk=locked.pk).update(state=CampaignState.OPEN, opened_at=timezone.now())
        audit.note(by, "open", f"campaign:{locked.pk}", items=len(items), seed=locked.seed)
    campaign.refresh_from_db()
    return campaign


def close_campaign(campaign: Campaign, *, by: User | None) -> Campaign:
    """End a campaign: nothing is given out and nothing saved from now on. Raises CannotOpen."""
    with transaction.atomic():
        closed = Campaign.objects.filter(pk=campaign.pk, state=CampaignState.OPEN).update(
            state=CampaignState.CLOSED, closed_at=timezone.now()
        )
        if not closed:
            raise CannotOpen("Only an open campaign can be closed.")
        audit.note(by, "close", f"campaign:{campaign.pk}")
    campaign.refresh_from_db()
    return campaign


def reopen_campaign(campaign: Campaign, *, by: User | None) -> Campaign:
    """Let work on a closed campaign go on. Raises CannotOpen."""
    with transaction.atomic():
        opened = Campaign.objects.filter(pk=campaign.pk, state=CampaignState.CLOSED).update(
            state=CampaignState.OPEN, closed_at=None
        )
        if not opened:
            raise CannotOpen("Only a closed campaign can be opened again.")
        audit.note(by, "reopen", f"campaign:{campaign.pk}")
    campaign.refresh_from_db()
    return campaign


def _store_items(campaign: Campaign, laid_out: Design) -> dict[int, list[Item]]:
    """Rows of items by round; calibration items of the draft are replaced by their final rows."""
    Item.objects.filter(campaign=campaign).delete()
    stored = Item.objects.bulk_create(
        (_item(campaign, planned) for planned in laid_out.items), batch_size=500
    )
    by_round: dict[int, list[Item]] = {}
    for item in stored:
        by_round.setdefault(item.round_id, []).append(item)
    return by_round


def _item(campaign: Campaign, planned: PlannedItem) -> Item:
    known = planned.known
    return Item(
        campaign=campaign,
        round_id=planned.round,
        outcome_id=planned.outcome,
        scale=planned.scale,
        position=planned.position,
        copies=planned.copies,
        stratum=planned.stratum[:200],
        judge_mark=planned.judge_mark.value if planned.judge_mark else "",
        known_mark=known.mark.value if known and known.mark else "",
        known_score=known.score if known else None,
    )


def _store_sets(campaign: Campaign, laid_out: Design, items: dict[int, list[Item]]) -> None:
    sets = laid_out.sets
    people = _people(campaign, sets)
    aliases = _aliases(laid_out, seed=campaign.seed)
    order = sorted(items)
    # Shuffled, so that no code agent's work is all marked first.
    seeded(campaign.seed, "order").shuffle(order)
    rank = {round_: number for number, round_ in enumerate(order)}
    assignments = Assignment.objects.bulk_create(
        (
            Assignment(
                campaign=campaign,
                round_id=each.round,
                copy=each.copy,
                alias=aliases[laid_out.rounds[each.round].trial],
                annotator_id=people.get(each),
            )
            for each in sorted(sets, key=lambda each: (rank[each.round], each.copy))
        ),
        batch_size=500,
    )
    Annotation.objects.bulk_create(
        (
            Annotation(assignment=assignment, item=item)
            for assignment in assignments
            for item in items[assignment.round_id]
            if assignment.copy <= item.copies
        ),
        batch_size=500,
    )


def _people(campaign: Campaign, sets: tuple[assigning.PlannedSet, ...]) -> dict[assigning.PlannedSet, int]:
    if campaign.distribution != Distribution.PLANNED:
        return {}
    people = list(campaign.annotators.order_by("pk").values_list("pk", flat=True))
    try:
        return assigning.plan(sets, people, seed=campaign.seed)
    except assigning.TooFewPeople as error:
        raise CannotOpen(str(error)) from None


def _aliases(laid_out: Design, *, seed: int) -> dict[int, str]:
    """Trial → a name that tells nothing of its code agent; the same for every round and copy."""
    trials = sorted({laid_out.rounds[item.round].trial for item in laid_out.items})
    seeded(seed, "alias").shuffle(trials)
    return {trial: f"Candidate {number}" for number, trial in enumerate(trials, start=1)}
