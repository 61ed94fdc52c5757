"""How numbers, durations and foreign text are written."""

from __future__ import annotations

import pytest

from benchmark import display
from benchmark.display import Look
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import Mark, Unit


def test_a_share_is_printed_as_per_cent_with_its_half_width():
    shown = display.figure(Estimate(value=0.7836, half_width=0.119, n=6), unit=Unit.SHARE)

    assert (shown.value, shown.plus_minus, shown.n) == ("78.4%", "± 11.9", 6)


def test_an_undefined_number_is_a_dash_with_its_reason_never_zero():
    shown = display.figure(Estimate(value=None, n=0, reason="no task has finished"), unit=Unit.SHARE)

    assert (shown.value, shown.reason, shown.is_defined) == ("–", "no task has finished", False)


def test_one_task_has_no_interval_and_a_count_has_none_either():
    one = display.figure(Estimate(value=1.0, n=1), unit=Unit.SHARE)
    count = display.figure(Estimate(value=3.0, n=6), unit=Unit.COUNT)

    assert (one.value, one.plus_minus) == ("100.0%", "")
    assert (count.value, count.plus_minus) == ("3", "")


@pytest.mark.parametrize(
    ("share", "text"), [(-0.0374, "−3.7"), (0.014, "+1.4"), (0.0, "0.0"), (-0.0001, "0.0")]
)
def test_a_difference_carries_a_real_minus_and_zero_carries_no_sign(share, text):
    assert display.signed_points(share) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.06, "0.1 s"), (18, "18 s"), (99.6, "2 min"), (38 * 60, "38 min"), (125 * 60, "2 h 05 min")],
)
def test_durations_are_written_as_a_person_says_them(seconds, text):
    assert display.duration(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(1, "1 byte"), (999, "999 bytes"), (2048, "2.0 kB"), (40_000_000, "40 MB")]
)
def test_sizes_are_written_in_a_unit_that_fits(size, text):
    assert display.file_size(size) == text


def test_control_characters_become_signs_and_line_ends_stay():
    pieces = list(display.visible_pieces("a\x1b[0m\r\nb\tc\x00\u202ed"))

    assert "".join(piece.text for piece in pieces) == "a␛[0m\nb\tc␀U+202Ed"
    assert [piece.sign_for for piece in pieces if piece.sign_for] == [
        "control character U+001B",
        "control character U+0000",
        "right-to-left override",
    ]


@pytest.mark.parametrize(
    ("marks", "look"),
    [
        ((), Look.WAITING),
        ((Mark.PASS, Mark.PASS), Look.PASS),
        ((Mark.PASS, Mark.FAIL), Look.PARTIAL),
        ((Mark.FAIL, Mark.FAIL), Look.FAIL),
        ((Mark.SKIPPED, Mark.SKIPPED), Look.SKIPPED),
        ((Mark.PASS, Mark.ERROR), Look.ERROR),
        ((Mark.FAIL, Mark.ERROR), Look.FAIL),
    ],
)
def test_a_criterion_shows_what_its_outcomes_say(marks, look):
    assert display.mark_of_outcomes(marks) is look


def test_long_lists_end_in_a_count():
    assert display.listed(["a", "b", "c"]) == "a, b and c"
    assert display.listed(list("abcdefg"), most=3) == "a, b, c and 4 more"
