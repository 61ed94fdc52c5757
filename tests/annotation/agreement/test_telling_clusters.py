"""Clusters in which no unit was rated twice may move chance agreement, but make nobody surer of agreement."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement.ratings import Ratings
from annotation.agreement.report import report
from annotation.agreement.values import Flag, Method, Value

LABELS = ("fail", "pass")
# Wilson's lower end at n of n is n / (n + 1.96^2).
SIX_OF_SIX = 6 / (6 + 1.959963984540054**2)


def lone(n: int, *, raters: int = 2) -> list[list[int]]:
    """Units that only the second rater saw, fail and pass in turn."""
    return [[-1, place % 2, *[-1] * (raters - 2)] for place in range(n)]


def found(codes, *, clusters=None, **more):
    return report(Ratings.from_codes(codes, labels=LABELS, clusters=clusters), **({"resamples": 200} | more))


def value(statistic) -> Value:
    assert isinstance(statistic, Value), statistic
    return statistic


@pytest.mark.parametrize("name", ["gwet_ac1", "fleiss_kappa", "conger_kappa"])
def test_perfect_agreement_is_no_surer_for_units_that_one_rater_saw_alone(name):
    codes = [[0, 0], [1, 1]] * 3 + lone(300)

    statistics = found(codes).statistics

    assert value(statistics["po"]).low == pytest.approx(SIX_OF_SIX, abs=1e-9)
    each = value(statistics[name])
    assert each.method == Method.WILSON_THROUGH_CHANCE
    # Half fail and half pass: chance disagreement is one half, for AC1 too.
    assert each.low == pytest.approx(1 - (1 - SIX_OF_SIX) / 0.5, abs=1e-6)


@pytest.mark.parametrize(
    "name", ["gwet_ac1", "fleiss_kappa", "brennan_prediger_pabak", "krippendorff_nominal"]
)
def test_nor_are_three_raters_surer_for_it(name):
    shared = [[0, 0, 0], [1, 1, 1]] * 3

    alone, among_others = (
        value(found(codes).statistics[name]) for codes in (shared, shared + lone(300, raters=3))
    )

    assert among_others.low == pytest.approx(alone.low, abs=0.06)


def test_few_shared_clusters_are_few_whatever_one_rater_saw_besides():
    shared = [[0, 0], [1, 1], [1, 0], [1, 1], [0, 0], [1, 1]]
    codes = shared + lone(200)
    clusters = [*np.repeat(np.arange(3), 2), *range(3, 203)]

    statistics = found(codes, clusters=clusters).statistics

    for name in ("po", "gwet_ac1", "fleiss_kappa"):
        each = value(statistics[name])
        assert Flag.FEW_CLUSTERS in each.flags
        assert each.jackknife is not None
        # Three clusters leave two degrees of freedom: t is 4.3, not 1.97.
        assert each.jackknife.high - each.jackknife.low > 1.2


def test_one_shared_cluster_has_no_bootstrap_whatever_one_rater_saw_besides():
    codes = [[0, 0], [1, 1], [1, 0], *lone(40)]

    statistics = found(codes, clusters=[0, 0, 0, *range(1, 41)]).statistics

    for name in ("po", "gwet_ac1"):
        each = value(statistics[name])
        assert Flag.ONE_CLUSTER in each.flags
        assert (each.low, each.high, each.resamples) == (None, None, 0)


def test_people_who_share_few_clusters_have_few_whatever_the_judge_saw_besides():
    random = np.random.default_rng(4)
    codes = random.integers(2, size=(60, 3))
    codes[6:, 1] = -1
    ratings = Ratings.from_codes(
        codes, labels=LABELS, raters=["a", "b", "judge"], clusters=[0, 0, 1, 1, 2, 2, *range(3, 57)]
    )

    ceiling = report(ratings, people=["a", "b"], resamples=200).ceiling

    assert ceiling is not None
    for part, is_few in ((ceiling.human_human, True), (ceiling.judge_human, False), (ceiling.gap, True)):
        assert (Flag.FEW_CLUSTERS in value(part["po"]).flags) is is_few
