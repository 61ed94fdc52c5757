"""How far a set is: what is decided, what an outcome usually takes, and how long the rest may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from django.db.models import Count, Q, QuerySet

from annotation.models import DECIDED, Annotation, Campaign

if TYPE_CHECKING:
    from django.contrib.auth.models import User

RECENT = 400
"""Of how many annotations, newest first, the usual time is taken."""

USUAL_SECONDS = 90.0
"""What an outcome is taken to need until somebody has marked some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How many items of a set, or of several, are decided, and how many of those as environment problems."""

    decided: int
    total: int
    problems: int

    @property
    def left(self) -> int:
        return self.total - self.decided

    @property
    def is_complete(self) -> bool:
        return self.left == 0


NOTHING = Progress(decided=0, total=0, problems=0)


def progress_of(annotations: Sequence[Annotation]) -> Progress:
    """Count annotations that were read already."""
    return Progress(
        decided=sum(each.is_decided for each in annotations),
        total=len(annotations),
        problems=sum(bool(each.problem) for each in annotations),
    )


def progress_by_assignment(assignments: Sequence[int]) -> dict[int, Progress]:
    """Assignment → how far it is, in one query."""
    rows = (
        Annotation.objects.filter(assignment__in=assignments)
        .order_by()
        .values("assignment_id")
        .annotate(
            decided=Count("pk", filter=DECIDED),
            total=Count("pk"),
            problems=Count("pk", filter=~Q(problem="")),
        )
        .values_list("assignment_id", "decided", "total", "problems")
    )
    return {
        pk: Progress(decided=decided, total=total, problems=problems) for pk, decided, total, problems in rows
    }


def usual_ms(campaign: Campaign, user: User | None) -> float | None:
    """Return the median time on a decided item: this person's, else everybody's, else None."""
    everybody = Annotation.objects.filter(assignment__campaign=campaign)
    if user is not None and (own := _median(everybody.filter(assignment__annotator=user))) is not None:
        return own
    return _median(everybody)


def seconds_left(progress: Progress, usual: float | None) -> int | None:
    """Return how long the rest of a set is likely to take; None while nobody's time is known."""
    return None if usual is None else round(progress.left * usual / 1000)


def newest_times(annotations: QuerySet[Annotation]) -> list[int]:
    """Return the milliseconds at work of the newest among decided annotations, where they are known."""
    known = annotations.filter(DECIDED, active_ms__gt=0)
    return list(known.order_by("-saved_at").values_list("active_ms", flat=True)[:RECENT])


def _median(annotations: QuerySet[Annotation]) -> float | None:
    times = newest_times(annotations)
    return median(times) if times else None
