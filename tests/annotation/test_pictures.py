"""Screenshots of annotators are drawn anew, kept once, and shown to nobody else."""

from __future__ import annotations

import io
import struct
import zlib
from uuid import uuid4

import pytest
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from annotation import opening, pictures
from annotation.models import Assignment, Picture
from annotation.pictures import PictureRefused, drawn_anew
from annotation.vocabulary import AssignmentState, PictureSource
from benchmark import blobs
from tests import campaigns
from tests.annotation import looks


def _added(annotation, content=None, *, operation=None, by=None):
    return pictures.add_picture(
        annotation,
        operation=operation or uuid4(),
        source=PictureSource.PASTE,
        content=looks.png() if content is None else content,
        by=by or annotation.assignment.annotator,
        now=timezone.now(),
    )


def _claims(width: int, height: int) -> bytes:
    """A PNG file whose head claims a size that its few bytes do not hold."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def test_what_a_file_says_beside_its_pixels_is_gone():
    stream = io.BytesIO()
    notes = PngInfo()
    notes.add_text("Author", "somebody at a desk")
    exif = Image.Exif()
    exif[0x010E] = "where it was taken"
    Image.new("RGB", (20, 10), "red").save(stream, "PNG", pnginfo=notes, exif=exif)

    drawn = drawn_anew(stream.getvalue() + b"<script>alert(1)</script>")

    assert b"somebody" not in drawn.content
    assert b"where it was" not in drawn.content
    assert b"script" not in drawn.content
    with Image.open(io.BytesIO(drawn.content)) as image:
        assert (image.format, image.size, image.getpixel((3, 3))) == ("PNG", (20, 10), (255, 0, 0))
        assert image.info == {}


def test_a_photo_is_turned_upright_and_kept_as_webp():
    stream = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 20), "blue").save(stream, "JPEG", exif=exif)

    drawn = drawn_anew(stream.getvalue())

    assert (drawn.media_type, drawn.width, drawn.height) == ("image/webp", 20, 40)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "1", "I;16", "RGB"])
def test_pictures_of_every_colour_mode_can_be_kept(mode):
    stream = io.BytesIO()
    Image.new(mode, (9, 7)).save(stream, "PNG")

    drawn = drawn_anew(stream.getvalue())

    assert (drawn.width, drawn.height) == (9, 7)


def test_a_long_page_is_kept_whole():
    drawn = drawn_anew(looks.png(390, 30_000))

    assert (drawn.media_type, drawn.height) == ("image/png", 30_000)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no picture"),
        (b"<!doctype html><title>x</title>", "no picture"),
        (looks.png()[:60], "no picture"),
        (_claims(40, 30), "no picture"),
        (_claims(9000, 9000), "40 million pixels"),
        (_claims(60_000, 60_000), "40 million pixels"),
        (b"\0" * (pictures.LARGEST_FILE + 1), "10 MB"),
    ],
    ids=["empty", "svg", "html", "cut", "lies", "many pixels", "bomb", "large"],
)
def test_what_is_no_picture_or_too_large_is_refused_in_one_sentence(content, words):
    with pytest.raises(PictureRefused, match=words) as refused:
        drawn_anew(content)

    assert str(refused.value).count(".") == 1


@pytest.mark.django_db
def test_the_same_operation_keeps_one_picture():
    annotation = looks.first(looks.a_set())
    operation = uuid4()

    once, again = (_added(annotation, operation=operation) for _ in range(2))

    assert once == again
    assert Picture.objects.count() == 1
    assert blobs.is_stored(once.digest)


@pytest.mark.django_db
def test_an_operation_of_one_outcome_adds_nothing_to_another():
    assignment = looks.a_set()
    one, other = assignment.annotations.order_by("pk")[:2]
    operation = uuid4()
    _added(one, operation=operation)

    with pytest.raises(PictureRefused, match="another outcome"):
        _added(other, operation=operation)


@pytest.mark.django_db
def test_only_the_annotator_of_an_open_set_adds_and_removes():
    annotation = looks.first(looks.a_set())
    picture = _added(annotation)
    owner = annotation.assignment.annotator
    assert owner is not None
    stranger, lead = campaigns.person(), campaigns.lead()

    for other in (stranger, lead):
        with pytest.raises(PermissionDenied):
            _added(annotation, by=other)
        with pytest.raises(PermissionDenied):
            pictures.remove_picture(picture, by=other, now=timezone.now())
    Assignment.objects.update(state=AssignmentState.SUBMITTED)
    annotation, picture = looks.first(annotation.assignment), Picture.objects.get()

    with pytest.raises(PictureRefused, match="no longer open"):
        _added(annotation, by=owner)
    with pytest.raises(PictureRefused, match="no longer open"):
        pictures.remove_picture(picture, by=owner, now=timezone.now())


@pytest.mark.django_db
def test_a_closed_campaign_takes_no_pictures_and_keeps_those_it_has():
    annotation = looks.first(looks.a_set())
    picture = _added(annotation)
    owner = annotation.assignment.annotator
    assert owner is not None
    opening.close_campaign(annotation.assignment.campaign, by=None)
    annotation, picture = looks.first(annotation.assignment), Picture.objects.get()

    with pytest.raises(PictureRefused, match="campaign was closed"):
        _added(annotation, by=owner)
    with pytest.raises(PictureRefused, match="campaign was closed"):
        pictures.remove_picture(picture, by=owner, now=timezone.now())
    assert Picture.objects.get().removed_at is None


@pytest.mark.django_db
def test_a_removed_picture_comes_back():
    annotation = looks.first(looks.a_set())
    picture = _added(annotation)
    owner = annotation.assignment.annotator
    assert owner is not None

    pictures.remove_picture(picture, by=owner, now=timezone.now())
    removed = Picture.objects.get().removed_at
    pictures.restore_picture(picture, by=owner)

    assert removed is not None
    assert Picture.objects.get().removed_at is None


@pytest.mark.django_db
def test_an_outcome_takes_no_more_pictures_than_a_person_looks_at():
    annotation = looks.first(looks.a_set())
    for _ in range(pictures.MOST_OF_AN_OUTCOME):
        _added(annotation)

    with pytest.raises(PictureRefused, match="remove one first"):
        _added(annotation)


@pytest.mark.django_db
def test_a_picture_is_shown_to_its_annotator_and_to_leads_alone():
    annotation = looks.first(looks.a_set())
    picture = _added(annotation)
    address = f"/annotation/pictures/{picture.pk}/"
    people = (annotation.assignment.annotator, campaigns.lead(), campaigns.person())

    answers = [looks.client(person).get(address) for person in people]

    assert [answer.status_code for answer in answers] == [200, 200, 404]
    shown = answers[0]
    assert shown["Content-Type"] == "image/png"
    assert shown["X-Content-Type-Options"] == "nosniff"
    assert shown["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert shown["Cross-Origin-Resource-Policy"] == "same-origin"
    assert shown["Cache-Control"].startswith("private")


def _sent(client, annotation, content, **fields):
    body = {"operation": str(uuid4()), "annotation": annotation.pk, "source": "paste"} | fields
    body["file"] = SimpleUploadedFile("a screenshot.png", content, "image/png")
    return client.post(f"/api/v1/assignments/{annotation.assignment_id}/pictures", body)


@pytest.mark.django_db
def test_a_picture_is_sent_removed_and_brought_back_through_the_interface():
    annotation = looks.first(looks.a_set())
    client = looks.client(annotation.assignment.annotator)
    operation = str(uuid4())

    added, again = (_sent(client, annotation, looks.png(), operation=operation) for _ in range(2))
    number = added.json()["id"]
    removed = client.delete(f"/api/v1/pictures/{number}")
    restored = client.post(f"/api/v1/pictures/{number}/restore")

    assert added.status_code == 200
    assert added.json() == again.json()
    assert (added.json()["width"], added.json()["height"]) == (40, 30)
    assert client.get(added.json()["url"]).status_code == 200
    assert (removed.status_code, restored.status_code) == (200, 200)
    assert Picture.objects.get().removed_at is None


@pytest.mark.django_db
def test_what_is_refused_is_answered_with_one_sentence():
    annotation = looks.first(looks.a_set())
    client = looks.client(annotation.assignment.annotator)

    answer = _sent(client, annotation, b"<svg/>")

    assert answer.status_code == 422
    assert answer.json() == {
        "detail": "This is no picture that can be read; a PNG, JPEG, WebP or GIF file is."
    }


@pytest.mark.django_db
def test_the_interface_lets_nobody_write_into_the_set_of_another():
    annotation = looks.first(looks.a_set())
    picture = _added(annotation)

    for person, expected in ((campaigns.person(), 404), (campaigns.lead(), 403)):
        # A lead sees the set and does not write in it; for others there is none.
        client = looks.client(person)
        answers = [
            _sent(client, annotation, looks.png()),
            client.delete(f"/api/v1/pictures/{picture.pk}"),
            client.post(f"/api/v1/pictures/{picture.pk}/restore"),
        ]
        assert [answer.status_code for answer in answers] == [expected, expected, expected]
    assert Picture.objects.filter(removed_at=None).count() == 1
