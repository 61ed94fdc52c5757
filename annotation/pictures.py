"""Keep the screenshots of annotators: each is drawn anew by us, without what was hidden in its file."""

from __future__ import annotations

import io
import struct
import threading
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import IntegrityError, transaction
from PIL import Image, ImageOps

from annotation.models import Annotation, Assignment, Picture
from annotation.vocabulary import AssignmentState, CampaignState, PictureSource
from benchmark import blobs
from people.roles import Refused

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

LARGEST_FILE = 10 << 20
MOST_PIXELS = 40_000_000
MOST_OF_AN_OUTCOME = 30

_READ = ("PNG", "JPEG", "WEBP", "GIF")
_LONGEST_WEBP = 16_383
# A picture of the largest size takes a quarter of a gigabyte while it is drawn anew.
_AT_ONCE = threading.BoundedSemaphore(2)
_UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error)


class PictureRefused(ValueError):
    """A picture cannot be kept; the message is one sentence with the way out."""


class SetClosed(PictureRefused):
    """The set is no longer worked on, so nothing is added and nothing removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A picture as we encode it: pixels and nothing else."""

    content: bytes
    media_type: str
    width: int
    height: int


def add_picture(
    annotation: Annotation,
    *,
    operation: UUID,
    source: PictureSource,
    content: bytes,
    by: User | AnonymousUser,
    now: datetime,
) -> Picture:
    """Keep a screenshot of an annotation; the same operation sent again answers with what it made.

    Raises PictureRefused, or Refused for anybody but the annotator of the set.
    """
    assignment = annotation.assignment
    _require_own(assignment, by)
    known = Picture.objects.filter(operation=operation).first()
    if known is not None:
        return _same(known, annotation)
    _require_open(assignment)
    if annotation.pictures.filter(removed_at=None).count() >= MOST_OF_AN_OUTCOME:
        raise PictureRefused(
            f"This outcome holds {MOST_OF_AN_OUTCOME} pictures, which is the most; remove one first."
        )
    drawn = drawn_anew(content)
    digest = blobs.save_bytes(drawn.content)
    try:
        with transaction.atomic():
            picture = Picture.objects.create(
                annotation=annotation,
                operation=operation,
                source=PictureSource(source),
                digest=digest,
                media_type=drawn.media_type,
                size=len(drawn.content),
                width=drawn.width,
                height=drawn.height,
            )
            # Somebody who takes pictures is at work: the set stays with that person.
            Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.OPEN).update(
                lease_until=now + timedelta(hours=assignment.campaign.lease_hours)
            )
    except IntegrityError:
        # The same operation came twice at the same moment.
        return _same(Picture.objects.get(operation=operation), annotation)
    return picture


def remove_picture(picture: Picture, *, by: User | AnonymousUser, now: datetime) -> None:
    """Take a picture out of its outcome; it can be brought back. Raises as `add_picture` does."""
    _require_own(picture.annotation.assignment, by)
    _require_open(picture.annotation.assignment)
    Picture.objects.filter(pk=picture.pk, removed_at=None).update(removed_at=now)


def restore_picture(picture: Picture, *, by: User | AnonymousUser) -> None:
    """Bring a removed picture back. Raises as `add_picture` does."""
    _require_own(picture.annotation.assignment, by)
    _require_open(picture.annotation.assignment)
    Picture.objects.filter(pk=picture.pk).update(removed_at=None)


def drawn_anew(content: bytes) -> Drawn:
    """Return a picture encoded by us: turned upright, first frame only, no metadata.

    Raises PictureRefused for what is too large or no picture.
    """
    if len(content) > LARGEST_FILE:
        raise PictureRefused(
            f"The picture is larger than {LARGEST_FILE >> 20} MB; crop it or save it smaller."
        )
    with _AT_ONCE:
        try:
            with Image.open(io.BytesIO(content), formats=_READ) as opened:
                # The size stands in the file's head: nothing was unpacked yet.
                if opened.width * opened.height > MOST_PIXELS:
                    raise _too_many_pixels()
                is_photo = opened.format == "JPEG"
                upright = ImageOps.exif_transpose(opened)
                image = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            raise _too_many_pixels() from None
        except PictureRefused:
            raise
        except _UNREADABLE:
            raise PictureRefused(
                "This is no picture that can be read; a PNG, JPEG, WebP or GIF file is."
            ) from None
        return _encoded(image, is_photo=is_photo)


def _encoded(image: Image.Image, *, is_photo: bool) -> Drawn:
    # A fresh image: whatever the file said beside its pixels stays behind.
    bare = Image.new(image.mode, image.size)
    bare.paste(image)
    stream = io.BytesIO()
    if is_photo and max(bare.size) <= _LONGEST_WEBP:
        bare.save(stream, "WEBP", quality=88, method=2)
        media_type = "image/webp"
    else:
        bare.save(stream, "PNG", compress_level=6)
        media_type = "image/png"
    return Drawn(content=stream.getvalue(), media_type=media_type, width=bare.width, height=bare.height)


def _too_many_pixels() -> PictureRefused:
    return PictureRefused(
        f"The picture has more than {MOST_PIXELS // 1_000_000} million pixels; take a smaller part of it."
    )


def _same(picture: Picture, annotation: Annotation) -> Picture:
    if picture.annotation_id != annotation.pk:
        raise PictureRefused("This picture was added to another outcome already; add it anew.")
    return picture


def _require_own(assignment: Assignment, by: User | AnonymousUser) -> None:
    if by.pk is None or assignment.annotator_id != by.pk:
        raise Refused("This set is somebody else's; only its annotator adds or removes pictures.")


def _require_open(assignment: Assignment) -> None:
    if assignment.campaign.state != CampaignState.OPEN:
        raise SetClosed("This campaign was closed, so its pictures stay as they are; ask the lead.")
    if assignment.state != AssignmentState.OPEN:
        raise SetClosed("This set is no longer open, so its pictures stay as they are; ask the lead.")
