"""Intraclass correlations equal the published ones, with their intervals and edge cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.agreement.icc import IccForm, MeanSquares, icc, icc_intervals, icc_sums
from annotation.agreement.ratings import Ratings
from annotation.agreement.report import report
from annotation.agreement.values import Value
from tests.annotation.agreement.published import oracle

OF_ORACLE = {
    IccForm.ICC_1: "ICC11",
    IccForm.ICC_A1: "ICCA1",
    IccForm.ICC_C1: "ICCC1",
    IccForm.ICC_1K: "ICC1k",
    IccForm.ICC_AK: "ICCAk",
    IccForm.ICC_CK: "ICCCk",
}
# Shrout and Fleiss 1979, table 2: six targets, four judges.
SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def sums_of(matrix, clusters=None):
    matrix = np.asarray(matrix, dtype=float)
    cluster_of = np.arange(len(matrix)) if clusters is None else np.asarray(clusters)
    return icc_sums(matrix, cluster_of.astype(np.int32), n_clusters=int(cluster_of.max()) + 1)


@pytest.mark.parametrize("name", ["shrout_fleiss1979", "icc_A_gt_C"])
def test_published_matrices_give_their_mean_squares_forms_and_intervals(name):
    entry = oracle(name)
    expected = entry["values"]

    sums = sums_of(entry["input"]["X"])
    squares, found, intervals = sums.mean_squares(), sums.point(), icc_intervals(sums.mean_squares())

    assert float(squares.rows) == pytest.approx(expected["MSR"], abs=1e-6)
    assert float(squares.columns) == pytest.approx(expected["MSC"], abs=1e-6)
    assert float(squares.error) == pytest.approx(expected["MSE"], abs=1e-6)
    assert float(squares.within) == pytest.approx(expected["MSW"], abs=1e-6)
    for form, alias in OF_ORACLE.items():
        assert found[form] == pytest.approx(expected[alias], abs=1e-6)
    for (form, _), theirs in zip(OF_ORACLE.items(), expected["pingouin_CI95"], strict=True):
        assert intervals[form] == pytest.approx(theirs, abs=0.0051)


def test_shrout_and_fleiss_print_what_we_find():
    found = sums_of(SHROUT_FLEISS).point()

    assert {form: round(value, 2) for form, value in found.items()} == {
        IccForm.ICC_1: 0.17,
        IccForm.ICC_A1: 0.29,
        IccForm.ICC_C1: 0.71,
        IccForm.ICC_1K: 0.44,
        IccForm.ICC_AK: 0.62,
        IccForm.ICC_CK: 0.91,
    }


def test_agreement_above_consistency_is_left_as_it_is():
    found = sums_of([[10, 30], [20, 10], [30, 40], [40, 20], [50, 50]]).point()

    assert found[IccForm.ICC_A1] == pytest.approx(5 / 9)
    assert found[IccForm.ICC_C1] == pytest.approx(0.5)


def test_units_that_lack_a_rating_are_left_out_and_counted():
    full = sums_of(SHROUT_FLEISS)
    gaps = sums_of([*SHROUT_FLEISS, [1, np.nan, 2, 3], [np.nan] * 4])

    assert gaps.point() == pytest.approx(full.point())
    assert (full.n, full.n_left_out) == (6, 0)
    assert (gaps.n, gaps.n_left_out) == (6, 2)


def test_units_that_do_not_differ_leave_some_forms_undefined_and_negatives_unclamped():
    found = sums_of([[1, 2]] * 5).point()

    # MSR = MSE = 0, MSC = 2.5, MSW = 0.5.
    assert found[IccForm.ICC_1] == pytest.approx(-1.0)
    assert found[IccForm.ICC_A1] == pytest.approx(0.0)
    assert found[IccForm.ICC_AK] == pytest.approx(0.0)
    assert {form for form, value in found.items() if math.isnan(value)} == {
        IccForm.ICC_C1,
        IccForm.ICC_1K,
        IccForm.ICC_CK,
    }
    assert set(icc_intervals(sums_of([[1, 2]] * 5).mean_squares()).values()) == {None}


@pytest.mark.parametrize("matrix", [[[0.1, 0.1]] * 5, [[1, 2]], [[1], [2], [3]], [[np.nan, 1], [2, np.nan]]])
def test_nothing_that_varies_one_unit_or_one_rater_has_no_form(matrix):
    found = sums_of(matrix).point()

    assert all(math.isnan(value) for value in found.values())


def test_raters_who_always_agree_reach_one():
    found = sums_of([[1, 1], [2, 2], [5, 5]]).point()

    assert set(found.values()) == {1.0}


def test_what_rounding_leaves_of_a_denominator_is_no_denominator():
    # Mean squares 7/30, 0 and 0.7 of three units: 7/30 + (0 - 0.7) / 3 is 0, but not to a float.
    rows, columns, error = np.array(7 / 30), np.array(0.0), np.array(0.7)
    squares = MeanSquares(n=np.array(3.0), k=2, rows=rows, columns=columns, error=error, within=error)

    assert rows + (columns - error) / 3 != 0
    assert math.isnan(float(icc(squares)[IccForm.ICC_AK]))


def test_scores_that_have_nothing_in_common_have_no_interval_of_quadrillions():
    ratings = Ratings.from_codes([[0, 0], [1, 0], [0, 1], [1, 1]], labels=["1", "2"], is_numeric=True)

    found = report(ratings, resamples=400).statistics["icc_ak"]

    assert isinstance(found, Value)
    ends = [(found.low, found.high)]
    ends += [(each.low, each.high) for each in (found.jackknife, found.analytic) if each is not None]
    assert all(end is None or abs(end) < 1e6 for pair in ends for end in pair)


def test_no_interval_of_k_raters_turns_its_ends_round():
    # ICC(A,1) may be as low as below -1, where Spearman and Brown's formula is beyond its pole.
    crossed = icc_intervals(sums_of([[1, 1], [2, 1], [1, 2], [2, 2]]).mean_squares())
    single = crossed[IccForm.ICC_A1]

    assert single is not None
    assert single[0] < -1 < single[1]
    assert crossed[IccForm.ICC_AK] is None


def test_hardly_any_freedom_makes_an_interval_wide_and_not_none_of_a_number():
    single = icc_intervals(sums_of([[0, 3], [4, 0], [4, 0]]).mean_squares())[IccForm.ICC_A1]

    # As F grows the lower end nears -n MSE / (k MSC + (kn - k - n) MSE), with MSC 25/6 and MSE 49/6.
    assert single is not None
    assert single[0] == pytest.approx(-3 * 49 / (2 * 25 + 49))


@given(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=2, max_size=8))
@settings(max_examples=200, deadline=None)
def test_every_interval_has_its_low_end_first(matrix):
    for ends in icc_intervals(sums_of(matrix).mean_squares()).values():
        assert ends is None or ends[0] <= ends[1]


def test_a_resample_of_sums_is_the_statistic_of_the_resampled_units():
    rng = np.random.default_rng(4)
    matrix = rng.normal(50, 10, (60, 1)) + rng.normal(0, 5, (60, 3))
    clusters = rng.integers(0, 9, 60)
    weights = rng.multinomial(9, np.full(9, 1 / 9), size=4).astype(float)

    found = sums_of(matrix, clusters).resampled(weights)

    for row, drawn in enumerate(weights):
        expected = sums_of(np.repeat(matrix, drawn[clusters].astype(int), axis=0)).point()
        assert {form: values[row] for form, values in found.items()} == pytest.approx(expected)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=12),
    st.permutations(range(3)),
)
@settings(max_examples=100, deadline=None)
def test_agreement_exceeds_consistency_exactly_if_raters_differ_less_than_error(matrix, order):
    sums = sums_of(matrix)
    squares, found = sums.mean_squares(), sums.point()
    swapped = sums_of(np.array(matrix)[:, order]).point()

    assert swapped == pytest.approx(found, nan_ok=True, abs=1e-9)
    # Where units hardly differ beyond error, both forms are negative and the order turns round.
    if squares.rows - squares.error > 1e-6 and abs(squares.columns - squares.error) > 1e-6:
        above = found[IccForm.ICC_A1] > found[IccForm.ICC_C1]
        assert above == (squares.columns < squares.error)
