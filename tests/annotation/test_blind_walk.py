"""A walk through every page, file and operation of the site finds nothing that is hidden while blind."""

from __future__ import annotations

import pytest

from annotation.vocabulary import Centre
from tests.annotation import blind_world
from tests.annotation.blind_world import HIDDEN, World
from tests.annotation.walking import CannotFill, Heard, Place, Walk

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def world() -> World:
    return blind_world.made()


def telling(heard: list[Heard]) -> str:
    """The answers that tell something hidden, each with what it tells, a line each."""
    return "\n".join(f"{answer}: {word}" for answer in heard for word in HIDDEN if word in answer.text)


@pytest.mark.parametrize("name", ["annotator", "mixed", "boss"])
def test_no_answer_of_the_site_tells_a_blind_annotator_what_is_hidden(world, name):
    person = getattr(world, name)

    heard = blind_world.walk().as_person(person)

    assert telling(heard) == ""
    assert [str(answer) for answer in heard if answer.status >= 500] == []
    own = world.own(person).get_absolute_url()
    assert any(answer.address == own and answer.status == 200 for answer in heard)


def test_no_page_changes_with_what_the_judge_or_a_peer_has_marked(world):
    walk = blind_world.walk()
    before = walk.reads(world.mixed)

    blind_world.turn_marks_round(world)

    after = walk.reads(world.mixed)
    assert [str(first) for first, second in zip(before, after, strict=True) if first != second] == []


@pytest.mark.parametrize("centre", [Centre.FILES, Centre.LIVE])
def test_no_other_centre_tells_what_is_hidden(centre):
    world = blind_world.made(centre=centre)

    heard = blind_world.walk().as_person(world.annotator, below=("annotation/", "api/"))

    assert telling(heard) == ""
    assert any(answer.address == world.own(world.annotator).get_absolute_url() for answer in heard)


def test_the_walk_would_hear_it_somebody_who_is_not_blind_is_told_all_of_it(world):
    walk = blind_world.walk()
    before = walk.reads(world.outside)
    assert {word for word in HIDDEN for answer in before if word in answer.text} == set(HIDDEN)

    blind_world.turn_marks_round(world)

    after = walk.reads(world.outside)
    changed = {first.address for first, second in zip(before, after, strict=True) if first != second}
    assert world.run.get_absolute_url() in changed
    assert f"/campaigns/{world.blind.pk}/export/csv/" in changed


def test_an_address_that_nobody_taught_the_walk_to_fill_fails_it():
    place = Place(route="campaigns/<int:campaign_id>/secrets/<slug:secret>/", name="annotation:secrets")

    with pytest.raises(CannotFill, match="Nothing fills 'secret'"):
        Walk(fillers={"campaign_id": [1]}, admin_rows={}).addresses(place)
