"""Comments of a set as data: its annotator and the leads talk here, and nobody else listens."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router, Schema
from ninja.responses import Status

from annotation import comments
from annotation.models import Annotation, Assignment, Comment
from annotation.times import moment
from people.roles import is_lead

router = Router(tags=["annotation"])


class Refusal(Schema):
    """Why nothing was done, as a sentence."""

    detail: str


class CommentIn(Schema):
    """A contribution about one annotation of the set; `parent` is the comment it answers."""

    annotation: int
    text: str
    parent: int | None = None


_NOT_YOURS = {"detail": "The threads of this set are between its annotator and the leads."}


@router.get("/assignments/{int:assignment_id}/comments", response={200: dict[str, Any], 403: Refusal})
def read_comments(request: HttpRequest, assignment_id: int) -> Status[Any]:
    """Return every contribution to the set's threads, oldest first."""
    assignment = _assignment(request, assignment_id)
    if not comments.may_talk(request.user, assignment):
        return Status(403, _NOT_YOURS)
    annotations = dict(Annotation.objects.filter(assignment=assignment).values_list("item_id", "pk"))
    return Status(
        200,
        {
            "comments": [
                _comment(comment, assignment, annotations.get(comment.item_id), request)
                for comment in comments.of_assignment(assignment)
            ]
        },
    )


@router.post(
    "/assignments/{int:assignment_id}/comments", response={201: dict[str, Any], 403: Refusal, 422: Refusal}
)
def write_comment(request: HttpRequest, assignment_id: int, wanted: CommentIn) -> Status[Any]:
    """Add to the thread about one annotation of the set."""
    assignment = _assignment(request, assignment_id)
    if not comments.may_talk(request.user, assignment):
        return Status(403, _NOT_YOURS)
    annotation = get_object_or_404(
        Annotation.objects.select_related("assignment__campaign", "item"),
        pk=wanted.annotation,
        assignment=assignment,
    )
    assert request.user.is_authenticated
    try:
        added = comments.add_to_assignment(
            annotation, by=request.user, text=wanted.text, parent=wanted.parent
        )
    except comments.BadComment as bad:
        return Status(422, {"detail": str(bad)})
    return Status(201, _comment(added, assignment, annotation.pk, request))


def _assignment(request: HttpRequest, assignment_id: int) -> Assignment:
    found = get_object_or_404(Assignment.objects.select_related("campaign"), pk=assignment_id)
    # Somebody else's is answered as one that there is not, so that nobody learns which sets there are.
    if found.annotator_id != request.user.pk and not is_lead(request.user):
        raise Http404
    return found


def _comment(
    comment: Comment, assignment: Assignment, annotation: int | None, request: HttpRequest
) -> dict[str, Any]:
    author = comment.author
    return {
        "id": comment.pk,
        "annotation": annotation,
        "parent": comment.parent_id,
        "author": author.get_username() if author else "",
        "is_mine": author is not None and author.pk == request.user.pk,
        "is_lead": author is not None and author.pk != assignment.annotator_id,
        "text": comment.text,
        "created_at": moment(comment.created_at),
        "settled_at": moment(comment.settled_at),
    }
