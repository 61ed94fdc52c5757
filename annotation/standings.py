"""How far a campaign is: by person, by project and set by set, in a number of queries that does not grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery

from annotation.calibration import Answer, Drift, drift_by_annotator, is_right_score
from annotation.models import Annotation, Assignment, Campaign
from annotation.vocabulary import AssignmentState, CampaignState
from benchmark.display import duration

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

DECIDED = ~Q(mark="") | Q(score__isnull=False)
"""Annotations that hold a mark, a rating or an environment problem."""

IDLE_SHARE = 0.5
"""A set counts as idle once half of its lease went by without a sign of its annotator."""

USUAL_SECONDS = 90.0
"""What an outcome is taken to need until somebody has marked some."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of one person, one project or a whole campaign while its rows are read."""

    total: int = 0
    decided: int = 0
    problems: int = 0
    times: list[int] = field(default_factory=list)
    seen_at: datetime | None = None

    @property
    def open(self) -> int:
        return self.total - self.decided

    @property
    def median_seconds(self) -> float | None:
        """Half of the outcomes took less; None where nobody's time is known."""
        return median(self.times) / 1000 if self.times else None

    def count(self, row: _Row) -> None:
        """Take one annotation in."""
        self.total += 1
        self.decided += row.is_decided
        self.problems += row.is_problem
        if row.is_decided and row.active_ms:
            self.times.append(row.active_ms)
        if row.saved_at and (self.seen_at is None or row.saved_at > self.seen_at):
            self.seen_at = row.saved_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A campaign at one moment: all, free sets, people by account, those who marked elsewhere by name, projects."""

    all: Tally
    free: Tally
    people: Mapping[int, Tally]
    elsewhere: Mapping[str, Tally]
    projects: Mapping[int, Tally]
    drifts: Mapping[int, Drift]
    sets: Mapping[str, int]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    annotator: int | None
    rater: str
    task: int
    is_decided: bool
    is_problem: bool
    active_ms: int
    saved_at: datetime | None


def standing_of(campaign: Campaign) -> Standing:
    """Return how far a campaign is; what an expired set held is left out of every count."""
    every, free = Tally(), Tally()
    people: dict[int, Tally] = defaultdict(Tally)
    elsewhere: dict[str, Tally] = defaultdict(Tally)
    projects: dict[int, Tally] = defaultdict(Tally)
    for row in _rows(campaign):
        every.count(row)
        projects[row.task].count(row)
        if row.annotator is not None:
            people[row.annotator].count(row)
        else:
            (elsewhere[row.rater] if row.rater else free).count(row)
    for annotator, seen_at in _signs(campaign):
        tally = people[annotator]
        tally.seen_at = max(filter(None, (tally.seen_at, seen_at)), default=None)
    return Standing(
        all=every,
        free=free,
        people=dict(people),
        elsewhere=dict(elsewhere),
        projects=dict(projects),
        drifts=drift_by_annotator(_answers(campaign)),
        sets=_set_counts(campaign),
    )


def sets_in(campaign: Campaign) -> QuerySet[Assignment]:
    """Return a campaign's sets, each with `total`, `decided` and `problems` counted."""
    return with_counts(Assignment.objects.filter(campaign=campaign))


def with_counts(sets: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Count in the database what is decided of each set, and what is an environment problem."""
    decided = ~Q(annotations__mark="") | Q(annotations__score__isnull=False)
    return sets.annotate(
        total=Count("annotations"),
        decided=Count("annotations", filter=decided),
        problems=Count("annotations", filter=~Q(annotations__problem="")),
        saved_last=Max("annotations__saved_at"),
    )


def last_sign(assignment: Assignment) -> datetime | None:
    """Return when its annotator last gave a sign: each save and each presence extends the lease."""
    if assignment.lease_until is None:
        return assignment.submitted_at or assignment.taken_at
    return assignment.lease_until - timedelta(hours=assignment.campaign.lease_hours)


def idle_since(campaign: Campaign, *, now: datetime) -> datetime:
    """Return the lease's end below which a set counts as idle."""
    return now + timedelta(hours=campaign.lease_hours) * (1 - IDLE_SHARE)


def idle_sets(campaign: Campaign, *, now: datetime) -> QuerySet[Assignment]:
    """Return the sets whose people gave no sign for half a lease or longer."""
    return Assignment.objects.filter(
        campaign=campaign,
        state=AssignmentState.OPEN,
        annotator__isnull=False,
        lease_until__lt=idle_since(campaign, now=now),
    )


def waiting_for(user: User | AnonymousUser, *, now: datetime) -> Waiting:
    """Return a person's sets and where to take the next one, in a number of queries that does not grow."""
    rows = list(
        with_counts(Assignment.objects.filter(annotator=user.pk))
        .select_related("campaign", "round__trial__task")
        .order_by(F("campaign__deadline").asc(nulls_last=True), F("taken_at").asc(nulls_last=True), "pk")
    )
    pace = _paces(user, {row.campaign_id for row in rows if row.state == AssignmentState.OPEN})
    free_places = _free_places([row for row in rows if row.state == AssignmentState.EXPIRED])
    sets = [
        OpenSet(
            assignment=row,
            total=row.total,
            decided=row.decided,
            problems=row.problems,
            time_left=duration(pace.get(row.campaign_id, USUAL_SECONDS) * (row.total - row.decided)),
            is_late=row.campaign.deadline is not None and row.campaign.deadline <= now,
            is_free_again=(row.campaign_id, row.round_id, row.copy) in free_places,
        )
        for row in rows
    ]
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


def _rows(campaign: Campaign) -> Iterable[_Row]:
    values = (
        Annotation.objects.filter(assignment__campaign=campaign)
        .exclude(assignment__state=AssignmentState.EXPIRED)
        .order_by()
        .values_list(
            "assignment__annotator_id",
            "assignment__rater",
            "item__round__trial__task_id",
            "mark",
            "score",
            "problem",
            "active_ms",
            "saved_at",
        )
    )
    for annotator, rater, task, mark, score, problem, active_ms, saved_at in values.iterator(chunk_size=2000):
        yield _Row(
            annotator=annotator,
            rater=rater,
            task=task,
            is_decided=bool(mark) or score is not None,
            is_problem=bool(problem),
            active_ms=active_ms,
            saved_at=saved_at,
        )


def _signs(campaign: Campaign) -> list[tuple[int, datetime | None]]:
    """When each person was last there, as their leases tell it."""
    lease = timedelta(hours=campaign.lease_hours)
    rows = (
        Assignment.objects.filter(campaign=campaign, annotator__isnull=False)
        .exclude(state=AssignmentState.EXPIRED)
        .order_by()
        .values("annotator_id")
        .annotate(lease=Max("lease_until"), submitted=Max("submitted_at"))
    )
    return [
        (
            row["annotator_id"],
            max(filter(None, (row["lease"] and row["lease"] - lease, row["submitted"])), default=None),
        )
        for row in rows
    ]


def _answers(campaign: Campaign) -> list[Answer]:
    """Marks on items whose right answer is known; environment problems say nothing about the person."""
    scales = {scale["key"]: scale for scale in campaign.scales}
    rows = (
        Annotation.objects.filter(
            ~Q(item__known_mark="") | Q(item__known_score__isnull=False),
            DECIDED,
            assignment__campaign=campaign,
            problem="",
            saved_at__isnull=False,
            assignment__annotator__isnull=False,
        )
        .exclude(assignment__state=AssignmentState.EXPIRED)
        .order_by("pk")
        .annotate(
            known_mark=F("item__known_mark"), known_score=F("item__known_score"), scale=F("item__scale")
        )
        .values_list(
            "assignment__annotator_id", "saved_at", "mark", "score", "known_mark", "known_score", "scale"
        )
    )
    answers = []
    for annotator, saved_at, mark, score, known_mark, known_score, scale in rows:
        is_right = mark == known_mark
        if known_score is not None:
            length = scales.get(scale, {"minimum": 0, "maximum": 100})
            is_right = score is not None and is_right_score(
                score, known=known_score, minimum=length["minimum"], maximum=length["maximum"]
            )
        answers.append(Answer(annotator=annotator, saved_at=saved_at, is_right=is_right))
    return answers


def _set_counts(campaign: Campaign) -> dict[str, int]:
    """How many sets are free, taken, submitted and expired."""
    counted = Assignment.objects.filter(campaign=campaign).aggregate(
        free=Count("pk", filter=Q(state=AssignmentState.OPEN, annotator=None)),
        open=Count("pk", filter=Q(state=AssignmentState.OPEN, annotator__isnull=False)),
        submitted=Count("pk", filter=Q(state=AssignmentState.SUBMITTED)),
        expired=Count("pk", filter=Q(state=AssignmentState.EXPIRED)),
    )
    return {name: int(number) for name, number in counted.items()}


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
        .annotate(n=Count("pk"))
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
