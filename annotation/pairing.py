"""Lay marks on the same item beside each other: where people differ, and where they differ from the judge."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Prefetch, Q, QuerySet

from annotation.models import DECIDED, Adjudication, Annotation, Campaign, Item, Picture
from annotation.vocabulary import AssignmentState
from benchmark.rules.vocabulary import Mark

JUDGED = [Mark.PASS, Mark.PARTIAL, Mark.FAIL]


class Between(StrEnum):
    """Whose marks differ."""

    PEOPLE = "people"
    JUDGE = "judge"


class Settled(StrEnum):
    """Whether somebody has adjudicated it."""

    OPEN = "open"
    SETTLED = "settled"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterMark:
    """One person's mark on an item, under a name or, while the adjudicator is blind, under a letter."""

    annotation: Annotation
    name: str
    is_named: bool
    pictures: Sequence[Picture]

    @property
    def seconds(self) -> float | None:
        """None where no time at work is known."""
        return self.annotation.active_ms / 1000 if self.annotation.active_ms else None

    @property
    def is_final(self) -> bool:
        return self.annotation.assignment.state == AssignmentState.SUBMITTED


def disagreements(
    campaign: Campaign, *, between: Between, settled: Settled, task: str = ""
) -> QuerySet[Item]:
    """Return the items on which marks differ, in order of their primary key.

    Environment problems and sets that were taken back are left out; a mark on which nobody else has an
    opinion differs from no person's.
    """
    counts = Q(annotations__isnull=False) & ~Q(annotations__assignment__state=AssignmentState.EXPIRED)
    judged = counts & Q(annotations__mark__in=JUDGED)
    items = Item.objects.filter(campaign=campaign)
    if between is Between.JUDGE:
        other = (
            Annotation.objects.filter(item=OuterRef("pk"), mark__in=JUDGED)
            .exclude(assignment__state=AssignmentState.EXPIRED)
            .exclude(mark=OuterRef("judge_mark"))
        )
        items = items.filter(Exists(other), judge_mark__in=JUDGED)
    else:
        items = items.annotate(
            kinds=Count("annotations__mark", filter=judged, distinct=True),
            lowest=Min("annotations__score", filter=counts),
            highest=Max("annotations__score", filter=counts),
        ).filter(Q(kinds__gt=1) | Q(highest__gt=F("lowest")))
    if task:
        items = items.filter(round__trial__task__key=task)
    adjudicated = Exists(Adjudication.objects.filter(item=OuterRef("pk")))
    if settled is Settled.OPEN:
        items = items.filter(~adjudicated)
    elif settled is Settled.SETTLED:
        items = items.filter(adjudicated)
    return items.order_by("pk")


def marks_on(items: Sequence[Item]) -> dict[int, list[Annotation]]:
    """Return the decided annotations on each of some items, in one query and one for the pictures."""
    shown = Picture.objects.filter(removed_at=None).order_by("pk")
    rows = (
        Annotation.objects.filter(DECIDED, item__in=items)
        .exclude(assignment__state=AssignmentState.EXPIRED)
        .select_related("assignment__annotator", "guideline")
        .prefetch_related(Prefetch("pictures", queryset=shown))
        .order_by("pk")
    )
    by_item: dict[int, list[Annotation]] = defaultdict(list)
    for row in rows:
        by_item[row.item_id].append(row)
    return by_item


def raters(item: Item, annotations: Sequence[Annotation], *, with_names: bool) -> list[RaterMark]:
    """Return the marks on an item in an order that tells nothing: A is not the same person on the next item."""
    return [
        RaterMark(
            annotation=annotation,
            name=rater_name(annotation) if with_names else f"Rater {letter(place)}",
            is_named=with_names,
            pictures=list(annotation.pictures.all()),
        )
        for place, annotation in enumerate(sorted(annotations, key=lambda each: _shuffled(item, each)))
    ]


def rater_name(annotation: Annotation) -> str:
    """Return who marked, here or elsewhere."""
    return annotation.assignment.rater_name or "nobody"


def letter(place: int) -> str:
    """Return A for 0, Z for 25, A2 for 26."""
    turn, index = divmod(place, len(ascii_uppercase))
    return ascii_uppercase[index] + (str(turn + 1) if turn else "")


def _shuffled(item: Item, annotation: Annotation) -> str:
    return hashlib.sha256(f"{item.pk}/{annotation.assignment_id}".encode()).hexdigest()
