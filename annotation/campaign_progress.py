"""How far a campaign is: by person, by project and set by set, in a number of queries that does not grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median

from django.db.models import Count, F, Max, Q, QuerySet

from annotation.calibration import Answer, Drift, drift_by_annotator, is_right_score
from annotation.models import DECIDED, Annotation, Assignment, Campaign
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

    def add(self, part: Tally) -> None:
        """Take the counts of a part in."""
        self.total += part.total
        self.decided += part.decided
        self.problems += part.problems
        self.times += part.times
        self.seen_at = max(filter(None, (self.seen_at, part.seen_at)), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignProgress:
    """A campaign at one moment: all, free sets, people by account, those who marked elsewhere by name, projects."""

    all: Tally
    free: Tally
    people: Mapping[int, Tally]
    elsewhere: Mapping[str, Tally]
    projects: Mapping[int, Tally]
    drifts: Mapping[int, Drift]
    sets: Mapping[str, int]


type _Key = tuple[int | None, str, int]
"""Account, name of somebody who marked elsewhere, and project."""


def progress_of_campaign(campaign: Campaign) -> CampaignProgress:
    """Return how far a campaign is; what an expired set held is left out of every count."""
    every, free = Tally(), Tally()
    people: dict[int, Tally] = defaultdict(Tally)
    elsewhere: dict[str, Tally] = defaultdict(Tally)
    projects: dict[int, Tally] = defaultdict(Tally)
    for (annotator, rater, task), part in _parts(campaign).items():
        every.add(part)
        projects[task].add(part)
        if annotator is not None:
            people[annotator].add(part)
        else:
            (elsewhere[rater] if rater else free).add(part)
    for annotator, seen_at in _signs(campaign):
        tally = people[annotator]
        tally.seen_at = max(filter(None, (tally.seen_at, seen_at)), default=None)
    return CampaignProgress(
        all=every,
        free=free,
        people=dict(people),
        elsewhere=dict(elsewhere),
        projects=dict(projects),
        drifts=drift_by_annotator(calibration_answers(campaign)),
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


def _parts(campaign: Campaign) -> dict[_Key, Tally]:
    """Counts by person and project from the database, and each known time: a median needs them all."""
    rows = (
        Annotation.objects.filter(assignment__campaign=campaign)
        .exclude(assignment__state=AssignmentState.EXPIRED)
        .order_by()
    )
    key = ("assignment__annotator_id", "assignment__rater", "item__round__trial__task_id")
    counted = rows.values_list(*key).annotate(
        total=Count("pk"),
        decided=Count("pk", filter=DECIDED),
        problems=Count("pk", filter=~Q(problem="")),
        seen_at=Max("saved_at"),
    )
    parts = {
        (annotator, rater, task): Tally(total=total, decided=decided, problems=problems, seen_at=seen_at)
        for annotator, rater, task, total, decided, problems, seen_at in counted
    }
    timed = rows.filter(DECIDED, active_ms__gt=0).values_list(*key, "active_ms")
    for annotator, rater, task, active_ms in timed.iterator(chunk_size=2000):
        # A set that was taken between the two queries has changed its key; the next look has it.
        if (part := parts.get((annotator, rater, task))) is not None:
            part.times.append(active_ms)
    return parts


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


def calibration_answers(campaign: Campaign) -> list[Answer]:
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
    """How many sets are free, given out and not begun, at work, submitted and expired."""
    held = Q(state=AssignmentState.OPEN, annotator__isnull=False)
    counted = Assignment.objects.filter(campaign=campaign).aggregate(
        free=Count("pk", filter=Q(state=AssignmentState.OPEN, annotator=None)),
        given=Count("pk", filter=held & Q(taken_at=None)),
        open=Count("pk", filter=held & Q(taken_at__isnull=False)),
        submitted=Count("pk", filter=Q(state=AssignmentState.SUBMITTED)),
        expired=Count("pk", filter=Q(state=AssignmentState.EXPIRED)),
    )
    return {name: int(number) for name, number in counted.items()}
