"""Means, pooled ratios, gaps and counts, with their sums shown."""

from __future__ import annotations

from math import sqrt

import pytest

from benchmark.rules.intervals import Ratio, average, mean_gap, mean_over_tasks, pooled_ratio, total
from benchmark.rules.records import Estimate

Z = 1.959964


def test_half_width_is_z_s_over_root_n():
    found = mean_over_tasks([0.2, 0.4, 0.9], if_none="")

    # Mean 0.5; squares 0.09 + 0.01 + 0.16 = 0.26, s^2 = 0.13.
    assert found.value == pytest.approx(0.5)
    assert found.half_width == pytest.approx(Z * sqrt(0.13) / sqrt(3))
    assert found.n == 3


def test_task_without_a_value_leaves_the_mean():
    assert mean_over_tasks([1.0, None, 0.0], if_none="").n == 2


def test_mean_of_nothing_is_undefined_with_its_reason():
    assert mean_over_tasks([None], if_none="Nothing there.") == Estimate(
        value=None, n=0, reason="Nothing there."
    )


def test_one_task_has_a_mean_but_no_half_width():
    assert mean_over_tasks([0.25], if_none="") == Estimate(value=0.25, n=1)


def test_pooled_ratio_is_not_the_mean_of_ratios():
    found = pooled_ratio([Ratio(part=1, whole=1), Ratio(part=0, whole=3)], if_none="")

    # R = 1/4. Residuals 1 - 0.25 and 0 - 0.75: 0.5625 * 2 = 1.125. SE^2 = 2 * 1.125 / 16.
    assert found.value == 0.25
    assert found.half_width == pytest.approx(Z * sqrt(2 * 1.125 / 16))
    assert (found.n, found.denominator) == (2, 4)


def test_task_with_an_empty_denominator_counts_in_n_of_a_pooled_ratio():
    found = pooled_ratio([Ratio(part=1, whole=2), Ratio(part=1, whole=2), Ratio(part=0, whole=0)], if_none="")

    assert found == Estimate(value=0.5, half_width=0, n=3, denominator=4)


def test_pooled_ratio_over_nothing_is_undefined():
    found = pooled_ratio([Ratio(part=0, whole=0)], if_none="Nothing failed.")

    assert (found.value, found.reason) == (None, "Nothing failed.")
    assert pooled_ratio([], if_none="No task.").reason == "No task."


def test_pooled_ratio_of_one_task_has_no_half_width():
    assert pooled_ratio([Ratio(part=1, whole=2)], if_none="").half_width is None


def test_gap_has_the_half_width_of_the_differences():
    found = mean_gap([1.0, 0.8], [0.5, 0.7], if_none="")

    # Differences 0.5 and 0.1: mean 0.3, s = 0.4 / sqrt 2; the spread of the tasks themselves plays no part.
    assert found.value == pytest.approx(0.3)
    assert found.half_width == pytest.approx(Z * 0.4 / sqrt(2) / sqrt(2))


def test_gap_leaves_out_a_task_that_lacks_either_number():
    assert mean_gap([1.0, None, 0.5], [0.5, 0.5, None], if_none="").n == 1


def test_count_is_a_sum_without_half_width_and_whole_where_it_can_be():
    assert str(total([1, 2], if_none="").value) == "3"
    assert total([0.5, 1], if_none="").value == 1.5
    assert total([1, 2], if_none="").half_width is None
    assert total([], if_none="No task.").value is None


def test_average_of_repeats_leaves_out_what_is_undefined():
    assert average([1.0, None, 0.0]) == 0.5
    assert average([None]) is None


def test_number_and_reason_exclude_each_other():
    with pytest.raises(ValueError, match="needs its reason"):
        Estimate(value=None, n=0)
    with pytest.raises(ValueError, match="only an undefined one"):
        Estimate(value=1.0, n=1, reason="Because.")
