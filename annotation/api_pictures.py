"""Screenshots of annotators as data: added once, removed, brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import File, Form, Router, Schema
from ninja.files import UploadedFile
from ninja.responses import Status

from annotation import pictures, reading
from annotation.models import Annotation, Picture
from annotation.pictures import LARGEST_FILE, PictureRefused, SetClosed
from annotation.vocabulary import PictureSource

if TYPE_CHECKING:
    from django.contrib.auth.models import User

router = Router(tags=["annotation"])


class Refusal(Schema):
    """Why a picture was refused: one sentence."""

    detail: str


class PictureIn(Schema):
    """Which outcome a screenshot belongs to, and how it came."""

    operation: UUID
    annotation: int
    source: PictureSource


@router.post(
    "/assignments/{assignment_id}/pictures", response={200: dict[str, Any], 409: Refusal, 422: Refusal}
)
def add(
    request: HttpRequest, assignment_id: int, sent: Form[PictureIn], file: File[UploadedFile]
) -> Status[Any]:
    """Keep a screenshot of an outcome; the same operation sent again is answered as the first time."""
    found = get_object_or_404(
        Annotation.objects.select_related("assignment__campaign"),
        pk=sent.annotation,
        assignment=reading.assignment_for(request.user, assignment_id),
    )
    # One byte more than is allowed is enough to refuse it.
    content = file.read(LARGEST_FILE + 1)
    try:
        added = pictures.add_picture(
            found,
            operation=sent.operation,
            source=sent.source,
            content=content,
            by=_user(request),
            now=timezone.now(),
        )
    except PictureRefused as refused:
        return _refusal(refused)
    return Status(200, reading.picture_document(added))


@router.delete("/pictures/{picture_id}", response={200: dict[str, Any], 409: Refusal})
def remove(request: HttpRequest, picture_id: int) -> Status[Any]:
    """Take a screenshot out of its outcome; `restore` brings it back."""
    found = _picture(request, picture_id)
    try:
        pictures.remove_picture(found, by=_user(request), now=timezone.now())
    except PictureRefused as refused:
        return _refusal(refused)
    return Status(200, reading.picture_document(found))


@router.post("/pictures/{picture_id}/restore", response={200: dict[str, Any], 409: Refusal})
def restore(request: HttpRequest, picture_id: int) -> Status[Any]:
    """Bring a removed screenshot back."""
    found = _picture(request, picture_id)
    try:
        pictures.restore_picture(found, by=_user(request))
    except PictureRefused as refused:
        return _refusal(refused)
    return Status(200, reading.picture_document(found))


def _picture(request: HttpRequest, picture_id: int) -> Picture:
    found = Picture.objects.select_related("annotation__assignment__campaign").filter(pk=picture_id).first()
    if found is None:
        raise Http404("There is no such picture among yours.")
    reading.assignment_for(request.user, found.annotation.assignment_id)
    return found


def _user(request: HttpRequest) -> User:
    # The router lets nobody in who is not signed in.
    assert request.user.is_authenticated
    return request.user


def _refusal(refused: PictureRefused) -> Status[Any]:
    return Status(409 if isinstance(refused, SetClosed) else 422, {"detail": str(refused)})
