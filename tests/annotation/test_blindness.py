"""Blindness: a walk through every page and operation finds nothing that is hidden; a reveal is written down."""

from __future__ import annotations

import pytest

from tests.annotation import blind_world
from tests.annotation.blind_world import HIDDEN, World
from tests.annotation.walking import Heard

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


def test_the_walk_would_hear_it_somebody_who_is_not_blind_is_told_all_of_it(world):
    heard = blind_world.walk().as_person(world.outside)

    assert {word for word in HIDDEN for answer in heard if word in answer.text} == set(HIDDEN)
