"""Screenshots of annotators as data: added to an outcome, taken out of it, and brought back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import File, Form, Router, Schema, UploadedFile
from ninja.responses import Status

from annotation import pictures, reading
from annotation.models import Annotation, Picture
from annotation.vocabulary import PictureSource

router = Router(tags=["annotation"])


class Refusal(Schema):
    """Why a picture was refused, in one sentence."""

    detail: str


class PictureIn(Schema):
    """Which outcome a picture belongs to, how it came, and the name of this act."""

    operation: UUID
    annotation: int
    source: PictureSource


@router.post(
    "/assignments/{assignment_id}/pictures", response={201: dict[str, Any], 409: Refusal, 422: Refusal}
)
def add_picture(
    request: HttpRequest,
    assignment_id: int,
    sent: Form[PictureIn],
    file: File[UploadedFile],
) -> Status[Any]:
    """Add a screenshot to an outcome; the same operation sent again answers with what it made."""
    found = reading.own_assignment(request.user, assignment_id)
    annotation = get_object_or_404(
        Annotation.objects.select_related("assignment__campaign"), pk=sent.annotation, assignment=found
    )
    try:
        picture = pictures.add_picture(
            annotation,
            operation=sent.operation,
            source=sent.source,
            # One byte more than is taken, so that what is too large is told by its sentence.
            content=file.read(pictures.LARGEST_FILE + 1),
            by=request.user,
            now=timezone.now(),
        )
    except pictures.PictureRefused as refused:
        return Status(422, {"detail": str(refused)})
    return Status(201, reading.picture_document(picture) | {"annotation": annotation.pk})


@router.delete("/pictures/{picture_id}", response={204: None, 409: Refusal})
def remove_picture(request: HttpRequest, picture_id: int) -> Status[Any]:
    """Take a picture out of its outcome; its bytes stay, so that this can be undone."""
    try:
        pictures.remove_picture(_own(request, picture_id), by=request.user, now=timezone.now())
    except pictures.PictureRefused as refused:
        return Status(409, {"detail": str(refused)})
    return Status(204, None)


@router.post("/pictures/{picture_id}/restore", response={200: dict[str, Any], 409: Refusal})
def restore_picture(request: HttpRequest, picture_id: int) -> Status[Any]:
    """Bring a removed picture back."""
    picture = _own(request, picture_id)
    try:
        pictures.restore_picture(picture, by=request.user)
    except pictures.PictureRefused as refused:
        return Status(409, {"detail": str(refused)})
    return Status(200, reading.picture_document(picture) | {"annotation": picture.annotation_id})


def _own(request: HttpRequest, picture_id: int) -> Picture:
    found = Picture.objects.select_related("annotation__assignment").filter(pk=picture_id).first()
    if found is None or found.annotation.assignment.annotator_id != request.user.pk:
        raise Http404("There is no such picture among yours.")
    return found
