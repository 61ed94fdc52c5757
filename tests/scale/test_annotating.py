"""Eight people mark one campaign at the same time, on PostgreSQL."""

from __future__ import annotations

import pytest

from tests.annotation import crowd
from tests.scale.conftest import ScaledBench

pytestmark = [pytest.mark.scale, pytest.mark.slow]


def test_of_eight_annotators_at_once_every_item_gets_two_marks_and_none_is_lost(scaled: ScaledBench):
    scene = crowd.prepare(scaled)
    address = scaled.serve("--no-worker")
    try:
        crowd.check(scaled, scene, crowd.at_work(address, scene))
    finally:
        scaled.stop()
