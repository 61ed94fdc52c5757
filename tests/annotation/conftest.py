"""A set at work and its annotator, for tests that say nothing special of either."""

from __future__ import annotations

import pytest

from annotation.models import Assignment
from tests import campaigns
from tests.annotation.clients import Person


@pytest.fixture
def mine() -> Assignment:
    """A set that somebody works on."""
    return campaigns.taken()


@pytest.fixture
def person(mine: Assignment) -> Person:
    """Its annotator, signed in."""
    assert mine.annotator is not None
    return Person(mine.annotator, mine)
