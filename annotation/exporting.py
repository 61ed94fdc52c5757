"""Read sets with everything that was said in them, a few at a time, for every kind of export."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.db.models import FETCH_RAISE, Q, QuerySet

from annotation.export_sight import Sight
from annotation.models import (
    ActiveTime,
    Adjudication,
    Annotation,
    Assignment,
    Campaign,
    Comment,
    Picture,
    Revision,
)
from annotation.vocabulary import AssignmentState, Centre
from runs.models import Round, Run

AT_ONCE = 20
"""Sets that are read together: a few queries each time, and memory for no more than these."""


class ExportKind(StrEnum):
    """The files that a campaign or a set can be had as."""

    RESULTS = "results"
    CSV = "csv"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One annotation with what belongs to it; the history is there where it was asked for.

    `adjudication` is the one that counts. It and `adjudications` are empty for who may not see them.
    """

    annotation: Annotation
    adjudication: Adjudication | None = None
    adjudications: Sequence[Adjudication] = ()
    revisions: Sequence[Revision] = ()
    times: Sequence[ActiveTime] = ()
    pictures: Sequence[Picture] = ()
    comments: Sequence[Comment] = ()

    @property
    def note(self) -> str | None:
        """None where nobody reviewed it, "" where there was nothing to say."""
        if self.annotation.note is None and self.annotation.is_decided:
            return ""
        return self.annotation.note


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedSet:
    """One assignment with its annotations in the order of the items."""

    assignment: Assignment
    said: Sequence[Said] = field(default_factory=tuple)

    @property
    def round(self) -> Round:
        return self.assignment.round

    @property
    def run(self) -> Run:
        return self.assignment.round.trial.run

    @property
    def rater(self) -> str:
        """Who marked: the name of an account, or of somebody elsewhere; empty for a free set."""
        return self.assignment.rater_name

    @property
    def looked_at(self) -> Centre | None:
        """What the marks were given before; None for labels from elsewhere, which do not say."""
        campaign = self.assignment.campaign
        return None if campaign.is_imported else Centre(campaign.centre)

    def is_blind(self, said: Said) -> bool:
        """Whether the judge and the peers were hidden when an annotation was last saved."""
        if not self.assignment.campaign.is_blind:
            return False
        revealed_at, saved_at = self.assignment.revealed_at, said.annotation.saved_at
        return revealed_at is None or (saved_at is not None and saved_at < revealed_at)


def sets_of(campaign: Campaign, *, with_expired: bool) -> QuerySet[Assignment]:
    """Every set of a campaign; those taken back are what their annotators had saved until then."""
    rows = Assignment.objects.filter(campaign=campaign)
    return rows if with_expired else rows.exclude(state=AssignmentState.EXPIRED)


def read_sets(
    assignments: QuerySet[Assignment], *, sight: Sight, with_history: bool = False
) -> Iterator[ExportedSet]:
    """Yield sets by their key, some at a time: the number of queries does not grow with their items."""
    rows = assignments.select_related("campaign", "annotator", "round__trial__task", "round__trial__run")
    rows = rows.select_related("round__trial__run__benchmark").order_by("pk").fetch_mode(FETCH_RAISE)
    after = 0
    # By key, not by one long cursor: a reader who is slow to take the file holds no transaction open.
    while chunk := list(rows.filter(pk__gt=after)[:AT_ONCE]):
        after = chunk[-1].pk
        said = _said([assignment.pk for assignment in chunk], sight=sight, with_history=with_history)
        for assignment in chunk:
            yield ExportedSet(assignment=assignment, said=said[assignment.pk])


def _said(ids: list[int], *, sight: Sight, with_history: bool) -> dict[int, list[Said]]:
    annotations = list(
        Annotation.objects.filter(assignment__in=ids)
        .select_related("item__outcome__criterion", "guideline")
        .order_by("assignment_id", "item__position", "item_id")
        .fetch_mode(FETCH_RAISE)
    )
    extra = _Extra(annotations, sight=sight, with_history=with_history)
    found: dict[int, list[Said]] = {pk: [] for pk in ids}
    for annotation in annotations:
        found[annotation.assignment_id].append(extra.said(annotation))
    return found


class _Extra:
    """What belongs to some annotations, read at once and found by annotation."""

    def __init__(self, annotations: list[Annotation], *, sight: Sight, with_history: bool) -> None:
        ids = [annotation.pk for annotation in annotations]
        items = {annotation.item_id for annotation in annotations}
        pictures = Picture.objects.filter(annotation__in=ids).order_by("pk")
        self._adjudications: dict[int, list[Adjudication]] = defaultdict(list)
        self._revisions: dict[int, list[Revision]] = defaultdict(list)
        self._times: dict[int, list[ActiveTime]] = defaultdict(list)
        self._comments: dict[int, list[Comment]] = defaultdict(list)
        self._pictures: dict[int, list[Picture]] = defaultdict(list)
        self._sight = sight
        _sort_into(self._pictures, pictures, by="annotation_id")
        if sight is Sight.ALL:
            settled = Adjudication.objects.filter(item__in=items).select_related("by")
            _sort_into(self._adjudications, settled.order_by("item", "number"), by="item_id")
        if with_history:
            revisions = Revision.objects.filter(annotation__in=ids).select_related("guideline")
            _sort_into(self._revisions, revisions.order_by("annotation", "version"), by="annotation_id")
            times = ActiveTime.objects.filter(annotation__in=ids).order_by("pk")
            _sort_into(self._times, times, by="annotation_id")
            _sort_into(self._comments, self._threads(annotations, items), by="item_id")

    def said(self, annotation: Annotation) -> Said:
        adjudications = self._adjudications[annotation.item_id]
        return Said(
            annotation=annotation,
            adjudication=adjudications[-1] if adjudications else None,
            adjudications=adjudications,
            revisions=self._revisions[annotation.pk],
            times=self._times[annotation.pk],
            pictures=self._pictures[annotation.pk],
            comments=[
                comment
                for comment in self._comments[annotation.item_id]
                # Without an assignment it is the leads' own talk; of another one it is a peer's.
                if comment.assignment_id in (annotation.assignment_id, None)
            ],
        )

    def _threads(self, annotations: list[Annotation], items: set[int]) -> QuerySet[Comment]:
        own = Q(assignment__in={annotation.assignment_id for annotation in annotations})
        seen = own | Q(assignment=None) if self._sight is Sight.ALL else own
        return Comment.objects.filter(seen, item__in=items).select_related("author").order_by("pk")


def _sort_into(found: dict[int, list[Any]], rows: QuerySet[Any], *, by: str) -> None:
    for row in rows.fetch_mode(FETCH_RAISE):
        found[getattr(row, by)].append(row)
