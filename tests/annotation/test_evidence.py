"""Recorded evidence under neutral names: the candidate is shown, the judge's opinion is not."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.models import Assignment
from benchmark import blobs
from benchmark.rules.vocabulary import Mark
from people.roles import SiteRole
from runs.models import Verdict
from runs.ports import EvidenceKind
from tests import campaigns
from tests.annotation import looks

pytestmark = pytest.mark.django_db

PIECES = (
    (EvidenceKind.SCREENSHOT, "image/png", looks.png()),
    (EvidenceKind.ACTIONS, "application/json", b'{"steps": [{"words": "clicked it", "ok": false}]}'),
    (EvidenceKind.CONSOLE, "application/json", b'{"entries": [{"type": "error", "text": "console words"}]}'),
    (EvidenceKind.DOM, "text/plain", b'- heading "Seeds by heron-2"\n- <b>bold</b> \x1b[31m'),
    (EvidenceKind.TRACE, "application/zip", b"PK trace"),
)


@pytest.fixture
def seen():
    """A blind set whose first outcome has every kind of evidence, and its annotator's client."""
    assignment = looks.a_set(centre="evidence")
    annotation = looks.first(assignment)
    verdict = looks.record(annotation, *PIECES)
    Verdict.objects.filter(pk=verdict.pk).update(mark=Mark.FAIL, rationale="The judge's own words.")
    return assignment, annotation, looks.client(assignment.annotator)


def _address(assignment, annotation, number=None):
    base = f"/annotation/{assignment.pk}/evidence/{annotation.pk}/"
    return base if number is None else f"{base}{number}/"


def test_a_blind_annotator_sees_pictures_and_page_texts_and_no_opinion(seen):
    assignment, annotation, client = seen

    page = client.get(_address(assignment, annotation)).content.decode()

    assert "Picture 1" in page
    assert "Text of the page" in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    for secret in ("The judge&#x27;s own words", "clicked it", "console words", "heron-2", "Fail", "chip--"):
        assert secret not in page


def test_an_annotator_after_a_reveal_sees_mark_words_and_steps(seen):
    assignment, annotation, client = seen
    Assignment.objects.update(revealed_at=timezone.now())

    page = client.get(_address(assignment, annotation)).content.decode()

    for shown in ("The judge&#x27;s own words", "Clicked it", "console words", "heron-2", "chip--fail"):
        assert shown in page


def test_bytes_are_inert_and_carry_no_name(seen):
    assignment, annotation, client = seen

    picture = client.get(_address(assignment, annotation, 1))
    text = client.get(_address(assignment, annotation, 2))

    assert (picture["Content-Type"], text["Content-Type"]) == ("image/png", "text/plain; charset=utf-8")
    for answer in (picture, text):
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert "heron" not in str(answer.headers)
    assert b"heron" not in text.content


@pytest.mark.parametrize("media_type", ["image/svg+xml", "text/html", "image/png; x=1"])
def test_a_picture_that_could_run_is_never_shown_in_place(media_type):
    assignment = looks.a_set(centre="evidence")
    annotation = looks.first(assignment)
    looks.record(annotation, (EvidenceKind.SCREENSHOT, media_type, b"<svg onload='alert(1)'/>"))

    answer = looks.client(assignment.annotator).get(_address(assignment, annotation, 1))

    assert answer["Content-Type"] in ("application/octet-stream", "image/png")
    if answer["Content-Type"] != "image/png":
        assert answer["Content-Disposition"] == 'attachment; filename="evidence-1"'


def test_no_piece_beyond_what_is_listed_can_be_had(seen):
    assignment, annotation, client = seen

    answers = [client.get(_address(assignment, annotation, number)).status_code for number in (0, 3, 4, 5)]

    assert answers == [404, 404, 404, 404]


def test_nothing_recorded_is_said_plainly():
    assignment = looks.a_set(centre="evidence")
    annotation = looks.first(assignment)
    looks.record(annotation)

    page = looks.client(assignment.annotator).get(_address(assignment, annotation)).content.decode()

    assert "Nothing was recorded" in page


def test_lost_bytes_are_said_and_not_shown_as_a_broken_picture(own_blobs):
    assignment = looks.a_set(centre="evidence")
    annotation = looks.first(assignment)
    looks.record(annotation, (EvidenceKind.SCREENSHOT, "image/png", b"gone"))
    digest = blobs.save_bytes(b"gone")
    (own_blobs / digest[:2] / digest[2:4] / digest).unlink()
    client = looks.client(assignment.annotator)

    page = client.get(_address(assignment, annotation)).content.decode()

    assert "missing from the store" in page
    assert "<img" not in page
    assert client.get(_address(assignment, annotation, 1)).status_code == 410


def test_evidence_is_for_the_annotator_and_leads_alone(seen):
    assignment, annotation, _ = seen
    strangers = (campaigns.person(), campaigns.person("reader", SiteRole.READER))

    for address in (_address(assignment, annotation), _address(assignment, annotation, 1)):
        assert looks.client(campaigns.lead()).get(address).status_code == 200
        assert [looks.client(person).get(address).status_code for person in strangers] == [404, 404]


def test_an_annotation_of_another_set_is_not_found_through_ones_own(seen):
    assignment, _, client = seen
    other = looks.first(looks.a_set(centre="evidence"))

    assert client.get(_address(assignment, other)).status_code == 404
    assert client.get(_address(assignment, other, 1)).status_code == 404


def test_rated_trials_show_what_was_recorded_for_all_outcomes():
    assignment = campaigns.taken(campaigns.rated(campaigns.run(), centre="evidence"))
    annotation = looks.first(assignment)

    page = looks.client(assignment.annotator).get(_address(assignment, annotation)).content.decode()

    # Three criteria of two outcomes, one picture each.
    assert "Picture 6" in page


def test_tasks_without_a_page_show_the_recorded_texts():
    assignment = looks.a_set(centre="files")
    annotation = looks.first(assignment)
    looks.record(
        annotation,
        (EvidenceKind.SCREENSHOT, "image/png", looks.png()),
        (EvidenceKind.LOG, "text/plain", b"input: 3\noutput: 4"),
    )

    page = looks.client(assignment.annotator).get(_address(assignment, annotation)).content.decode()

    assert "output: 4" in page
    assert "<img" not in page
