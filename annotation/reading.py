"""Read a set as its annotator may see it: never the judge's marks, the code agent or what peers said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Count
from django.http import Http404

from annotation import blindness, guidelines
from annotation.hidden_facts import hidden_by
from annotation.models import Annotation, Assignment, Campaign, Comment, Item, Picture, Revision
from annotation.operations import Asked
from annotation.progress import Progress, progress_of, seconds_left, usual_ms
from annotation.times import moment
from annotation.vocabulary import Change, MarkSet
from people import audit
from people.roles import Refused, is_lead

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

RATINGS = "ratings"
"""Key of what ratings are grouped under, where outcomes are grouped by criterion."""

VALUES = ("mark", "score", "problem", "problem_text", "note")


def assignment_for(user: User | AnonymousUser, assignment_id: int) -> Assignment:
    """Return a set that a person may read: an own one, or any for a lead.

    Raises Http404 for anybody else's, so that nobody learns which sets there are, and StillBlind for a
    lead who annotates in the same campaign and would read here what peers say.
    """
    rows = Assignment.objects.select_related("campaign", "annotator", "round__trial__task")
    found = rows.filter(pk=assignment_id).first()
    if found is None or not (found.annotator_id == user.pk or is_lead(user)):
        raise Http404("There is no such assignment among yours.")
    if found.annotator_id != user.pk:
        blindness.require_not_blind(user, found.campaign)
        audit.note_once(user, "see", f"assignment:{found.pk}", campaign=found.campaign_id)
    return found


def own_assignment(user: User | AnonymousUser, assignment_id: int) -> Assignment:
    """Return a set that a person may write in: an own one. Raises as `assignment_for`, and Refused for leads."""
    # Marks are saved all day long: what they need first is one narrow row.
    own = Assignment.objects.filter(pk=assignment_id, annotator=user.pk).first()
    if own is None:
        assignment_for(user, assignment_id)
        raise Refused("Only the annotator of this set writes in it; you read it as a lead.")
    return own


def document(assignment: Assignment, viewer: User | AnonymousUser) -> dict[str, Any]:
    """Return everything that the console shows of a set; nine queries, whatever its size."""
    campaign, task = assignment.campaign, assignment.round.trial.task
    annotations = annotations_of(assignment)
    guideline = guidelines.current(campaign)
    progress = progress_of(annotations)
    usual = usual_ms(campaign, assignment.annotator)
    return {
        "id": assignment.pk,
        "campaign": campaign_document(campaign),
        "alias": assignment.alias,
        # Not the round's own request: from the second round on it tells what the judge found.
        "task": {"key": task.key, "title": task.title, "request": task.request},
        "round": assignment.round.number,
        "state": assignment.state,
        "owner": assignment.rater_name or None,
        "is_mine": assignment.annotator_id is not None and assignment.annotator_id == viewer.pk,
        "guideline": guideline and {"id": guideline.pk, "version": guideline.version, "text": guideline.text},
        "sequence": assignment.sequence,
        "place": assignment.place,
        "lease_until": moment(assignment.lease_until),
        "submitted_at": moment(assignment.submitted_at),
        "revealed_at": moment(assignment.revealed_at),
        "criteria": _criteria(annotations, campaign),
        "annotations": annotation_documents(annotations, campaign),
        "undo": undoable(assignment),
        "progress": progress_document(progress),
        "seconds_left": seconds_left(progress, usual),
    }


def changes(assignment: Assignment, *, after: int) -> dict[str, Any]:
    """Return the annotations that were saved after a sequence number, as they stand now."""
    later = Revision.objects.filter(assignment=assignment, sequence__gt=after)
    ids = set(later.order_by().values_list("annotation_id", flat=True))
    guideline = guidelines.current(assignment.campaign)
    return {
        "sequence": assignment.sequence,
        "guideline_version": guideline and guideline.version,
        "annotations": annotation_documents(annotations_of(assignment, ids), assignment.campaign),
        "state": assignment.state,
    }


def hidden_document(assignment: Assignment) -> dict[str, Any]:
    """Return what blindness hides of a set; for somebody to whom it was revealed."""
    facts = hidden_by(assignment)
    ids = dict(Annotation.objects.filter(assignment=assignment).values_list("item_id", "pk"))
    return {
        "revealed_at": moment(assignment.revealed_at),
        "agent": facts.agent,
        "judge": facts.judge,
        "marks": [
            {
                "annotation": ids[mark.item],
                "criterion": mark.criterion,
                "text": mark.text,
                "judge_mark": mark.judge_mark,
                "rationale": mark.rationale,
                "peers": [
                    {"annotator": peer.annotator, "mark": peer.mark, "score": peer.score, "note": peer.note}
                    for peer in mark.peers
                ],
            }
            for mark in facts.marks
        ],
    }


def campaign_document(campaign: Campaign) -> dict[str, Any]:
    """Return what an annotator has to know of a campaign."""
    return {
        "id": campaign.pk,
        "name": campaign.name,
        "state": campaign.state,
        "mark_set": campaign.mark_set,
        "marks": [mark.value for mark in campaign.marks],
        "scales": campaign.scales,
        "centre": campaign.centre,
        "is_blind": campaign.is_blind,
        "deadline": moment(campaign.deadline),
    }


def annotations_of(assignment: Assignment, ids: Collection[int] | None = None) -> list[Annotation]:
    """Return the annotations of a set (or some of them) in order, with their items and criteria."""
    rows = Annotation.objects.filter(assignment=assignment)
    if ids is not None:
        rows = rows.filter(pk__in=ids)
    return list(rows.select_related("item__outcome__criterion").order_by("item__position"))


def annotation_documents(annotations: Sequence[Annotation], campaign: Campaign) -> list[dict[str, Any]]:
    """Return annotations of one set as the console takes them; two queries."""
    ids = [annotation.pk for annotation in annotations]
    pictures: dict[int, list[dict[str, Any]]] = {}
    for picture in Picture.objects.filter(annotation__in=ids, removed_at=None).order_by("pk"):
        pictures.setdefault(picture.annotation_id, []).append(picture_document(picture))
    comments = _comment_counts(annotations)
    return [
        _annotation(annotation, campaign)
        | {"pictures": pictures.get(annotation.pk, []), "comments": comments[annotation.item_id]}
        for annotation in annotations
    ]


def picture_document(picture: Picture) -> dict[str, Any]:
    """Return what a page needs to show a screenshot."""
    return {
        "id": picture.pk,
        "url": f"/annotation/pictures/{picture.pk}/",
        "width": picture.width,
        "height": picture.height,
    }


def progress_document(progress: Progress) -> dict[str, int]:
    """Return how far a set is."""
    return {"decided": progress.decided, "total": progress.total, "problems": progress.problems}


def undoable(assignment: Assignment) -> list[dict[str, Any]]:
    """Return the operations that can still be undone, oldest first, with how things stood before each."""
    current: dict[int, dict[str, Any]] = {}
    stack: dict[str, dict[str, Any]] = {}
    rows = Revision.objects.filter(assignment=assignment).order_by("sequence")
    for operation, annotation, change, undoes, *values in rows.values_list(
        "operation", "annotation_id", "change", "undoes", *VALUES
    ):
        if change == Change.UNDO:
            stack.pop(str(undoes), None)
        else:
            before = current.get(annotation, UNTOUCHED)
            stack[str(operation)] = {
                "operation": str(operation),
                "annotation": annotation,
                "before": before,
            }
        current[annotation] = dict(zip(VALUES, values, strict=True))
    return list(stack.values())


def asked_of(item: Item, campaign: Campaign) -> Asked:
    """Return what may be said of an item."""
    if campaign.mark_set != MarkSet.SCALES:
        return Asked(marks=campaign.marks)
    scale = _scale(item, campaign)
    return Asked(is_rating=True, minimum=scale.get("minimum", 0), maximum=scale.get("maximum", 100))


UNTOUCHED: dict[str, Any] = {"mark": "", "score": None, "problem": "", "problem_text": "", "note": None}


def _annotation(annotation: Annotation, campaign: Campaign) -> dict[str, Any]:
    item = annotation.item
    outcome = item.outcome
    if outcome is not None:
        place = {"criterion": outcome.criterion.key, "index": outcome.index, "text": outcome.text}
    else:
        scale = _scale(item, campaign)
        text = ": ".join(part for part in (scale.get("title"), scale.get("definition")) if part)
        place = {"criterion": RATINGS, "index": item.position, "text": text or item.scale}
    return (
        {"id": annotation.pk, "item": item.pk}
        | place
        | {
            "mark": annotation.mark,
            "score": annotation.score,
            "scale": item.scale,
            "problem": annotation.problem,
            "problem_text": annotation.problem_text,
            "note": annotation.note,
            "version": annotation.version,
            "active_ms": annotation.active_ms,
            "saved_at": moment(annotation.saved_at),
        }
    )


def _scale(item: Item, campaign: Campaign) -> dict[str, Any]:
    return next((scale for scale in campaign.scales if scale.get("key") == item.scale), {})


def _criteria(annotations: Iterable[Annotation], campaign: Campaign) -> list[dict[str, Any]]:
    criteria: dict[str, dict[str, Any]] = {}
    for annotation in annotations:
        outcome = annotation.item.outcome
        entry: dict[str, Any]
        if outcome is None:
            entry = {"key": RATINGS, "title": "Ratings of the whole", "kind": "", "weight": 1}
        else:
            criterion = outcome.criterion
            entry = {
                "key": criterion.key,
                "title": criterion.title,
                "kind": criterion.kind,
                "weight": criterion.weight,
            }
        criteria.setdefault(entry["key"], entry | {"annotations": []})["annotations"].append(annotation.pk)
    return list(criteria.values())


def _comment_counts(annotations: Sequence[Annotation]) -> Counter[int]:
    if not annotations:
        return Counter()
    rows = Comment.objects.filter(
        assignment=annotations[0].assignment_id, item__in=[each.item_id for each in annotations]
    )
    return Counter(dict(rows.order_by().values_list("item_id").annotate(Count("pk"))))
