"""Save what an annotator did: once each, in order, never over something that person did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation import guidelines, queue, reading
from annotation.models import Annotation, Assignment, Guideline, Revision
from annotation.operations import Operation, OperationRefused, Values, outcome_of, read_operation
from annotation.progress import NOTHING, Progress, progress_by_assignment
from annotation.texts import storable_json
from annotation.vocabulary import AssignmentState, CampaignState, Change, EnvironmentProblem
from benchmark.rules.vocabulary import Mark

MOST_AT_ONCE = 200

CONFLICT = (
    "This outcome was changed elsewhere since you saw it. Nothing was overwritten: look at both and choose."
)


class Status(StrEnum):
    """What became of an operation."""

    SAVED = "saved"
    CONFLICT = "conflict"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one operation; `version` is what it made, or what stands where nothing was made."""

    operation: str | None
    status: Status
    detail: str = ""
    annotation: int | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What became of a batch, and how the set stands after it."""

    results: tuple[Result, ...]
    assignment: Assignment
    annotations: tuple[Annotation, ...]
    progress: Progress

    def as_json(self) -> dict[str, Any]:
        """Return the answer that the console reads; annotations are as they stand after the batch."""
        documents = {
            document["id"]: document
            for document in reading.annotation_documents(self.annotations, self.assignment.campaign)
        }
        return {
            "results": [
                {
                    "operation": result.operation,
                    "status": result.status.value,
                    "detail": result.detail,
                    "version": result.version,
                    "annotation": documents.get(result.annotation),
                }
                for result in self.results
            ],
            "sequence": self.assignment.sequence,
            "progress": reading.progress_document(self.progress),
            "closed": why_closed(self.assignment),
        }


def save(assignment: Assignment, raw_operations: Sequence[Any]) -> Saved:
    """Save operations in order, in one transaction; each is saved, a conflict, or refused with a sentence.

    What was saved before is answered as saved again. An operation that is no good does not keep the
    others from being saved, but what builds on a conflict is a conflict too.
    """
    asked = [_read(raw) for raw in raw_operations]
    operations = [each for each in asked if isinstance(each, Operation)]
    with transaction.atomic():
        # The lock of a set: its tabs take turns, other sets are not kept waiting.
        locked = (
            Assignment.objects.select_for_update(no_key=True, of=("self",))
            .select_related("campaign")
            .get(pk=assignment.pk)
        )
        batch = _Batch.begin(locked, operations)
        results = tuple(batch.apply(each) if isinstance(each, Operation) else each for each in asked)
        batch.store()
        progress = progress_by_assignment([locked.pk]).get(locked.pk, NOTHING)
    return Saved(
        results=results,
        assignment=locked,
        annotations=tuple(batch.annotations.values()),
        progress=progress,
    )


def why_closed(assignment: Assignment) -> str | None:
    """Return the sentence that tells why nothing can be saved to a set; None where it can."""
    if assignment.campaign.state != CampaignState.OPEN:
        return (
            "This campaign was closed. All that was saved is kept; only changes from now on are not taken. "
            "To go on, ask the lead to open it again."
        )
    if assignment.state == AssignmentState.SUBMITTED:
        return (
            "This set was submitted. To change a mark, ask the lead to open it again; your change waits here."
        )
    if assignment.state == AssignmentState.EXPIRED:
        return (
            "This set was given back, because nobody worked on it for so long or a lead took it back. All that "
            "was saved is kept; take it back on your page of assignments while it is free, or ask the lead."
        )
    return None


def _read(raw: Any) -> Operation | Result:
    try:
        return read_operation(raw)
    except OperationRefused as refused:
        name = raw.get("operation") if isinstance(raw, dict) else None
        shown = storable_json(name[:64]) if isinstance(name, str) else None
        return Result(operation=shown, status=Status.REFUSED, detail=str(refused))


@dataclass(slots=True, kw_only=True)
class _Batch:
    """A locked set with what a batch touches of it; rows are written once, at the end."""

    assignment: Assignment
    closed: str | None
    annotations: dict[int, Annotation]
    known: dict[UUID, Revision]
    live: set[tuple[UUID, int]]
    guideline: Guideline | None
    now: datetime
    made: list[Revision] = field(default_factory=list)
    conflicts: set[int] = field(default_factory=set)

    @classmethod
    def begin(cls, assignment: Assignment, operations: Sequence[Operation]) -> _Batch:
        touched = {operation.annotation for operation in operations}
        annotations = reading.annotations_of(assignment, touched)
        known = Revision.objects.filter(
            assignment=assignment, operation__in=[operation.operation for operation in operations]
        )
        undoing = {each.annotation for each in operations if each.change is Change.UNDO}
        return cls(
            assignment=assignment,
            closed=why_closed(assignment),
            annotations={annotation.pk: annotation for annotation in annotations},
            known={revision.operation: revision for revision in known},
            live=_undoable(assignment, undoing) if undoing else set(),
            guideline=guidelines.current(assignment.campaign),
            now=timezone.now(),
        )

    def apply(self, operation: Operation) -> Result:
        annotation = self.annotations.get(operation.annotation)
        if annotation is None:
            return _result(operation, Status.REFUSED, "This outcome is not part of this set.")
        if (revision := self.known.get(operation.operation)) is not None:
            if revision.annotation_id != annotation.pk:
                sentence = "This operation was saved for another outcome already; name it anew."
                return _result(operation, Status.REFUSED, sentence, annotation)
            return _result(operation, Status.SAVED, "", annotation, version=revision.version)
        if self.closed is not None:
            return _result(operation, Status.REFUSED, self.closed, annotation)
        if operation.base != annotation.version or annotation.pk in self.conflicts:
            self.conflicts.add(annotation.pk)
            return _result(operation, Status.CONFLICT, CONFLICT, annotation)
        try:
            self._write(operation, annotation)
        except OperationRefused as refused:
            return _result(operation, Status.REFUSED, str(refused), annotation)
        return _result(operation, Status.SAVED, "", annotation)

    def store(self) -> None:
        """Write what was made; nothing where nothing was."""
        if not self.made:
            return
        changed = {revision.annotation_id: self.annotations[revision.annotation_id] for revision in self.made}
        Revision.objects.bulk_create(self.made)
        Annotation.objects.bulk_update(
            changed.values(), [*reading.VALUES, "version", "guideline", "saved_at"]
        )
        self.assignment.taken_at = self.assignment.taken_at or self.now
        self.assignment.lease_until = queue.lease_of(self.assignment.campaign, now=self.now)
        self.assignment.save(update_fields=["sequence", "taken_at", "lease_until"])

    def _write(self, operation: Operation, annotation: Annotation) -> None:
        if operation.change is Change.UNDO and (operation.undoes, annotation.pk) not in self.live:
            raise OperationRefused("What this would undo is not there, or was undone already.")
        asked = reading.asked_of(annotation.item, self.assignment.campaign)
        values = outcome_of(operation, values_of(annotation), asked=asked)
        _set(annotation, values)
        annotation.version += 1
        annotation.guideline = self.guideline
        annotation.saved_at = self.now
        self.assignment.sequence += 1
        revision = Revision(
            annotation=annotation,
            assignment=self.assignment,
            sequence=self.assignment.sequence,
            version=annotation.version,
            operation=operation.operation,
            change=operation.change.value,
            undoes=operation.undoes,
            guideline=self.guideline,
            made_at=operation.made_at,
            saved_at=self.now,
            **{name: getattr(annotation, name) for name in reading.VALUES},
        )
        self.made.append(revision)
        self.known[operation.operation] = revision
        if operation.undoes is None:
            self.live.add((operation.operation, annotation.pk))
        else:
            self.live.discard((operation.undoes, annotation.pk))


def values_of(annotation: Annotation) -> Values:
    """Return how an annotation stands, as a plain value."""
    return Values(
        mark=Mark(annotation.mark) if annotation.mark else None,
        score=annotation.score,
        problem=EnvironmentProblem(annotation.problem) if annotation.problem else None,
        problem_text=annotation.problem_text,
        note=annotation.note,
    )


def _set(annotation: Annotation, values: Values) -> None:
    annotation.mark = values.mark.value if values.mark else ""
    annotation.score = values.score
    annotation.problem = values.problem.value if values.problem else ""
    annotation.problem_text = values.problem_text
    annotation.note = values.note


def _undoable(assignment: Assignment, annotations: set[int]) -> set[tuple[UUID, int]]:
    rows = Revision.objects.filter(assignment=assignment, annotation__in=annotations).order_by("sequence")
    live: set[tuple[UUID, int]] = set()
    for operation, annotation, undoes in rows.values_list("operation", "annotation_id", "undoes"):
        if undoes is None:
            live.add((operation, annotation))
        else:
            live.discard((undoes, annotation))
    return live


def _result(
    operation: Operation,
    status: Status,
    detail: str,
    annotation: Annotation | None = None,
    *,
    version: int | None = None,
) -> Result:
    stands = None if annotation is None else annotation.version
    return Result(
        operation=str(operation.operation),
        status=status,
        detail=detail,
        annotation=None if annotation is None else annotation.pk,
        version=stands if version is None else version,
    )
