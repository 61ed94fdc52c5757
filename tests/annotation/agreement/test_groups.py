"""A judge against gold in groups: every group as if it stood alone."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement.estimating import Resampling
from annotation.agreement.groups import group_agreements
from annotation.agreement.ratings import Ratings, RatingsError
from annotation.agreement.report import report
from annotation.agreement.values import Flag, Undefined, Value

RESAMPLING = Resampling(resamples=200, seed=3, is_clustered=True)


def ratings(*, n: int = 240, seed: int = 1) -> Ratings:
    luck = np.random.default_rng(seed)
    gold = (luck.random(n) < 0.8).astype(int)
    judge = np.where(luck.random(n) < 0.85, gold, 1 - gold)
    return Ratings.from_codes(
        np.column_stack([gold, judge]),
        labels=["fail", "pass"],
        raters=["people", "judge"],
        clusters=(np.arange(n) % 12).tolist(),
    )


def test_a_group_has_the_statistics_of_a_report_on_its_units_alone():
    whole = ratings()
    names = ["a" if unit < 100 else "b" for unit in range(whole.n_units)]

    groups = group_agreements(whole, names, positive=1, resampling=RESAMPLING)

    for group, mask in zip(groups, (np.arange(240) < 100, np.arange(240) >= 100), strict=True):
        alone = report(whole.only(mask), gold="people", seed=3, resamples=200).pairs[0]
        assert group.n == alone.n
        for name, statistic in group.statistics.items():
            assert statistic == alone.statistics[name]


def test_kind_and_strict_counts_add_up_to_what_differs():
    whole = ratings()
    people, judge = whole.codes.T

    (group,) = group_agreements(whole, ["all"] * whole.n_units, positive=1, resampling=RESAMPLING)

    assert group.too_kind == int((judge > people).sum())
    assert group.too_strict == int((judge < people).sum())
    assert group.gold_positive == int((people == 1).sum())


def test_a_group_in_one_cluster_has_values_and_no_interval_even_where_nothing_differs():
    codes = [[1, 1], [1, 1], [1, 1], [0, 1]]
    whole = Ratings.from_codes(codes, labels=["fail", "pass"], clusters=["one", "one", "one", "two"])

    one, two = group_agreements(whole, ["x", "x", "x", "y"], positive=1, resampling=RESAMPLING)

    accuracy = one.statistics["accuracy"]
    assert isinstance(accuracy, Value)
    assert (accuracy.value, accuracy.low, accuracy.high) == (1.0, None, None)
    assert Flag.ONE_CLUSTER in accuracy.flags
    assert isinstance(one.statistics["cohen_kappa"], Undefined)
    assert two.too_kind == 1


def test_names_that_do_not_fit_the_units_are_refused():
    with pytest.raises(RatingsError, match="one name a unit"):
        group_agreements(ratings(), ["a"], positive=1, resampling=RESAMPLING)
