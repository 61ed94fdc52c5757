"""How far a campaign is: by person, by project and set by set, in a number of queries that does not grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median

from django.db.models import Count, F, Max, Q, QuerySet

from annotation.calibration import Answer, Drift, drift_by_annotator, is_right_score
from annotation.models import Annotation, Assignment, Campaign
from annotation.standing import DECIDED
from annotation.vocabulary import AssignmentState

IDLE_SHARE = 0.5
"""A set counts as idle once half of its lease went by without a sign of its annotator."""


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
        assert saved_at is not None
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
