"""Charts as geometry: where marks stand, what is left open, and that no word is lost or too small to read."""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchmark.rules.records import Estimate
from runs.chart_parts import Series, Style
from runs.charts import LINE_HEIGHT, NARROW, WIDE, bar_chart, interval_of, line_chart, shortened


def estimate(value: float | None, half_width: float | None = 0.1) -> Estimate:
    if value is None:
        return Estimate(value=None, n=0, reason="No task has such a criterion.")
    return Estimate(value=value, half_width=half_width, n=6)


def series(name: str, *values: float | None, style: Style = Style.FIRST) -> Series:
    return Series(name=name, style=style, estimates=tuple(estimate(value) for value in values))


def test_an_interval_stands_at_its_place_between_0_and_100():
    drawn = interval_of(estimate(0.5, 0.25), style=Style.FIRST, width=124)

    # The axis goes from x = 12 to x = 112: 25 per cent is x = 37, 50 is 62, 75 is 87.
    assert drawn.span == "M37 15H87M37 11v8M87 11v8"
    assert drawn.marker.startswith("M57.8 15a4.2")
    assert drawn.words == "50.0 per cent, interval 25.0 to 75.0"


def test_an_interval_that_goes_past_100_is_left_open_at_that_end():
    drawn = interval_of(estimate(0.95, 0.2), style=Style.FIRST, width=124)

    assert drawn.span == "M87 15H112M87 11v8"
    assert drawn.words == "95.0 per cent, interval 75.0 to 115.0"


def test_an_undefined_mean_has_no_mark_and_says_why():
    drawn = interval_of(estimate(None), style=Style.OTHER, width=124)

    assert (drawn.span, drawn.marker) == ("", "")
    assert drawn.words == "undefined: No task has such a criterion."


def test_one_task_has_a_marker_without_an_interval():
    drawn = interval_of(estimate(0.5, None), style=Style.FIRST, width=124)

    assert drawn.span == ""
    assert drawn.marker


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_line_goes_through_its_values_from_round_to_round(width):
    drawn = line_chart([series("heron", 0.0, 0.5, 1.0)], width=width, label_width=116)

    # Left edge 34, right edge width - 116; 0 lies at y = 208, 1 at y = 10.
    right = width - 116
    middle = (34 + right) / 2
    assert drawn.lines[0].path == f"M34 208L{middle:g} 109L{right} 10"
    assert len(drawn.lines[0].markers) == 3


def test_a_round_without_a_number_breaks_the_line_and_its_band():
    drawn = line_chart([series("heron", 0.2, None, 0.6, 0.8)], width=WIDE)

    assert drawn.lines[0].path.count("M") == 2
    assert drawn.lines[0].band.count("M") == 1
    assert len(drawn.lines[0].markers) == 3


def test_grey_series_have_a_name_but_no_band_and_lie_below_coloured_ones():
    drawn = line_chart([series("heron", 0.5, 0.8), series("tern", 0.2, 0.3, style=Style.OTHER)], width=WIDE)

    below, above = drawn.lines
    assert (below.style, below.band) == (Style.OTHER, "")
    assert above.band
    assert below.label is not None
    assert below.label.text == "tern 30"


def test_names_at_the_end_never_touch_and_never_leave_the_chart():
    many = [series(f"agent-{number}", 0.4, 0.5, style=Style.OTHER) for number in range(20)]

    drawn = line_chart(many, width=WIDE)

    ys = sorted(line.label.y for line in drawn.lines if line.label)
    assert len(ys) == 20
    assert all(below - above >= LINE_HEIGHT - 0.01 for above, below in pairwise(ys))
    assert ys[0] >= 10
    assert ys[-1] <= drawn.height


def test_a_single_round_is_a_point_at_the_left():
    drawn = line_chart([series("heron", 0.5)], width=WIDE)

    assert drawn.lines[0].path == "M34 109"
    assert len(drawn.lines[0].markers) == 1


def test_no_series_at_all_still_draws_an_empty_frame():
    assert line_chart([], width=WIDE).lines == ()
    assert bar_chart([], [], width=WIDE).groups == ()


def test_bars_begin_at_0_and_a_missing_one_says_why():
    drawn = bar_chart(["Presence", "Robustness"], [series("heron", 0.5, None)], width=WIDE)

    presence, robustness = (group.bars[0] for group in drawn.groups)
    left, right = drawn.grid[0].x1, drawn.grid[-1].x1
    assert presence.x == left
    assert presence.width == pytest.approx((right - left) / 2, abs=0.1)
    assert presence.value.text == "50"
    assert robustness.width == 0
    assert robustness.missing is not None
    assert robustness.missing.text.startswith("No task has such")


def test_a_long_name_is_cut_with_a_sign():
    assert shortened("recorded baseline of last winter", room=90) == "recorded bas…"
    assert shortened("heron-2", room=90) == "heron-2"
