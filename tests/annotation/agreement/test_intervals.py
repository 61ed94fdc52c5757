"""Intervals hold what their formulas say, and resampling draws clusters, never units."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement import kappa
from annotation.agreement.intervals import (
    design_effect,
    jackknife_se,
    percentiles,
    ratio_se,
    resampled,
    rule_of_three,
    wald_se,
    wilson,
)
from annotation.agreement.sums import GroupedSums, PairSums, pair_sums
from tests.annotation.agreement import oracles


def share(features):
    return (features[:, 0] / features[:, 1])[:, np.newaxis]


def clusters_of_oracle():
    entry = oracles.oracle("cluster_bootstrap_exact_accuracy")
    features = np.array(entry["input"]["clusters"], dtype=float)
    return GroupedSums(features=features, copies=np.ones(len(features), dtype=np.int64)), entry["values"]


def test_cluster_bootstrap_finds_what_all_3125_resamples_give():
    sums, values = clusters_of_oracle()

    samples = resampled(sums, share, resamples=20_000, seed=5)
    (interval,) = percentiles(samples)

    assert share(sums.total()[np.newaxis])[0, 0] == pytest.approx(values["estimate"], abs=1e-9)
    assert samples.mean() == pytest.approx(values["exact_bootstrap_mean"], abs=0.004)
    assert samples.std() == pytest.approx(values["exact_bootstrap_se"], abs=0.004)
    assert (interval.low, interval.high) == pytest.approx(values["percentile95_linear"], abs=0.01)
    assert interval.undefined == 0


def test_formulas_over_clusters_are_exact():
    sums, values = clusters_of_oracle()
    right, n = sums.rows().T
    naive = wilson(values["estimate"], n.sum())

    assert jackknife_se(sums, share)[0] == pytest.approx(values["jackknife_se"], abs=1e-9)
    assert ratio_se(right, n) == pytest.approx(values["linearized_cluster_se"], abs=1e-9)
    assert wald_se(values["estimate"], n.sum()) == pytest.approx(values["naive_wald_se"], abs=1e-9)
    assert (naive.low, naive.high) == pytest.approx(values["wilson_naive"], abs=1e-9)
    assert design_effect(right, n) == pytest.approx(values["design_effect"], abs=1e-9)


def test_one_seed_gives_one_interval_and_another_seed_another():
    sums, _ = clusters_of_oracle()

    first, again, other = (resampled(sums, share, resamples=500, seed=seed) for seed in (1, 1, 2))

    assert (first == again).all()
    assert (first != other).any()


def test_equal_units_share_a_row_without_changing_the_distribution():
    random = np.random.default_rng(3)
    gold = random.integers(2, size=400)
    codes = np.stack([gold, np.where(random.random(400) < 0.2, 1 - gold, gold)], axis=1)
    shared = pair_sums(codes, n_labels=2)
    single = pair_sums(codes, n_labels=2, cluster_of=np.arange(400))

    def statistic(features):
        return kappa.cohen_kappa(PairSums.unpacked(features, n_labels=2).tables, np.eye(2))[:, np.newaxis]

    assert (len(shared.rows()), shared.n_clusters) == (4, 400)
    assert (len(single.rows()), single.n_clusters) == (400, 400)
    assert jackknife_se(shared, statistic) == pytest.approx(jackknife_se(single, statistic))
    spreads = [resampled(sums, statistic, resamples=4000, seed=8).std() for sums in (shared, single)]
    assert spreads[0] == pytest.approx(spreads[1], rel=0.06)
    # The large-sample formula for independent units is another witness.
    assert spreads[0] == pytest.approx(
        float(kappa.cohen_kappa_se(statistic_table(shared), np.eye(2))), rel=0.06
    )


def statistic_table(sums):
    return PairSums.unpacked(sums.total(), n_labels=2).tables


def test_undefined_resamples_are_counted_and_left_out():
    # Each of two clusters alone has one label only, so a resample of one cluster twice has no kappa: half of them.
    codes = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    sums = pair_sums(codes, n_labels=2, cluster_of=np.array([0, 0, 1, 1]))

    samples = resampled(
        sums,
        lambda features: kappa.cohen_kappa(PairSums.unpacked(features, n_labels=2).tables, np.eye(2))[
            :, None
        ],
        resamples=1000,
        seed=1,
    )
    (interval,) = percentiles(samples)

    assert interval.resamples == 1000
    assert 420 < interval.undefined < 580
    assert (interval.low, interval.high) == (1, 1)
    assert interval.has_collapsed


def test_statistic_that_no_resample_defines_has_no_interval():
    (interval,) = percentiles(np.full((50, 1), np.nan))

    assert (interval.low, interval.high, interval.undefined) == (None, None, 50)


def test_wilson_and_rule_of_three_do_not_collapse_at_perfect_agreement():
    # With z^2 = 3.8415 and n = 10, the lower end at 10 of 10 is 10 / (10 + 3.8415).
    interval = wilson(1.0, 10)

    assert interval.low == pytest.approx(10 / 13.841459, abs=1e-6)
    assert interval.high == 1
    assert wilson(0.0, 10).high == pytest.approx(1 - interval.low)
    assert rule_of_three(100) == pytest.approx(0.03)
    with pytest.raises(ValueError, match="at least one unit"):
        wilson(1.0, 0)


def test_many_labels_stay_sparse_and_give_the_same(monkeypatch):
    random = np.random.default_rng(4)
    codes = random.integers(7, size=(200, 2))
    clusters = random.integers(9, size=200)
    dense = pair_sums(codes, n_labels=7, cluster_of=clusters)
    monkeypatch.setattr("annotation.agreement.sums._MOST_DENSE_BYTES", 100)

    thin = pair_sums(codes, n_labels=7, cluster_of=clusters)

    assert not isinstance(thin.features, np.ndarray)
    assert (thin.total() == dense.total()).all()
    assert (thin.rows() == dense.rows()).all()
    draws = [
        resampled(sums, lambda features: features[:, :3], resamples=50, seed=2) for sums in (thin, dense)
    ]
    assert (draws[0] == draws[1]).all()
