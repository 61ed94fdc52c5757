"""Correlations, errors and limits of agreement equal other people's, and resample without a loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from annotation.agreement.correlation import (
    MOST_LEVELS_IN_A_TABLE,
    kendall_interval,
    limits_of_agreement,
    pearson_interval,
    score_sums,
    spearman_interval,
)

SEED = 20
scores = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=40)


def sums_of(x, y, clusters=None):
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    cluster_of = (
        np.arange(x.size, dtype=np.int32) if clusters is None else np.asarray(clusters, dtype=np.int32)
    )
    return score_sums(x, y, cluster_of, n_clusters=int(cluster_of.max()) + 1)


def continuous(n=200, n_clusters=12):
    rng = np.random.default_rng(SEED)
    x = rng.normal(60, 15, n)
    return x, 0.7 * x + rng.normal(15, 8, n), rng.integers(0, n_clusters, n)


def test_scores_worked_by_hand():
    # Differences -1, 0, -1, 2: bias 0, MAE 4/4, RMSE sqrt(6/4).
    # Both means are 2.5; population variances 5/4 and 3/4, covariance 1/4.
    found = sums_of([1, 2, 3, 4], [2, 2, 4, 2]).point()

    assert found["mae"] == pytest.approx(1.0)
    assert found["rmse"] == pytest.approx(math.sqrt(1.5))
    assert found["bias"] == pytest.approx(0.0)
    assert found["pearson"] == pytest.approx(0.25 / math.sqrt(1.25 * 0.75))
    assert found["ccc"] == pytest.approx(2 * 0.25 / (1.25 + 0.75))


@given(scores)
@settings(max_examples=150, deadline=None)
def test_few_levels_give_the_correlations_of_scipy(pairs):
    x, y = np.array(pairs, dtype=float).T
    found = sums_of(x, y).point()

    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert all(math.isnan(found[name]) for name in ("pearson", "spearman", "kendall_tau_b"))
        return
    assert found["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert found["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert found["kendall_tau_b"] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)


@given(scores)
@settings(max_examples=100, deadline=None)
def test_concordance_is_quadratic_weighted_kappa(pairs):
    x, y = np.array(pairs).T
    found = sums_of(x, y).point()["ccc"]

    if len({*x.tolist(), *y.tolist()}) == 1:
        assert math.isnan(found)
        return
    expected = cohen_kappa_score(x, y, labels=list(range(5)), weights="quadratic")
    assert found == pytest.approx(expected, abs=1e-9)


def test_many_levels_give_the_correlations_of_scipy():
    x, y, clusters = continuous()
    assert np.unique(x).size > MOST_LEVELS_IN_A_TABLE

    found = sums_of(x, y, clusters).point()

    assert found["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert found["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found["kendall_tau_b"] == pytest.approx(stats.kendalltau(x, y).statistic)


@pytest.mark.parametrize("decimals", [0, 3], ids=["few levels", "many levels"])
def test_a_resample_of_sums_is_the_statistic_of_the_resampled_units(decimals):
    x, y, clusters = continuous()
    x, y = np.round(x / 10, decimals), np.round(y / 10, decimals)
    weights = np.random.default_rng(SEED).multinomial(12, np.full(12, 1 / 12), size=5).astype(float)

    found = sums_of(x, y, clusters).resampled(weights)

    for row, drawn in enumerate(weights):
        units = np.repeat(np.arange(x.size), drawn[clusters].astype(int))
        difference = x[units] - y[units]
        assert found["pearson"][row] == pytest.approx(stats.pearsonr(x[units], y[units]).statistic)
        assert found["spearman"][row] == pytest.approx(stats.spearmanr(x[units], y[units]).statistic)
        assert found["kendall_tau_b"][row] == pytest.approx(stats.kendalltau(x[units], y[units]).statistic)
        assert found["mae"][row] == pytest.approx(np.abs(difference).mean())
        assert found["rmse"][row] == pytest.approx(np.sqrt((difference**2).mean()))
        assert found["bias"][row] == pytest.approx(difference.mean())


def test_a_cluster_without_units_changes_nothing():
    x, y, clusters = continuous()
    apart = clusters * 2
    expected = sums_of(x, y, clusters).point()

    found = score_sums(x, y, apart.astype(np.int32), n_clusters=30).point()

    assert found == pytest.approx(expected)


@pytest.mark.parametrize("size", [5, 80], ids=["few levels", "many levels"])
def test_a_constant_rater_has_errors_but_no_correlation(size):
    found = sums_of(np.full(size, 0.1), np.linspace(0, 1, size)).point()

    assert {name for name, value in found.items() if math.isnan(value)} == {
        "pearson",
        "spearman",
        "kendall_tau_b",
    }
    assert found["ccc"] == pytest.approx(0.0)


def test_one_and_the_same_value_everywhere_has_no_concordance():
    found = sums_of([0.1] * 7, [0.1] * 7).point()

    assert math.isnan(found["ccc"])
    assert found["mae"] == found["rmse"] == found["bias"] == 0


def test_two_units_correlate_perfectly_and_have_no_interval():
    found = sums_of([1, 2], [5, 9]).point()

    assert found["pearson"] == pytest.approx(1.0)
    assert pearson_interval(found["pearson"], 2) is None


def test_one_unit_has_an_error_and_nothing_else():
    found = sums_of([1], [3]).point()

    assert found["mae"] == 2
    assert math.isnan(found["pearson"])
    assert math.isnan(found["kendall_tau_b"])


def test_large_scores_do_not_cancel():
    x, y, _ = continuous()

    found = sums_of(x + 1e9, y + 1e9).point()

    assert found["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-6)


def test_limits_of_agreement_are_bias_and_two_deviations():
    found = limits_of_agreement(np.array([1.0, 2, 3, 4]), np.array([2.0, 2, 4, 2]))

    # Differences -1, 0, -1, 2 with standard deviation sqrt(6/3).
    assert found is not None
    assert (found.bias, found.deviation) == pytest.approx((0, math.sqrt(2)))
    assert (found.low, found.high) == pytest.approx((-1.959964 * math.sqrt(2), 1.959964 * math.sqrt(2)))
    assert found.interval_of_low[0] < found.low < found.interval_of_low[1]
    assert limits_of_agreement(np.array([1.0, 2]), np.array([2.0, 2])) is None


def test_intervals_of_correlations_follow_their_published_variances():
    x, y, _ = continuous()
    pearson = stats.pearsonr(x, y)
    theirs = pearson.confidence_interval(0.95)

    assert pearson_interval(pearson.statistic, 200) == pytest.approx((theirs.low, theirs.high))
    # Bonett and Wright's is wider than Fisher's, Kendall's narrower at the same value.
    low, high = spearman_interval(0.5, 200) or (0, 0)
    assert high - low == pytest.approx(
        math.tanh(math.atanh(0.5) + 1.959964 * math.sqrt(1.125 / 197))
        - math.tanh(math.atanh(0.5) - 1.959964 * math.sqrt(1.125 / 197)),
        abs=1e-6,
    )
    kendall = kendall_interval(0.5, 200) or (0, 0)
    assert low < kendall[0] < 0.5 < kendall[1] < high
    assert spearman_interval(1.0, 200) is None
