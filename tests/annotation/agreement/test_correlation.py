"""Correlations, errors and limits of agreement equal other people's, and resample without a loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from annotation.agreement import correlation, ranks
from annotation.agreement.correlation import kendall_interval, pearson_interval, spearman_interval
from annotation.agreement.ratings import Ratings
from annotation.agreement.report import report
from annotation.agreement.values import Method, Undefined, Value

SEED = 20
scores = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=40)


MOMENTS = {
    "pearson": correlation.pearson,
    "mae": correlation.mae,
    "rmse": correlation.rmse,
    "bias": correlation.bias,
    "ccc": correlation.ccc,
    "limit_low": correlation.lower_limit,
    "limit_high": correlation.upper_limit,
}


class Sums:
    """Two raters' scores as sums over clusters; ranks by tables where levels are few, else by weights."""

    def __init__(self, x, y, clusters=None) -> None:
        self.x, self.y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        alone = np.arange(self.x.size) if clusters is None else np.asarray(clusters)
        self.cluster_of = alone.astype(np.int32)
        self.n_clusters = int(alone.max()) + 1

    def resampled(self, weights) -> dict[str, np.ndarray]:
        x, y, clusters, size = self.x, self.y, self.cluster_of, self.n_clusters
        moments = correlation.moments_of(x, y, clusters, n_clusters=size)
        signs = ranks.pair_signs(x, y, clusters, n_clusters=size)
        sizes = np.bincount(clusters, minlength=size).astype(float)
        with np.errstate(invalid="ignore"):
            return {name: of(weights @ moments) for name, of in MOMENTS.items()} | {
                "spearman": ranks.spearman_of_weights(x, y, weights, clusters),
                "kendall_tau_b": ranks.kendall_of_pair_signs(signs, weights, sizes),
            }

    def of_tables(self, weights) -> dict[str, np.ndarray]:
        levels_x, place_x = np.unique(self.x, return_inverse=True)
        levels_y, place_y = np.unique(self.y, return_inverse=True)
        tables = np.zeros((self.n_clusters, levels_x.size, levels_y.size))
        np.add.at(tables, (self.cluster_of, place_x, place_y), 1)
        drawn = np.einsum("bc,cij->bij", weights, tables)
        return {
            "spearman": ranks.spearman_of_tables(drawn),
            "kendall_tau_b": ranks.kendall_of_tables(drawn),
        }

    def point(self) -> dict[str, float]:
        once = np.ones((1, self.n_clusters))
        found = {name: float(value[0]) for name, value in self.resampled(once).items()}
        for name, value in self.of_tables(once).items():
            assert value[0] == pytest.approx(found[name], nan_ok=True, abs=1e-9)
        return found


def sums_of(x, y, clusters=None) -> Sums:
    return Sums(x, y, clusters)


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

    found = sums_of(x, y, clusters * 2 + 1).point()

    assert found == pytest.approx(sums_of(x, y, clusters).point())


def test_tables_resample_as_weights_do():
    x, y, clusters = continuous()
    sums = sums_of(np.round(x / 10), np.round(y / 10), clusters)
    weights = np.random.default_rng(SEED).multinomial(12, np.full(12, 1 / 12), size=20).astype(float)

    by_weights, by_tables = sums.resampled(weights), sums.of_tables(weights)

    for name, values in by_tables.items():
        assert values == pytest.approx(by_weights[name], abs=1e-9)


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
    assert found["mae"] == found["rmse"] == found["bias"] == found["limit_low"] == found["limit_high"] == 0


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
    found = sums_of([1, 2, 3, 4], [2, 2, 4, 2]).point()

    # Differences -1, 0, -1, 2 with standard deviation sqrt(6/3).
    assert found["bias"] == pytest.approx(0)
    assert found["limit_low"] == pytest.approx(-1.959964 * math.sqrt(2))
    assert found["limit_high"] == pytest.approx(1.959964 * math.sqrt(2))


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


def critics(*, clusters: bool, n: int = 300) -> Ratings:
    """Two raters of scores with a decimal, so many that their table would be nearly empty."""
    x, y, cluster_of = continuous(n)
    scores = np.round(np.stack([x, y], axis=1), 1)
    labels, codes = np.unique(scores, return_inverse=True)
    return Ratings.from_codes(
        codes.reshape(scores.shape),
        labels=[f"{label:g}" for label in labels],
        clusters=cluster_of if clusters else None,
        is_numeric=True,
    )


@pytest.mark.parametrize("clusters", [True, False])
def test_rank_correlations_of_many_levels_are_resampled_like_everything_else(clusters):
    found = report(critics(clusters=clusters), resamples=300).pairs[0].statistics
    x, y, _ = continuous(300)

    expected = Method.BOOTSTRAP_CLUSTERS if clusters else Method.BOOTSTRAP_UNITS
    for name, theirs in (("spearman", stats.spearmanr), ("kendall_tau_b", stats.kendalltau)):
        value = found[name]
        assert isinstance(value, Value)
        assert value.value == pytest.approx(theirs(np.round(x, 1), np.round(y, 1)).statistic)
        assert value.method == expected
        assert value.low is not None
        assert value.high is not None
        assert value.analytic is not None
        assert value.low < value.value < value.high
        # With mild clusters both ways of finding an interval come to nearly the same.
        assert value.low == pytest.approx(value.analytic.low, abs=0.06)


def test_rank_correlations_of_a_great_many_units_have_the_analytic_interval():
    found = report(critics(clusters=False, n=1600), resamples=20).pairs[0].statistics

    value = found["kendall_tau_b"]
    assert isinstance(value, Value)
    assert value.method == Method.FISHER_Z


def test_raters_who_share_no_unit_have_no_rank_correlation():
    labels = [str(label) for label in range(200)]
    codes = [[code, -1] if code % 2 else [-1, code] for code in range(200)]

    found = (
        report(Ratings.from_codes(codes, labels=labels, is_numeric=True), resamples=20).pairs[0].statistics
    )

    assert isinstance(found["spearman"], Undefined)
    assert isinstance(found["kendall_tau_b"], Undefined)
