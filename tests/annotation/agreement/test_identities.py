"""What holds for any ratings, whoever made them."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from annotation.agreement import chance_corrected, confusion, kappa
from annotation.agreement.alpha import Metric, krippendorff_alpha
from annotation.agreement.confusion import Confusion
from annotation.agreement.sums import GroupedSums, PairSums, UnitSums, pair_sums, unit_sums
from annotation.agreement.weights import Weighting, weight_matrix

FEW = settings(max_examples=40, deadline=None)
WEIGHTED = (Weighting.IDENTITY, Weighting.LINEAR, Weighting.QUADRATIC, Weighting.ORDINAL)


def tables(q: int | None = None) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    sizes = st.just(q) if q else st.integers(2, 4)
    return sizes.flatmap(
        lambda size: arrays.arrays(np.float64, (size, size), elements=st.integers(0, 30).map(float))
    ).filter(lambda table: table.sum() > 0)


def codes(*, n_labels: int = 3, raters: int = 3, lowest: int = -1) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    return st.integers(2, 25).flatmap(
        lambda units: arrays.arrays(np.int64, (units, raters), elements=st.integers(lowest, n_labels - 1))
    )


def sums_of(matrix: np.ndarray[Any, Any], *, n_labels: int) -> UnitSums:
    total = unit_sums(matrix, n_labels=n_labels).total()
    return UnitSums.unpacked(total, n_labels=n_labels, n_raters=matrix.shape[1])


def everything(sums: UnitSums) -> np.ndarray[Any, Any]:
    """Every coefficient for any number of raters, in one row."""
    weights = [weight_matrix(weighting, n_labels=sums.n_labels) for weighting in WEIGHTED]
    return np.array(
        [
            coefficient(sums, weight)
            for weight in weights
            for coefficient in (
                chance_corrected.fleiss_kappa,
                chance_corrected.conger_kappa,
                chance_corrected.gwet_ac,
                chance_corrected.brennan_prediger,
            )
        ]
        + [krippendorff_alpha(sums, metric, numbers=np.arange(1.0, sums.n_labels + 1)) for metric in Metric]
    )


def close(expected: Any) -> Any:
    return pytest.approx(expected, abs=1e-9, nan_ok=True)


@FEW
@given(tables())
def test_quadratic_kappa_is_lins_concordance(table):
    places = np.arange(len(table), dtype=float)
    n = table.sum()
    first, second = table.sum(axis=1) / n, table.sum(axis=0) / n
    means = first @ places, second @ places
    spread = first @ (places - means[0]) ** 2 + second @ (places - means[1]) ** 2
    assume(spread + (means[0] - means[1]) ** 2 > 0)
    together = (np.outer(places - means[0], places - means[1]) * table).sum() / n

    ours = kappa.cohen_kappa(table, weight_matrix(Weighting.QUADRATIC, n_labels=len(table)))

    assert ours == close(2 * together / (spread + (means[0] - means[1]) ** 2))


@FEW
@given(tables())
def test_nominal_alpha_of_two_raters_is_scotts_pi_for_a_small_sample(table):
    n, pi = table.sum(), kappa.scott_pi(table, np.eye(len(table)))

    ours = krippendorff_alpha(PairSums.of_tables(table).as_units(), Metric.NOMINAL)

    assert ours == close(1 - (1 - pi) * (2 * n - 1) / (2 * n))


@FEW
@given(tables(2))
def test_weights_and_metrics_make_no_difference_with_two_labels(table):
    sums = PairSums.of_tables(table).as_units()
    weights = [weight_matrix(weighting, n_labels=2) for weighting in WEIGHTED]

    kappas = [kappa.cohen_kappa(table, weight) for weight in weights]
    acs = [chance_corrected.gwet_ac(sums, weight) for weight in weights]
    alphas = [
        krippendorff_alpha(sums, metric) for metric in (Metric.NOMINAL, Metric.ORDINAL, Metric.INTERVAL)
    ]

    assert kappas == close([kappas[0]] * len(weights))
    assert acs == close([acs[0]] * len(weights))
    assert alphas == close([alphas[0]] * 3)
    assert chance_corrected.brennan_prediger(sums, weights[0]) == close(
        2 * kappa.agreement_share(table, weights[0]) - 1
    )


@FEW
@given(tables(2))
def test_swapping_gold_and_judge_swaps_precision_and_recall(table):
    counts, swapped = Confusion.of_tables(table, positive=1), Confusion.of_tables(table.T, positive=1)

    assert confusion.precision(counts) == close(confusion.recall(swapped))
    assert confusion.npv(counts) == close(confusion.specificity(swapped))
    assert confusion.f1(counts) == close(confusion.f1(swapped))
    assert confusion.mcc(counts) == close(confusion.mcc(swapped))
    assert confusion.bias_index(counts) == close(-confusion.bias_index(swapped))


@FEW
@given(codes(), st.randoms(use_true_random=False))
def test_order_of_raters_and_of_units_makes_no_difference(matrix, random):
    columns, rows = list(range(matrix.shape[1])), list(range(len(matrix)))
    random.shuffle(columns)
    random.shuffle(rows)

    shuffled = matrix[np.ix_(rows, columns)]

    assert everything(sums_of(shuffled, n_labels=3)) == close(everything(sums_of(matrix, n_labels=3)))


@FEW
@given(codes(raters=2, lowest=0))
def test_kappa_is_the_same_from_either_side(matrix):
    one, other = (pair_sums(matrix[:, order], n_labels=3).total() for order in ([0, 1], [1, 0]))

    for weighting in WEIGHTED:
        weights = weight_matrix(weighting, n_labels=3)
        assert kappa.cohen_kappa(PairSums.unpacked(one, n_labels=3).tables, weights) == close(
            kappa.cohen_kappa(PairSums.unpacked(other, n_labels=3).tables, weights)
        )


@FEW
@given(codes(raters=2))
def test_pair_and_units_say_the_same_of_two_raters(matrix):
    pair = PairSums.unpacked(pair_sums(matrix, n_labels=3).total(), n_labels=3)

    assert everything(pair.as_units()) == close(everything(sums_of(matrix, n_labels=3)))


@FEW
@given(codes(), st.integers(0, 2), st.integers(0, 2))
def test_unit_with_one_rating_never_changes_alpha(matrix, rater, label):
    lone = np.full((1, 3), -1)
    lone[0, rater] = label
    before, after = (sums_of(each, n_labels=3) for each in (matrix, np.vstack([matrix, lone])))

    for metric in (Metric.NOMINAL, Metric.ORDINAL, Metric.INTERVAL):
        assert krippendorff_alpha(after, metric) == close(krippendorff_alpha(before, metric))


@FEW
@given(codes())
def test_unused_label_leaves_kappa_and_alpha_alone(matrix):
    three, four = sums_of(matrix, n_labels=3), sums_of(matrix, n_labels=4)

    for coefficient in (chance_corrected.fleiss_kappa, chance_corrected.conger_kappa):
        assert coefficient(four, np.eye(4)) == close(coefficient(three, np.eye(3)))
    for metric in (Metric.NOMINAL, Metric.ORDINAL, Metric.INTERVAL):
        assert krippendorff_alpha(four, metric) == close(krippendorff_alpha(three, metric))


@FEW
@given(codes(), st.integers(2, 4))
def test_copies_of_every_unit_leave_kappa_alone_and_move_alpha_towards_pi(matrix, times):
    once, often = sums_of(matrix, n_labels=3), sums_of(np.repeat(matrix, times, axis=0), n_labels=3)

    kappas = len(WEIGHTED) * 4
    assert everything(often)[:kappas] == close(everything(once)[:kappas])
    values = once.coincidences.sum()
    if values > 1 and not np.isnan(krippendorff_alpha(once, Metric.NOMINAL)):
        # Alpha is 1 - (1 - limit) (n - 1) / n, where n values are pairable and the limit has no small-sample term.
        limit = 1 - (1 - krippendorff_alpha(once, Metric.NOMINAL)) * values / (values - 1)
        expected = 1 - (1 - limit) * (times * values - 1) / (times * values)
        assert krippendorff_alpha(often, Metric.NOMINAL) == close(expected)


@FEW
@given(codes(), st.lists(st.integers(0, 4), min_size=25, max_size=25))
def test_sums_of_clusters_add_up_to_the_sums_of_all(matrix, clusters):
    cluster_of = np.array(clusters[: len(matrix)])

    grouped = unit_sums(matrix, n_labels=3, cluster_of=cluster_of)
    plain = unit_sums(matrix, n_labels=3)

    assert isinstance(grouped, GroupedSums)
    assert grouped.total() == close(plain.total())
    assert grouped.n_clusters == len(np.unique(cluster_of[(matrix >= 0).any(axis=1)]))


@FEW
@given(codes(raters=4))
def test_sums_are_what_counting_by_hand_gives(matrix):
    agreements, coincidences = np.zeros((3, 3)), np.zeros((3, 3))
    prevalence, margins = np.zeros(3), np.zeros((4, 3))
    for row in matrix:
        given = [(rater, label) for rater, label in enumerate(row) if label >= 0]
        for rater, label in given:
            prevalence[label] += 1 / len(given)
            margins[rater, label] += 1
            for peer, other in given:
                if peer != rater:
                    agreements[label, other] += 1 / (len(given) * (len(given) - 1))
                    coincidences[label, other] += 1 / (len(given) - 1)

    ours = sums_of(matrix, n_labels=3)

    assert ours.agreements == close(agreements)
    assert ours.coincidences == close(coincidences)
    assert ours.prevalence == close(prevalence)
    assert ours.margins == close(margins)
    assert ours.units == (matrix >= 0).any(axis=1).sum()
    assert ours.paired == ((matrix >= 0).sum(axis=1) >= 2).sum()


@FEW
@given(codes(), codes())
def test_coefficients_of_a_batch_are_those_of_its_members(one, other):
    totals = np.stack([unit_sums(matrix, n_labels=3).total() for matrix in (one, other)])

    batch = everything(UnitSums.unpacked(totals, n_labels=3, n_raters=3))

    assert batch[:, 0] == close(everything(sums_of(one, n_labels=3)))
    assert batch[:, 1] == close(everything(sums_of(other, n_labels=3)))


@FEW
@given(codes(n_labels=5))
def test_order_preserving_renaming_makes_no_difference(matrix):
    spread = np.where(matrix >= 0, matrix * 2, -1)
    close_together, apart = sums_of(matrix, n_labels=5), sums_of(spread, n_labels=9)

    for metric in (Metric.NOMINAL, Metric.ORDINAL, Metric.INTERVAL):
        assert krippendorff_alpha(apart, metric) == close(krippendorff_alpha(close_together, metric))
    assert chance_corrected.fleiss_kappa(apart, np.eye(9)) == close(
        chance_corrected.fleiss_kappa(close_together, np.eye(5))
    )


@FEW
@given(tables())
def test_coefficients_never_exceed_one_and_shares_stay_within_bounds(table):
    sums = PairSums.of_tables(table).as_units()
    counts = Confusion.of_tables(table, positive=len(table) - 1)

    values = everything(sums)
    shares = np.array(
        [share(counts) for share in (confusion.accuracy, confusion.f1, confusion.recall, confusion.precision)]
    )

    assert (values[~np.isnan(values)] <= 1 + 1e-12).all()
    assert ((shares[~np.isnan(shares)] >= 0) & (shares[~np.isnan(shares)] <= 1)).all()
    assert -1 - 1e-12 <= np.nan_to_num(confusion.mcc(counts)) <= 1 + 1e-12
