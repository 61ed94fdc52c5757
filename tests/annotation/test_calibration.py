"""Drift on calibration items: early against late, by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.calibration import Answer, drift_by_annotator, is_right_score

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def answers(*right: bool, annotator: int = 1) -> list[Answer]:
    return [
        Answer(annotator=annotator, saved_at=NOON + timedelta(minutes=place), is_right=each)
        for place, each in enumerate(right)
    ]


def test_shares_are_of_the_first_and_the_second_half_in_order_of_time():
    # 5 answers: the middle one is early. Early 3 of 3, late 0 of 2: down by a whole.
    drift = drift_by_annotator(reversed(answers(True, True, True, False, False)))[1]

    assert (drift.early_right, drift.early_n, drift.late_right, drift.late_n) == (3, 3, 0, 2)
    assert drift.change == pytest.approx(-1.0)


def test_a_single_answer_has_no_later_half_and_so_no_change():
    drift = drift_by_annotator(answers(True))[1]

    assert drift.early_share == 1.0
    assert drift.late_share is None
    assert drift.change is None


def test_people_are_kept_apart():
    drifts = drift_by_annotator([*answers(True, True), *answers(False, False, annotator=2)])

    assert {person: drift.early_share for person, drift in drifts.items()} == {1: 1.0, 2: 0.0}


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_no_answer_is_lost_and_halves_differ_by_one_at_most(right):
    drift = drift_by_annotator(answers(*right))[1]

    assert drift.early_n + drift.late_n == len(right)
    assert drift.early_right + drift.late_right == sum(right)
    assert 0 <= drift.early_n - drift.late_n <= 1


@pytest.mark.parametrize(
    ("score", "is_right"), [(70, True), (60, True), (59, False), (80, True), (81, False)]
)
def test_a_rating_is_right_within_a_tenth_of_its_scale(score, is_right):
    assert is_right_score(score, known=70, minimum=0, maximum=100) is is_right
