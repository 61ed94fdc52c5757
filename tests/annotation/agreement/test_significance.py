"""McNemar's tests equal the published ones and say when clusters make them invalid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as theirs

from annotation.agreement.significance import mcnemar
from tests.annotation.agreement.published import oracle


@pytest.mark.parametrize("name", ["mcnemar_agresti_approval", "mcnemar_sm_f_obs1", "mcnemar_small"])
def test_published_tables_give_their_tests(name):
    expected = oracle(name)["values"]

    found = mcnemar(expected["b"], expected["c"])

    assert found.exact_p == pytest.approx(expected["exact_p"], rel=1e-6)
    assert found.mid_p == pytest.approx(expected["midp"], rel=1e-6)
    assert found.chi2 == pytest.approx(expected["chi2_uncorrected"])
    assert found.chi2_p == pytest.approx(expected["p_uncorrected"], rel=1e-6)
    assert found.chi2_corrected == pytest.approx(expected["chi2_cc"])
    assert found.chi2_corrected_p == pytest.approx(expected["p_cc"], rel=1e-6)
    assert found.is_valid


@given(st.integers(0, 300), st.integers(0, 300))
def test_statsmodels_agrees_and_the_mid_p_is_never_above_the_exact_one(b, c):
    found = mcnemar(b, c)

    assert found.exact_p == pytest.approx(theirs([[0, b], [c, 0]], exact=True).pvalue, abs=1e-9)
    assert found.mid_p <= found.exact_p
    assert mcnemar(c, b).exact_p == found.exact_p
    if b + c:
        plain = theirs([[0, b], [c, 0]], exact=False, correction=False)
        assert found.chi2_p == pytest.approx(plain.pvalue, abs=1e-9)


def test_raters_who_never_disagree_do_not_differ():
    found = mcnemar(0, 0)

    assert (found.exact_p, found.mid_p) == (1, 1)
    assert found.chi2 is found.chi2_p is None


def test_seven_against_one_by_hand():
    # P(X <= 1) = 9/256 for 8 coins; twice that is exact, less P(X = 1) = 8/256 is mid-p.
    found = mcnemar(7, 1)

    assert found.exact_p == pytest.approx(18 / 256)
    assert found.mid_p == pytest.approx(10 / 256)


def test_units_in_clusters_make_the_plain_tests_invalid_and_are_adjusted_for():
    # All eight disagreements lie in one of three projects, to one side: that is one lean.
    found = mcnemar(8, 0, differences=np.array([8.0, 0, 0]))

    assert not found.is_valid
    assert found.exact_p < 0.01
    # (8)^2 / (3/2 * 8^2) = 2/3.
    assert found.clustered is not None
    assert found.clustered.chi2 == pytest.approx(2 / 3)
    assert found.clustered.p == pytest.approx(stats.chi2.sf(2 / 3, 1))


def test_the_adjusted_test_nears_the_plain_one_when_clusters_are_single_units():
    differences = np.array([1.0] * 150 + [-1.0] * 86 + [0.0] * 1364)

    found = mcnemar(150, 86, differences=differences)

    assert found.clustered is not None
    assert found.clustered.chi2 == pytest.approx(17.35593220338983 * 1599 / 1600)


def test_one_cluster_or_no_lean_leaves_nothing_to_adjust_with():
    assert mcnemar(3, 1, differences=np.array([2.0])).clustered is None
    assert mcnemar(3, 3, differences=np.zeros(4)).clustered is None


def test_differences_that_do_not_add_up_are_refused():
    with pytest.raises(ValueError, match="sum to 1, not to b - c = 2"):
        mcnemar(3, 1, differences=np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="counted from 0"):
        mcnemar(-1, 2)


def test_the_adjusted_test_keeps_its_size_where_the_plain_one_does_not():
    # 60 clusters of 10 units; each cluster leans to one side by its own chance, no side in general.
    rng = np.random.default_rng(11)
    lean = rng.beta(0.5, 0.5, (1500, 60))
    b = rng.binomial(5, lean)
    differences = 2.0 * b - 5
    tests = [
        mcnemar(int(row.sum()), int(300 - row.sum()), differences=each)
        for row, each in zip(b, differences, strict=True)
    ]

    plain = np.mean([found.exact_p < 0.05 for found in tests])
    adjusted = np.mean([found.clustered is not None and found.clustered.p < 0.05 for found in tests])

    assert plain > 0.15
    assert 0.03 < adjusted < 0.07
