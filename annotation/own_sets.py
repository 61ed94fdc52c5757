"""What waits for one person: sets to mark, sets that are done or were given on, and where to take the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery

from annotation.models import DECIDED, Annotation, Assignment, Campaign
from annotation.progress import NOTHING, USUAL_SECONDS, progress_by_assignment
from annotation.vocabulary import AssignmentState, CampaignState
from benchmark.display import duration

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSet:
    """One of a person's sets with what is left of it."""

    assignment: Assignment
    total: int
    decided: int
    problems: int
    time_left: str
    is_late: bool
    is_free_again: bool = False

    @property
    def left(self) -> int:
        return self.total - self.decided

    @property
    def is_complete(self) -> bool:
        return self.decided == self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A campaign that has sets which a person may take."""

    campaign: Campaign
    free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What one person has to do, has done, and can take; `stopped` are open sets of closed campaigns."""

    open: Sequence[OpenSet]
    submitted: Sequence[OpenSet]
    expired: Sequence[OpenSet]
    stopped: Sequence[OpenSet]
    queues: Sequence[Queue]

    @property
    def first(self) -> OpenSet | None:
        """What to go on with."""
        return self.open[0] if self.open else None

    @property
    def is_empty(self) -> bool:
        return not (self.open or self.submitted or self.expired or self.stopped or self.queues)


def waiting_for(user: User | AnonymousUser, *, now: datetime) -> Waiting:
    """Return a person's sets and where to take the next one, in a number of queries that does not grow."""
    rows = list(
        Assignment.objects.filter(annotator=user.pk)
        .select_related("campaign", "round__trial__task")
        .order_by(F("campaign__deadline").asc(nulls_last=True), F("taken_at").asc(nulls_last=True), "pk")
    )
    progress = progress_by_assignment([row.pk for row in rows])
    pace = _paces(user, {row.campaign_id for row in rows if row.state == AssignmentState.OPEN})
    free_places = _free_places([row for row in rows if row.state == AssignmentState.EXPIRED])
    sets = []
    for row in rows:
        far = progress.get(row.pk, NOTHING)
        sets.append(
            OpenSet(
                assignment=row,
                total=far.total,
                decided=far.decided,
                problems=far.problems,
                time_left=duration(pace.get(row.campaign_id, USUAL_SECONDS) * far.left),
                is_late=row.campaign.deadline is not None and row.campaign.deadline <= now,
                is_free_again=(row.campaign_id, row.round_id, row.copy) in free_places,
            )
        )
    at_work = [
        each
        for each in sets
        if each.assignment.state == AssignmentState.OPEN
        and each.assignment.campaign.state == CampaignState.OPEN
    ]
    done = [each for each in sets if each.assignment.state == AssignmentState.SUBMITTED]
    return Waiting(
        # Begun ones first: what a person is in the middle of is what "Continue" means.
        open=sorted(at_work, key=lambda each: not each.decided),
        submitted=sorted(done, key=lambda each: _submitted_at(each, now=now), reverse=True),
        expired=[each for each in sets if each.assignment.state == AssignmentState.EXPIRED],
        stopped=[
            each for each in sets if each.assignment.state == AssignmentState.OPEN and each not in at_work
        ],
        queues=_queues(user, busy={each.assignment.campaign_id for each in at_work}, now=now),
    )


def _paces(user: User | AnonymousUser, campaigns: set[int]) -> dict[int, float]:
    """The median seconds that this person took for an outcome, campaign by campaign."""
    times: dict[int, list[int]] = defaultdict(list)
    rows = Annotation.objects.filter(
        DECIDED, assignment__annotator=user.pk, assignment__campaign__in=campaigns, active_ms__gt=0
    )
    for campaign, active_ms in rows.order_by("-pk").values_list("assignment__campaign_id", "active_ms")[
        :2000
    ]:
        times[campaign].append(active_ms)
    return {campaign: median(given) / 1000 for campaign, given in times.items()}


def _free_places(expired: Sequence[Assignment]) -> set[tuple[int, int, int]]:
    """Of sets that were taken back: the places that nobody else has taken since."""
    if not expired:
        return set()
    rounds = {assignment.round_id for assignment in expired}
    rows = Assignment.objects.filter(
        state=AssignmentState.OPEN, annotator=None, campaign__state=CampaignState.OPEN, round__in=rounds
    )
    return set(rows.values_list("campaign_id", "round_id", "copy"))


def _queues(user: User | AnonymousUser, *, busy: set[int], now: datetime) -> list[Queue]:
    """Campaigns with free sets for a person who has no open one there: taking gives the open one first."""
    same_round = Assignment.objects.filter(
        campaign=OuterRef("campaign"), round=OuterRef("round"), annotator=user.pk
    ).exclude(state=AssignmentState.EXPIRED)
    free = (
        Assignment.objects.filter(
            # A lease that ran out is looked at when somebody asks for work, so that set can be taken too.
            Q(annotator=None) | Q(lease_until__lt=now),
            ~Exists(same_round),
            campaign=OuterRef("pk"),
            rater="",
            state=AssignmentState.OPEN,
        )
        .order_by()
        .values("campaign")
        # Two free copies of one round are one set for this person, who never marks a round twice.
        .annotate(n=Count("round", distinct=True))
        .values("n")
    )
    campaigns = (
        Campaign.objects.filter(
            Q(deadline=None) | Q(deadline__gt=now), annotators=user.pk, state=CampaignState.OPEN
        )
        .exclude(pk__in=busy)
        .annotate(free=Subquery(free))
        .order_by(F("deadline").asc(nulls_last=True), "pk")
    )
    return [Queue(campaign=campaign, free=campaign.free) for campaign in campaigns if campaign.free]


def _submitted_at(done: OpenSet, *, now: datetime) -> datetime:
    return done.assignment.submitted_at or now
