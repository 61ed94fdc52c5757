"""Hear that somebody is at work: time on each outcome, the place on the page, and a longer lease."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation import queue
from annotation.models import ActiveTime, Annotation, Assignment
from annotation.operations import HIGHEST_ID
from annotation.texts import storable_json
from annotation.vocabulary import AssignmentState, CampaignState

LONGEST_MS = 3_600_000
"""One stretch is a few seconds to minutes; what claims to be longer than an hour is a clock that jumped."""

LARGEST_PLACE = 8_000
MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A time that somebody was at work on one annotation, named by the client."""

    operation: UUID
    annotation: int
    milliseconds: int


def read_stretches(raw: Sequence[Any]) -> list[Stretch]:
    """Return the stretches of a document; what is none is left out, since no work is lost by it."""
    return [stretch for each in raw[:MOST_AT_ONCE] if (stretch := _stretch(each)) is not None]


def note_presence(
    assignment: Assignment, *, stretches: Sequence[Stretch], place: dict[str, Any] | None
) -> Assignment:
    """Count each stretch once, remember the place and extend the lease of an open set."""
    now = timezone.now()
    with transaction.atomic():
        locked = (
            Assignment.objects.select_for_update(no_key=True, of=("self",))
            .select_related("campaign")
            .get(pk=assignment.pk)
        )
        # Time counts on a set that was just submitted too: the last stretch may come after that.
        if locked.campaign.state == CampaignState.OPEN:
            _count(locked, stretches)
        if locked.state == AssignmentState.OPEN and locked.campaign.state == CampaignState.OPEN:
            locked.taken_at = locked.taken_at or now
            locked.lease_until = queue.lease_of(locked.campaign, now=now)
            if place is not None:
                locked.place = place
            locked.save(update_fields=["taken_at", "lease_until", "place"])
    return locked


def read_place(raw: Any) -> dict[str, Any] | None:
    """Return where somebody was as it can be stored; None for what is no place, or is too large for one."""
    if not isinstance(raw, dict):
        return None
    place = storable_json(raw)
    return place if len(json.dumps(place)) <= LARGEST_PLACE else None


def _stretch(raw: Any) -> Stretch | None:
    if not isinstance(raw, dict):
        return None
    annotation, milliseconds = raw.get("annotation"), raw.get("milliseconds")
    try:
        operation = UUID(raw["operation"])
    except (KeyError, ValueError, TypeError, AttributeError):
        return None
    if not _is_whole(annotation) or not 0 < annotation <= HIGHEST_ID:
        return None
    if not _is_whole(milliseconds) or milliseconds <= 0:
        return None
    return Stretch(operation=operation, annotation=annotation, milliseconds=min(milliseconds, LONGEST_MS))


def _is_whole(raw: Any) -> TypeGuard[int]:
    return isinstance(raw, int) and not isinstance(raw, bool)


def _count(assignment: Assignment, stretches: Sequence[Stretch]) -> None:
    if not stretches:
        return
    wanted = {stretch.operation: stretch for stretch in stretches}
    own = set(
        Annotation.objects.filter(
            assignment=assignment, pk__in={stretch.annotation for stretch in stretches}
        ).values_list("pk", flat=True)
    )
    known = set(ActiveTime.objects.filter(operation__in=wanted).values_list("operation", flat=True))
    fresh = [each for each in wanted.values() if each.operation not in known and each.annotation in own]
    ActiveTime.objects.bulk_create(
        ActiveTime(annotation_id=each.annotation, operation=each.operation, milliseconds=each.milliseconds)
        for each in fresh
    )
    by_annotation: Counter[int] = Counter()
    for each in fresh:
        by_annotation[each.annotation] += each.milliseconds
    for annotation, milliseconds in by_annotation.items():
        Annotation.objects.filter(pk=annotation).update(active_ms=F("active_ms") + milliseconds)
