"""Coefficients of published tables and ratings, to six decimals, with their standard errors and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from annotation.agreement import alpha, chance_corrected, confusion, kappa
from annotation.agreement.alpha import Metric, krippendorff_alpha
from annotation.agreement.confusion import Confusion
from annotation.agreement.intervals import normal, student
from annotation.agreement.sums import GroupedSums, PairSums, UnitSums, pair_sums, unit_sums
from annotation.agreement.values import Reason
from annotation.agreement.weights import Weighting, agreement_of, weight_matrix
from tests.annotation.agreement import oracles

WEIGHTINGS = (Weighting.LINEAR, Weighting.QUADRATIC, Weighting.ORDINAL)


def exactly(value: Any) -> Any:
    return pytest.approx(value, abs=1e-6)


def units_of_table(table: np.ndarray[Any, Any]) -> tuple[UnitSums, GroupedSums]:
    """The units behind a table, one by one, as a person would list them."""
    q = len(table)
    cells = np.repeat(np.arange(q * q), table.astype(int).ravel())
    grouped = unit_sums(np.stack([cells // q, cells % q], axis=1), n_labels=q)
    return UnitSums.unpacked(grouped.rows(), n_labels=q, n_raters=2), grouped


@pytest.mark.parametrize("name", oracles.CONTINGENCY)
def test_coefficients_of_a_table_are_the_published_ones(name):
    entry = oracles.oracle(name)
    table, values = oracles.table_of(entry), entry["values"]
    q = len(table)
    weight = {weighting: weight_matrix(weighting, n_labels=q) for weighting in Weighting}
    plain, sums = weight[Weighting.IDENTITY], PairSums.of_tables(table).as_units()

    assert kappa.agreement_share(table, plain) == exactly(values["po"])
    assert kappa.cohen_expected(table, plain) == exactly(values["pe_cohen"])
    assert kappa.cohen_kappa(table, plain) == exactly(values["cohen_kappa"])
    assert kappa.cohen_kappa(table, weight[Weighting.LINEAR]) == exactly(values["cohen_kappa_linear"])
    assert kappa.cohen_kappa(table, weight[Weighting.QUADRATIC]) == exactly(values["cohen_kappa_quadratic"])
    assert kappa.scott_pi(table, plain) == exactly(values["scott_pi_fleiss"])
    assert chance_corrected.fleiss_kappa(sums, plain) == exactly(values["scott_pi_fleiss"])
    assert chance_corrected.conger_kappa(sums, plain) == exactly(values["cohen_kappa"])
    assert chance_corrected.brennan_prediger(sums, plain) == exactly(values["brennan_prediger_pabak"])
    assert chance_corrected.gwet_ac(sums, plain) == exactly(values["gwet_ac1"])
    for weighting in WEIGHTINGS:
        assert chance_corrected.gwet_ac(sums, weight[weighting]) == exactly(values[f"gwet_ac2_{weighting}"])
    for metric in (Metric.NOMINAL, Metric.ORDINAL, Metric.INTERVAL):
        assert krippendorff_alpha(sums, metric) == exactly(values[f"krippendorff_{metric}"])


@pytest.mark.parametrize("name", oracles.CONTINGENCY)
def test_standard_errors_of_a_table_are_the_published_ones(name):
    entry = oracles.oracle(name)
    table, values = oracles.table_of(entry), entry["values"]
    plain = weight_matrix(Weighting.IDENTITY, n_labels=len(table))
    units, grouped = units_of_table(table)

    se = float(kappa.cohen_kappa_se(table, plain))
    interval = normal(float(kappa.cohen_kappa(table, plain)), se, method="normal")

    assert se == exactly(values["cohen_kappa_se"])
    assert (interval.low, interval.high) == exactly(tuple(values["cohen_kappa_ci95"]))
    assert chance_corrected.gwet_se(units, grouped.copies, plain) == exactly(values["gwet_ac1_se_irrCAC"])


@pytest.mark.parametrize("name", oracles.CONTINGENCY)
def test_two_by_two_indices_are_the_published_ones(name):
    entry = oracles.oracle(name)
    table, values = oracles.table_of(entry), entry["values"]
    if len(table) != 2:
        assert "p_pos" not in values
        return

    counts = Confusion.of_tables(table, positive=0)

    assert confusion.prevalence_index(counts) == exactly(values["prevalence_index_signed"])
    assert confusion.bias_index(counts) == exactly(values["bias_index_signed"])
    assert confusion.f1(counts) == exactly(values["p_pos"])
    assert confusion.f1_negative(counts) == exactly(values["p_neg"])


def test_kappa_of_cohen_1960_has_its_maximum_and_sas_its_weighted_error():
    cohen = oracles.oracle("cohen1960_p45")
    sas = oracles.oracle("sas_3x3")
    linear = weight_matrix(Weighting.LINEAR, n_labels=3)

    most = kappa.cohen_kappa_max(oracles.table_of(cohen))
    se = kappa.cohen_kappa_se(oracles.table_of(sas), linear)

    assert most == pytest.approx(cohen["published"]["kappa_max"], abs=5e-4)
    assert se == pytest.approx(sas["published"]["ase_linear"], abs=5e-5)


def test_weighted_kappa_of_cohen_1968_comes_from_disagreement_weights():
    entry = oracles.oracle("cohen1968_weighted")
    table = oracles.table_of(entry)
    weights = agreement_of(np.array(entry["input"]["disagreement_weights"], dtype=float))

    assert kappa.cohen_kappa(table, weights) == exactly(entry["values"]["weighted_kappa"])
    assert kappa.cohen_kappa_se(table, weights) == exactly(entry["values"]["se"])
    assert kappa.cohen_kappa_se_if_zero(table, weights) == exactly(entry["values"]["se0"])


@pytest.mark.parametrize("name", oracles.RAW)
def test_coefficients_of_many_raters_are_the_published_ones(name):
    entry = oracles.oracle(name)
    codes, values = oracles.codes_of(entry), entry["values"]
    q = len(entry["input"]["categories"])
    numbers = np.array(entry["input"]["values"], dtype=float)
    grouped = unit_sums(codes, n_labels=q)
    sums = UnitSums.unpacked(grouped.total(), n_labels=q, n_raters=codes.shape[1])
    plain = weight_matrix(Weighting.IDENTITY, n_labels=q)

    assert chance_corrected.percent_agreement(sums, plain) == exactly(values["pa"])
    assert chance_corrected.gwet_ac(sums, plain) == exactly(values["gwet_ac1"])
    for suffix, ac, weighting in (
        ("", "gwet_ac1", Weighting.IDENTITY),
        *((f"_{w}", f"gwet_ac2_{w}", w) for w in WEIGHTINGS),
    ):
        weights = weight_matrix(weighting, n_labels=q)
        assert chance_corrected.gwet_ac(sums, weights) == exactly(values[ac])
        assert chance_corrected.fleiss_kappa(sums, weights) == exactly(values[f"fleiss_kappa{suffix}"])
        assert chance_corrected.brennan_prediger(sums, weights) == exactly(values[f"bp{suffix}"])
        assert chance_corrected.conger_kappa(sums, weights) == exactly(values[f"conger_kappa_irrCAC{suffix}"])
    for metric in Metric:
        if f"krippendorff_{metric}" in values:
            assert krippendorff_alpha(sums, metric, numbers=numbers) == exactly(
                values[f"krippendorff_{metric}"]
            )


@pytest.mark.parametrize("name", oracles.RAW)
def test_standard_errors_of_many_raters_are_the_published_ones(name):
    entry = oracles.oracle(name)
    codes, values = oracles.codes_of(entry), entry["values"]
    q = len(entry["input"]["categories"])
    plain = weight_matrix(Weighting.IDENTITY, n_labels=q)
    grouped = unit_sums(codes, n_labels=q)
    units = UnitSums.unpacked(grouped.rows(), n_labels=q, n_raters=codes.shape[1])

    se = chance_corrected.gwet_se(units, grouped.copies, plain)
    assert se == exactly(values["gwet_ac1_se_irrCAC"])
    assert se is not None
    interval = student(values["gwet_ac1"], se, df=grouped.n_clusters - 1, method="student")
    assert (interval.low, interval.high) == exactly(tuple(values["gwet_ac1_ci_irrCAC"]))
    assert chance_corrected.fleiss_se(units, grouped.copies, plain) == exactly(values["fleiss_se_irrCAC"])
    assert alpha.krippendorff_se(units, grouped.copies, plain) == exactly(values["krippendorff_se_irrCAC"])


def test_standard_error_of_conger_is_the_published_one():
    entry = oracles.oracle("gwet_raw4raters")
    codes = oracles.codes_of(entry)
    grouped = unit_sums(codes, n_labels=5)
    units = UnitSums.unpacked(grouped.rows(), n_labels=5, n_raters=4)

    se = chance_corrected.conger_se(units, grouped.copies, weight_matrix(Weighting.IDENTITY, n_labels=5))

    assert se == pytest.approx(entry["published"]["conger_se"], abs=5e-6)


@pytest.mark.parametrize("name", oracles.CLASSIFICATION)
def test_rates_against_gold_are_the_expected_ones_and_null_where_undefined(name):
    entry = oracles.oracle(name)
    given, values = entry["input"], entry["values"]
    table = np.array([[given["TN"], given["FP"]], [given["FN"], given["TP"]]], dtype=float)
    counts = Confusion.of_tables(table, positive=1)
    plain = weight_matrix(Weighting.IDENTITY, n_labels=2)
    sums = PairSums.of_tables(table).as_units()

    ours = {
        "accuracy": confusion.accuracy(counts),
        "precision": confusion.precision(counts),
        "recall": confusion.recall(counts),
        "f1": confusion.f1(counts),
        "specificity": confusion.specificity(counts),
        "npv": confusion.npv(counts),
        "f1_negative": confusion.f1_negative(counts),
        "macro_f1": confusion.macro_f1(counts),
        "balanced_accuracy": confusion.balanced_accuracy(counts),
        "mcc": confusion.mcc(counts),
        "cohen_kappa": kappa.cohen_kappa(table, plain),
        "gwet_ac1": chance_corrected.gwet_ac(sums, plain),
        "pabak": chance_corrected.brennan_prediger(sums, plain),
        "pass_rate_gold": confusion.always_positive_accuracy(counts),
        "pass_rate_judge": confusion.positive_rate(counts),
        "n": counts.n,
    }

    assert set(ours) == set(values)
    for key, expected in values.items():
        if expected is None:
            assert np.isnan(ours[key]), key
        else:
            assert ours[key] == exactly(expected), key


def test_linear_weighted_agreement_of_evoweb_is_no_kappa():
    entry = oracles.oracle("evoweb_weighted_agreement")
    table, values = oracles.table_of(entry), entry["values"]
    linear = weight_matrix(Weighting.LINEAR, n_labels=3)
    within_one = (np.abs(np.subtract.outer(range(3), range(3))) <= 1).astype(float)
    plain = np.eye(2)
    # Its two folded values hold with labels lowest first (fail, partial, pass), whatever its note says.
    as_fail = Confusion.of_tables(table, positive=2).tables
    as_pass = Confusion.of_tables(table, positive=0).tables

    assert kappa.agreement_share(table, np.eye(3)) == exactly(values["exact_agreement"])
    assert kappa.agreement_share(table, linear) == exactly(values["linear_weighted_agreement"])
    assert kappa.cohen_kappa(table, linear) == exactly(values["linear_weighted_kappa"])
    assert kappa.agreement_share(table, within_one) == exactly(values["within_one"])
    assert kappa.cohen_kappa(as_fail, plain) == exactly(values["collapsed_partial_as_fail_kappa"])
    assert kappa.cohen_kappa(as_pass, plain) == exactly(values["collapsed_partial_as_pass_kappa"])


def test_every_entry_of_the_oracle_file_is_somebodys():
    ours = {*oracles.CONTINGENCY, *oracles.RAW, *oracles.CLASSIFICATION}
    ours |= {"cohen1968_weighted", "evoweb_weighted_agreement", "cluster_bootstrap_exact_accuracy"}
    others = {
        "shrout_fleiss1979",
        "icc_A_gt_C",
        "mcnemar_agresti_approval",
        "mcnemar_sm_f_obs1",
        "mcnemar_small",
    }

    assert oracles.all_ids() == ours | others


def test_rated_units_without_a_partner_move_prevalence_but_never_alpha():
    case = oracles.edge_case("single-rated items appended")
    base = np.array(case["input"]["base"])
    more = np.array([[-1 if rating is None else rating for rating in row] for row in case["input"]["extra"]])
    plain = np.eye(2)

    both = [
        UnitSums.unpacked(unit_sums(codes, n_labels=2).total(), n_labels=2, n_raters=2)
        for codes in (base, np.vstack([base, more]))
    ]

    assert [chance_corrected.gwet_ac(sums, plain) for sums in both] == exactly(case["AC1"])
    assert [chance_corrected.fleiss_kappa(sums, plain) for sums in both] == exactly(case["fleiss"])
    assert [krippendorff_alpha(sums, Metric.NOMINAL) for sums in both] == exactly(case["alpha"])
    assert [chance_corrected.conger_kappa(sums, plain) for sums in both] == exactly(case["conger"])
    assert [chance_corrected.brennan_prediger(sums, plain) for sums in both] == exactly(case["BP"])


def test_declared_label_that_nobody_used_counts_for_ac1_and_not_for_kappa():
    case = oracles.edge_case("declared category never used (Partial)")
    two = np.array([[5, 2], [3, 40]], dtype=float)
    three = np.array([[5, 0, 2], [0, 0, 0], [3, 0, 40]], dtype=float)
    linear = weight_matrix(Weighting.LINEAR, n_labels=3)
    small, large = PairSums.of_tables(two).as_units(), PairSums.of_tables(three).as_units()

    assert chance_corrected.gwet_ac(small, np.eye(2)) == exactly(case["q2"]["AC1"])
    assert chance_corrected.brennan_prediger(small, np.eye(2)) == exactly(case["q2"]["BP"])
    assert chance_corrected.gwet_ac(large, np.eye(3)) == exactly(case["q3"]["AC1"])
    assert chance_corrected.brennan_prediger(large, np.eye(3)) == exactly(case["q3"]["BP"])
    assert chance_corrected.gwet_ac(large, linear) == exactly(case["q3"]["AC2_linear"])
    assert chance_corrected.brennan_prediger(large, linear) == exactly(case["q3"]["BP_linear"])
    for table, sums in ((two, small), (three, large)):
        plain = np.eye(len(table))
        assert kappa.cohen_kappa(table, plain) == pytest.approx(0.60815, abs=5e-6)
        assert krippendorff_alpha(sums, Metric.NOMINAL) == exactly(0.611765)
        assert chance_corrected.fleiss_kappa(sums, plain) == exactly(0.607843)


def test_one_constant_rater_gives_values_and_one_single_label_gives_none():
    case = oracles.edge_case("one rater constant, other not")
    codes = np.array(case["input"]).T
    table = PairSums.unpacked(pair_sums(codes, n_labels=2).total(), n_labels=2)
    sums, plain = table.as_units(), np.eye(2)
    alike = PairSums.of_tables(np.array([[0, 0], [0, 9]]))

    assert kappa.cohen_kappa(table.tables, plain) == exactly(case["kappa"])
    assert krippendorff_alpha(sums, Metric.NOMINAL) == exactly(case["alpha"])
    assert chance_corrected.fleiss_kappa(sums, plain) == exactly(case["fleiss"])
    assert chance_corrected.gwet_ac(sums, plain) == exactly(case["AC1"])
    for metric in Metric:
        assert np.isnan(krippendorff_alpha(alike.as_units(), metric))
    assert np.isnan(kappa.cohen_kappa(alike.tables, plain))
    assert np.isnan(chance_corrected.fleiss_kappa(alike.as_units(), plain))
    assert np.isnan(chance_corrected.conger_kappa(alike.as_units(), plain))
    assert kappa.kappa_reason(alike.tables) is Reason.NO_VARIATION
    assert chance_corrected.gwet_ac(alike.as_units(), plain) == 1
    assert chance_corrected.brennan_prediger(alike.as_units(), plain) == 1
