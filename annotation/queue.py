"""Give sets to people and take them back: one person a set, nobody a round twice, none stuck with who left.

A set is leased: marks and a page that is at work extend the lease. One that ran out is looked at when
somebody asks for work. Sets that were given out at the opening have no lease until their person begins.
After the deadline nothing new is given; marks are taken until the campaign is closed.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.blindness import revealed_since
from annotation.models import Annotation, Assignment, Campaign, Comment
from annotation.models.work import NOT_EXPIRED
from annotation.vocabulary import AssignmentState, CampaignState
from people import audit

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class NothingGiven(Exception):
    """Raised with a sentence where no set can be given to somebody, or none taken back."""


def take_next(campaign: Campaign, user: User) -> Assignment:
    """Return the set that a person is to work on now; raises NothingGiven.

    First comes what the person has already (a second click takes nothing more), then an own set whose
    lease ran out and that nobody took since, then a free one: of the rounds with most copies begun, so
    that agreement can be seen early, in the seeded order of the opening.
    """
    now = timezone.now()
    with transaction.atomic():
        # One at a time in a campaign: people ask for work seldom, and a queue is then simple to trust.
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if locked.state != CampaignState.OPEN:
            raise NothingGiven(f"The campaign {locked.name!r} is {locked.state}; it gives out no sets.")
        if not locked.annotators.filter(pk=user.pk).exists():
            raise NothingGiven("You are not among the annotators of this campaign. Ask its lead to add you.")
        if (own := _own_open(locked, user)) is not None:
            return own
        expire_run_out(locked, now=now)
        if (again := _own_run_out(locked, user)) is not None:
            return take_back(again, user)
        if locked.deadline is not None and locked.deadline <= now:
            raise NothingGiven(
                "The deadline of this campaign has passed, so nothing new is given out. "
                "What you began can be finished until the campaign is closed."
            )
        return _claim(locked, user, now=now)


def lease_of(campaign: Campaign, *, now: datetime) -> datetime:
    """Return until when a set is a person's who is at work on it now."""
    return now + timedelta(hours=campaign.lease_hours)


@transaction.atomic
def expire_run_out(campaign: Campaign, *, now: datetime) -> int:
    """Take back every set whose lease ran out, make its replacement free, and return how many."""
    run_out = Assignment.objects.filter(
        campaign=campaign, state=AssignmentState.OPEN, annotator__isnull=False, lease_until__lt=now
    )
    return sum(_expire(each, now=now) for each in run_out.order_by("pk"))


def release(assignment: Assignment, *, by: User | None, reason: str) -> Assignment:
    """Take a set back by hand and return the free one that replaces it. Raises NothingGiven.

    What its person saved stays with the expired set and can be exported.
    """
    now = timezone.now()
    with transaction.atomic():
        held = Assignment.objects.filter(pk=assignment.pk, annotator__isnull=False)
        # Without a lease: it did not run out, so it does not come back to the same person by itself.
        held.filter(state=AssignmentState.OPEN).update(lease_until=None)
        if not _expire(assignment, now=now):
            raise NothingGiven("Only a set that somebody is at work on can be taken back.")
        audit.note(by, "release", f"assignment:{assignment.pk}", reason=reason)
        return _current(assignment).get()


def reassign(assignment: Assignment, *, to: User, by: User | None, reason: str) -> Assignment:
    """Give a set to a named person, taking it from whoever has it, and return it. Raises NothingGiven."""
    now = timezone.now()
    with transaction.atomic():
        campaign = Campaign.objects.select_for_update(no_key=True).get(pk=assignment.campaign_id)
        if campaign.state != CampaignState.OPEN:
            raise NothingGiven(f"The campaign {campaign.name!r} is {campaign.state}; it gives out no sets.")
        if not campaign.annotators.filter(pk=to.pk).exists():
            raise NothingGiven(f"{to.get_username()!r} is not among the annotators; add this person first.")
        current = _current(assignment).get()
        if current.annotator_id == to.pk and current.state == AssignmentState.OPEN:
            return current
        if _on_round(campaign, to).filter(round=current.round_id).exists():
            raise NothingGiven(
                f"{to.get_username()!r} has another copy of the same round, and nobody marks one twice."
            )
        if current.annotator_id is not None:
            current = release(current, by=by, reason=reason)
        if not _take(current, to, until=lease_of(campaign, now=now), now=now):
            raise NothingGiven("Somebody took this set this very moment. Look again.")
        audit.note(by, "assign", f"assignment:{current.pk}", to=to.get_username(), reason=reason)
        current.refresh_from_db()
        return current


def take_back(assignment: Assignment, user: User) -> Assignment:
    """Give a person's own expired set back, with its marks, while nobody took its replacement.

    Raises NothingGiven.
    """
    now = timezone.now()
    with transaction.atomic():
        campaign = Campaign.objects.select_for_update(no_key=True).get(pk=assignment.campaign_id)
        own = Assignment.objects.filter(
            pk=assignment.pk, annotator=user, state=AssignmentState.EXPIRED
        ).first()
        if own is None or campaign.state != CampaignState.OPEN:
            raise NothingGiven(
                "Only a set of your own that has run out in an open campaign can be taken back."
            )
        if not campaign.annotators.filter(pk=user.pk).exists():
            raise NothingGiven(
                "You are not among the annotators of this campaign any more. Your marks are kept; ask its lead."
            )
        free = _current(own).filter(annotator=None, state=AssignmentState.OPEN).first()
        if free is None or _on_round(campaign, user).filter(round=own.round_id).exists():
            raise NothingGiven(
                "Somebody else works on this set by now. Your marks are kept and can be exported."
            )
        # What leads said about the free set goes with its items, not with its row.
        Comment.objects.filter(assignment=free).update(assignment=own)
        free.delete()
        Assignment.objects.filter(pk=own.pk).update(
            state=AssignmentState.OPEN, expired_at=None, lease_until=lease_of(campaign, now=now)
        )
        audit.note(user, "take_back", f"assignment:{own.pk}")
        own.refresh_from_db()
        return own


def free_sets(campaign: Campaign, user: User) -> QuerySet[Assignment]:
    """Return the sets that nobody has and this person may take."""
    return Assignment.objects.filter(
        campaign=campaign, state=AssignmentState.OPEN, annotator=None, rater=""
    ).exclude(Exists(_on_round(campaign, user).filter(round=OuterRef("round"))))


def _own_open(campaign: Campaign, user: User) -> Assignment | None:
    return (
        Assignment.objects.filter(campaign=campaign, annotator=user, state=AssignmentState.OPEN)
        .order_by(F("taken_at").asc(nulls_last=True), "pk")
        .first()
    )


def _own_run_out(campaign: Campaign, user: User) -> Assignment | None:
    """An own set whose lease ran out (released ones have none) and whose replacement is free."""
    free = Assignment.objects.filter(
        campaign=campaign,
        round=OuterRef("round"),
        copy=OuterRef("copy"),
        state=AssignmentState.OPEN,
        annotator=None,
    )
    return (
        Assignment.objects.filter(
            Exists(free),
            campaign=campaign,
            annotator=user,
            state=AssignmentState.EXPIRED,
            lease_until__isnull=False,
        )
        .order_by("-pk")
        .first()
    )


def _claim(campaign: Campaign, user: User, *, now: datetime) -> Assignment:
    begun = Count(
        "round__assignments",
        filter=Q(round__assignments__campaign=campaign, round__assignments__annotator__isnull=False)
        & ~Q(round__assignments__state=AssignmentState.EXPIRED),
        distinct=True,
    )
    # What this person began once and lost comes last: better somebody else starts it afresh.
    taken_off = Assignment.objects.filter(
        campaign=campaign, annotator=user, state=AssignmentState.EXPIRED, round=OuterRef("round")
    )
    candidates = free_sets(campaign, user).annotate(begun=begun, taken_off=Exists(taken_off))
    for candidate in candidates.order_by("taken_off", "-begun", "pk")[:50]:
        try:
            with transaction.atomic():
                if _take(candidate, user, until=lease_of(campaign, now=now), now=now):
                    candidate.refresh_from_db()
                    return candidate
        except IntegrityError:
            # The table's own rule was quicker: this person has the round already.
            continue
    raise NothingGiven(_nothing_left(campaign, user))


def _nothing_left(campaign: Campaign, user: User) -> str:
    at_work = Assignment.objects.filter(
        campaign=campaign, state=AssignmentState.OPEN, annotator__isnull=False
    ).exclude(annotator=user)
    if at_work.exists():
        return (
            "Every set that you could take is being marked by somebody else. "
            "If one of them comes back, it is free again: look later."
        )
    return "There is nothing left for you in this campaign. Thank you."


def _take(assignment: Assignment, user: User, *, until: datetime, now: datetime) -> bool:
    taken = Assignment.objects.filter(pk=assignment.pk, annotator=None, state=AssignmentState.OPEN).update(
        annotator=user,
        taken_at=now,
        lease_until=until,
        # Who looked once is not blind again because of another set.
        revealed_at=revealed_since(assignment, user.pk),
    )
    return taken == 1


def _on_round(campaign: Campaign, user: User) -> QuerySet[Assignment]:
    return Assignment.objects.filter(NOT_EXPIRED, campaign=campaign, annotator=user)


def _current(assignment: Assignment) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        NOT_EXPIRED, campaign=assignment.campaign_id, round=assignment.round_id, copy=assignment.copy
    )


def _expire(assignment: Assignment, *, now: datetime) -> bool:
    """End one person's work on a set and put the next generation in its place; False if it was too late."""
    still = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.OPEN, annotator__isnull=False)
    # Looked at again by the update itself: a mark that came meanwhile has extended the lease.
    expired = still.filter(Q(lease_until=None) | Q(lease_until__lt=now)).update(
        state=AssignmentState.EXPIRED, expired_at=now
    )
    if not expired:
        return False
    latest = Assignment.objects.filter(
        campaign=assignment.campaign_id, round=assignment.round_id, copy=assignment.copy
    ).order_by("-generation")[0]
    following = Assignment.objects.create(
        campaign_id=assignment.campaign_id,
        round_id=assignment.round_id,
        copy=assignment.copy,
        generation=latest.generation + 1,
        alias=assignment.alias,
    )
    items = Annotation.objects.filter(assignment=assignment).order_by("item__position")
    Annotation.objects.bulk_create(
        Annotation(assignment=following, item_id=item) for item in items.values_list("item_id", flat=True)
    )
    return True
