"""Every annotation as a line of JSON with all that led to it: revisions, times, pictures, comments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from annotation.export_sight import Sight
from annotation.exporting import ExportedSet, Said
from annotation.models import Adjudication, Comment, Picture, Revision
from annotation.times import moment
from runs.exporting import opaque_trial

SCHEMA = "proofroom/annotation/1"


def json_parts(sets: Iterable[ExportedSet], *, sight: Sight) -> Iterator[bytes]:
    """Yield a line for each annotation, a set at a time; what a reader may not see is not in it."""
    for exported in sets:
        lines = [
            json.dumps(_document(exported, said, sight=sight), ensure_ascii=False, allow_nan=False)
            for said in exported.said
        ]
        if lines:
            yield ("\n".join(lines) + "\n").encode()


def _document(exported: ExportedSet, said: Said, *, sight: Sight) -> dict[str, Any]:
    annotation, item = said.annotation, said.annotation.item
    document = {
        "schema": SCHEMA,
        "annotation": annotation.pk,
        **_place(exported),
        "criterion": None if item.outcome is None else item.outcome.criterion.key,
        "kind": None if item.outcome is None else item.outcome.criterion.kind,
        "outcome": None if item.outcome is None else {"index": item.outcome.index, "text": item.outcome.text},
        "scale": item.scale or None,
        "reviewed": said.note is not None,
        "mark": annotation.mark or None,
        "score": annotation.score,
        "environment_problem": _problem(annotation.problem, annotation.problem_text),
        "note": said.note,
        "guideline_version": None if annotation.guideline is None else annotation.guideline.version,
        "version": annotation.version,
        "active_ms": annotation.active_ms,
        "saved_at": moment(annotation.saved_at),
        "blind": exported.is_blind(said),
        "looked_at": exported.looked_at,
        "candidate": exported.assignment.alias,
        "revisions": [_revision(revision) for revision in said.revisions],
        "times": [
            {"operation": str(time.operation), "milliseconds": time.milliseconds, "at": moment(time.saved_at)}
            for time in said.times
        ],
        "pictures": [_picture(picture) for picture in said.pictures],
        "comments": [_comment(comment) for comment in said.comments],
    }
    if sight is Sight.OWN:
        return document
    run = exported.run
    return document | {
        "known_mark": item.known_mark or None,
        "known_score": item.known_score,
        "judge_mark": item.judge_mark or None,
        "adjudications": [_adjudication(adjudication) for adjudication in said.adjudications],
        "run": run.pk,
        "code_agent": run.agent_label,
    }


def _place(exported: ExportedSet) -> dict[str, Any]:
    assignment, run = exported.assignment, exported.run
    return {
        "campaign": assignment.campaign_id,
        "assignment": {
            "id": assignment.pk,
            "state": assignment.state,
            "copy": assignment.copy,
            "generation": assignment.generation,
            "taken_at": moment(assignment.taken_at),
            "submitted_at": moment(assignment.submitted_at),
            "expired_at": moment(assignment.expired_at),
            "revealed_at": moment(assignment.revealed_at),
        },
        "annotator": {"id": assignment.annotator_id, "name": exported.rater or None},
        "benchmark": {
            "key": run.benchmark.key,
            "version": run.benchmark.version,
            "hash": run.benchmark_hash,
        },
        "task": exported.round.trial.task.key,
        "trial": opaque_trial(exported.round),
        "round": exported.round.number,
        "snapshot": exported.round.snapshot,
    }


def _problem(word: str, text: str) -> dict[str, str] | None:
    return {"reason": word, "text": text} if word else None


def _revision(revision: Revision) -> dict[str, Any]:
    return {
        "sequence": revision.sequence,
        "version": revision.version,
        "operation": str(revision.operation),
        "change": revision.change,
        "undoes": None if revision.undoes is None else str(revision.undoes),
        "mark": revision.mark or None,
        "score": revision.score,
        "environment_problem": _problem(revision.problem, revision.problem_text),
        "note": revision.note,
        "guideline_version": None if revision.guideline is None else revision.guideline.version,
        "made_at": moment(revision.made_at),
        "saved_at": moment(revision.saved_at),
    }


def _picture(picture: Picture) -> dict[str, Any]:
    return {
        "sha256": picture.digest,
        "source": picture.source,
        "media_type": picture.media_type,
        "size": picture.size,
        "width": picture.width,
        "height": picture.height,
        "added_at": moment(picture.added_at),
        "removed_at": moment(picture.removed_at),
    }


def _comment(comment: Comment) -> dict[str, Any]:
    return {
        "id": comment.pk,
        "parent": comment.parent_id,
        "is_of_leads": comment.assignment_id is None,
        "author": None if comment.author is None else comment.author.get_username(),
        "text": comment.text,
        "at": moment(comment.created_at),
        "settled_at": moment(comment.settled_at),
    }


def _adjudication(adjudication: Adjudication) -> dict[str, Any]:
    return {
        "number": adjudication.number,
        "by": None if adjudication.by is None else adjudication.by.get_username(),
        "mark": adjudication.mark or None,
        "score": adjudication.score,
        "note": adjudication.note,
        "at": moment(adjudication.created_at),
    }
