"""A report gives every statistic with its interval, or the reason why there is none."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from annotation.agreement.ratings import Fold, Ratings, RatingsError
from annotation.agreement.report import report
from annotation.agreement.values import Flag, Method, Reason, Undefined, Value

PASS_FAIL = ("fail", "pass")
THREE = ("fail", "partial", "pass")
# Gold rows, judge columns: tn 12, fp 8, fn 4, tp 76.
TABLE = [[12, 8], [4, 76]]


def two_raters(table, *, labels=PASS_FAIL, clusters=None, **more):
    q = len(table)
    cells = np.repeat(np.arange(q * q), np.array(table).ravel())
    codes = np.stack([cells // q, cells % q], axis=1)
    names = None if clusters is None else np.arange(len(cells)) % clusters
    return Ratings.from_codes(codes, labels=labels, raters=["gold", "judge"], clusters=names, **more)


def made(ratings, **more):
    return report(ratings, **({"resamples": 200} | more))


def value(statistic) -> Value:
    assert isinstance(statistic, Value), statistic
    return statistic


def test_document_has_the_promised_shape_and_no_nan():
    document = made(two_raters(TABLE, clusters=25), gold="gold").document()

    text = json.dumps(document, allow_nan=False)
    assert set(json.loads(text)) >= {
        *("labels", "positive", "gold", "n_units", "n_raters", "n_clusters"),
        *("excluded", "statistics", "pairs", "methods", "seed", "resamples", "warnings"),
    }
    pair = document["pairs"]["gold|judge"]
    assert pair["table"] == TABLE
    assert pair["confusion"] == {"tp": 76, "fp": 8, "fn": 4, "tn": 12}
    assert document["statistics"] == pair["statistics"]
    accuracy = pair["statistics"]["accuracy"]
    assert accuracy["value"] == pytest.approx(0.88)
    assert accuracy["n"] == 100
    assert accuracy["low"] < 0.88 < accuracy["high"]
    assert accuracy["method"] == "percentile bootstrap over clusters"


def test_every_promised_name_is_there():
    scores = two_raters([[5, 1, 0], [1, 6, 2], [0, 1, 9]], labels=("1", "2", "3"), is_numeric=True)

    names = set(made(scores, gold="gold").document()["statistics"])

    assert names >= {
        *("po", "pe_cohen", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "scott_pi_fleiss"),
        *("fleiss_kappa", "conger_kappa", "gwet_ac1", "gwet_ac2_linear", "gwet_ac2_quadratic"),
        *("gwet_ac2_ordinal", "brennan_prediger_pabak", "linear_weighted_agreement", "p_pos", "p_neg"),
        *(f"krippendorff_{metric}" for metric in ("nominal", "ordinal", "interval", "ratio")),
        *("prevalence_index_signed", "bias_index_signed", "accuracy", "precision", "recall", "f1"),
        *("specificity", "npv", "f1_negative", "macro_f1", "balanced_accuracy", "mcc"),
        *("always_pass_accuracy", "always_fail_accuracy", "mcnemar_exact_p", "mcnemar_midp"),
        *("pearson", "spearman", "kendall_tau_b", "mae", "rmse", "bias", "ccc"),
        *("icc_1", "icc_c1", "icc_a1", "icc_1k", "icc_ck", "icc_ak"),
    }


def test_gold_comes_first_wherever_its_column_is():
    ratings = Ratings.from_codes([[0, 1], [1, 1], [1, 1]], labels=PASS_FAIL, raters=["judge", "person"])

    (pair,) = made(ratings, gold="person").pairs

    assert pair.raters == ("person", "judge")
    assert pair.table.tolist() == [[0, 0], [1, 2]]


def test_without_gold_nothing_is_called_accuracy():
    found = made(two_raters(TABLE))

    assert "accuracy" not in found.statistics
    assert found.pairs[0].confusion is None
    assert "p_pos" in found.statistics


def test_perfect_agreement_on_one_label_says_what_is_undefined_and_how_sure_the_rest_is():
    found = made(two_raters([[0, 0], [0, 40]], clusters=10), gold="gold").statistics

    for name in ("cohen_kappa", "krippendorff_nominal", "fleiss_kappa", "scott_pi_fleiss", "conger_kappa"):
        assert found[name] == Undefined(Reason.NO_VARIATION)
    assert found["specificity"] == Undefined(Reason.NO_NEGATIVE_IN_GOLD)
    assert found["npv"] == Undefined(Reason.NOBODY_SAID_NEGATIVE)
    assert found["mcc"] == Undefined(Reason.ONE_CLASS_IN_GOLD)
    for name in ("gwet_ac1", "brennan_prediger_pabak", "po", "accuracy"):
        assert value(found[name]).value == 1
    # With ten clusters as n, Wilson's lower end at 10 of 10 is 10 / (10 + 1.96^2).
    agreement = value(found["po"])
    assert agreement.low == pytest.approx(0.722467, abs=1e-6)
    assert agreement.high == 1
    assert agreement.method == Method.WILSON_CLUSTERS
    assert Flag.COLLAPSED in agreement.flags
    # AC1's chance disagreement is 1 here, so its lower end is that of agreement.
    assert value(found["gwet_ac1"]).low == pytest.approx(0.722467, abs=1e-6)


def test_perfect_agreement_on_two_labels_does_not_pretend_to_be_certain():
    kappa = value(made(two_raters([[20, 0], [0, 20]], clusters=10)).statistics["cohen_kappa"])

    assert (kappa.value, kappa.high) == (1, 1)
    # Agreement of 0.7225 at a chance disagreement of one half.
    assert kappa.low == pytest.approx(1 - (1 - 0.722467) / 0.5, abs=1e-5)
    assert kappa.method == Method.WILSON_THROUGH_CHANCE


def test_constant_rater_gives_kappa_zero_with_a_flag_and_no_false_certainty():
    kappa = value(made(two_raters([[0, 0], [1, 4]])).statistics["cohen_kappa"])
    turned = value(made(two_raters([[0, 1], [0, 4]]), gold="gold").statistics["cohen_kappa"])

    for each in (kappa, turned):
        assert each.value == pytest.approx(0)
        assert Flag.CONSTANT_RATER in each.flags
        assert (each.low, each.high) == (None, None)
        assert each.analytic is None


def test_raters_who_share_no_unit_have_no_overlap():
    ratings = Ratings.from_codes([[0, -1], [1, -1], [-1, 1]], labels=PASS_FAIL, raters=["a", "b"])

    found = made(ratings, gold="a")

    assert found.pairs[0].n == 0
    for name in ("po", "cohen_kappa", "krippendorff_nominal", "gwet_ac1", "accuracy", "f1", "recall"):
        assert found.statistics[name] == Undefined(Reason.NO_OVERLAP)
    json.dumps(found.document(), allow_nan=False)


@pytest.mark.parametrize("name", ["mcnemar_exact_p", "mcnemar_midp"])
def test_raters_who_share_no_unit_are_not_tested_for_a_difference(name):
    codes = [[0, -1], [1, -1], [-1, 1]]

    for clusters in (None, list("aab")):
        found = made(Ratings.from_codes(codes, labels=PASS_FAIL, clusters=clusters)).statistics
        assert found[name] == Undefined(Reason.NO_OVERLAP)
        assert "mcnemar_clustered_p" not in found


@pytest.mark.parametrize("codes", [[[1, 1]], [[0, 1]]])
def test_single_unit_gives_values_without_interval_and_no_crash(codes):
    found = made(Ratings.from_codes(codes, labels=PASS_FAIL), gold="1")

    agreement = value(found.statistics["po"])
    assert agreement.n == 1
    assert Flag.ONE_CLUSTER in agreement.flags
    assert agreement.resamples == 0
    json.dumps(found.document(), allow_nan=False)


def test_no_unit_and_one_rater_are_no_crash_either():
    nobody = Ratings.from_codes(np.zeros((0, 2)), labels=PASS_FAIL)
    alone = Ratings.from_codes([[0], [1]], labels=PASS_FAIL)

    assert made(nobody).statistics["gwet_ac1"] == Undefined(Reason.NO_RATINGS)
    assert made(alone).statistics["krippendorff_nominal"] == Undefined(Reason.NO_OVERLAP)
    assert made(alone).pairs == ()


def test_interval_is_about_clusters_not_about_units():
    # Ten clusters of twenty units each that agree or disagree as one: a tenth of the information.
    wide = np.repeat([[1, 1]] * 7 + [[0, 1]] * 3, 20, axis=0)
    clusters = np.repeat(np.arange(10), 20)
    together = Ratings.from_codes(wide, labels=PASS_FAIL, clusters=clusters)
    apart = Ratings.from_codes(wide, labels=PASS_FAIL)

    clustered, single = (value(made(each, resamples=1000).statistics["po"]) for each in (together, apart))

    assert clustered.value == single.value == pytest.approx(0.7)
    widths = [(each.high or 0.0) - (each.low or 0.0) for each in (clustered, single)]
    assert widths[0] / widths[1] == pytest.approx(np.sqrt(20), rel=0.15)
    assert Flag.FEW_CLUSTERS in clustered.flags
    assert clustered.jackknife is not None
    assert single.jackknife is None
    assert clustered.analytic is not None
    assert clustered.analytic.flags == (Flag.CLUSTERING_IGNORED,)


def test_undefined_resamples_are_shown():
    ratings = Ratings.from_codes([[0, 0], [1, 1], [1, 0], [1, 1]], labels=PASS_FAIL, clusters=list("aabb"))

    recall = value(made(ratings, gold="1").statistics["specificity"])

    # Only cluster a has a negative: a quarter of the resamples have none.
    assert recall.resamples == 200
    assert 30 <= recall.undefined_resamples <= 75
    assert Flag.UNDEFINED_RESAMPLES in recall.flags


def test_partial_is_folded_both_ways():
    # The table of EvoWeb, lowest first: fail, partial, pass.
    found = made(two_raters([[62, 5, 1], [4, 9, 3], [2, 4, 10]], labels=THREE), gold="gold")

    kappas = {fold: value(pairs[0].statistics["cohen_kappa"]).value for fold, pairs in found.folds.items()}
    assert kappas[Fold.FAIL] == pytest.approx(0.6081504702194357)
    assert kappas[Fold.PASS] == pytest.approx(0.7242647058823529)
    assert Flag.FOLDED in value(found.statistics["f1"]).flags


def test_folds_take_the_positive_label_of_the_report():
    ratings = two_raters([[62, 5, 1], [4, 9, 3], [2, 4, 10]], labels=THREE)

    of_pass, of_fail = (made(ratings, gold="gold", positive=label) for label in ("pass", "fail"))

    # Partial as fail: gold fails 84 and the judge 80 of those; gold passes 16 and the judge 10 of those.
    recalls = [value(each.folds[Fold.FAIL][0].statistics["recall"]).value for each in (of_pass, of_fail)]
    assert recalls == pytest.approx([10 / 16, 80 / 84])
    # Partial as pass: gold fails 68 and the judge 62 of those.
    assert value(of_fail.folds[Fold.PASS][0].statistics["recall"]).value == pytest.approx(62 / 68)
    for each, positive in ((of_pass, "pass"), (of_fail, "fail")):
        folds = each.document()["folds"]
        assert [fold["gold|judge"]["positive"] for fold in folds.values()] == [positive, positive]


def test_sensitivity_leaves_out_units_with_one_rating():
    codes = [[1, 1], [0, 0], [1, 0], [1, 1], [1, -1], [1, -1]]
    found = made(Ratings.from_codes(codes, labels=PASS_FAIL))

    assert value(found.statistics["gwet_ac1"]).value == pytest.approx(0.6)
    assert value(found.sensitivity["gwet_ac1"]).value == pytest.approx(0.529412, abs=1e-6)
    assert value(found.statistics["fleiss_kappa"]).value == pytest.approx(0.333333, abs=1e-6)
    assert value(found.sensitivity["fleiss_kappa"]).value == pytest.approx(0.466667, abs=1e-6)
    assert found.document()["n_missing"] == 2


def test_judge_worse_than_always_pass_is_impossible_to_miss():
    found = made(two_raters([[1, 3], [5, 91]], clusters=25), gold="gold")

    assert value(found.statistics["always_pass_accuracy"]).value == pytest.approx(0.96)
    assert any(
        "always says pass would be right in 96.00%, this one is right in 92.00%" in said
        for said in found.warnings
    )


def test_mcnemar_is_marked_where_clusters_make_it_invalid():
    plain = made(two_raters(TABLE)).statistics
    clustered = made(two_raters(TABLE, clusters=10)).statistics

    assert Flag.INVALID_UNDER_CLUSTERING not in value(plain["mcnemar_exact_p"]).flags
    assert Flag.INVALID_UNDER_CLUSTERING in value(clustered["mcnemar_exact_p"]).flags
    assert "mcnemar_clustered_p" in clustered
    # b = 4, c = 8: twice the tail of 4 or fewer of 12 is 2 * 794 / 4096.
    assert value(plain["mcnemar_exact_p"]).value == pytest.approx(2 * 794 / 4096)


def test_adjusted_mcnemar_counts_only_clusters_that_both_raters_saw():
    # Clusters a and b lean by 2 and 1, c by none.
    codes = [[1, 0], [1, 0], [0, 0], [1, 0], [1, 1], [1, 1], [0, 0]]
    alone = [[-1, 1]] * 200
    names = list("aaabbcc")

    shared, among_others = (
        value(
            made(Ratings.from_codes(rows, labels=PASS_FAIL, clusters=clusters)).statistics[
                "mcnemar_clustered_p"
            ]
        ).value
        for rows, clusters in ((codes, names), (codes + alone, [*names, *map(str, range(200))]))
    )

    # 3^2 / (3/2 * (2^2 + 1^2)) = 1.2.
    assert shared == pytest.approx(stats.chi2.sf(1.2, 1))
    assert among_others == pytest.approx(shared)


def test_human_ceiling_pools_all_human_pairs_beside_judge_and_human():
    random = np.random.default_rng(6)
    truth = random.integers(2, size=300)
    people = [np.where(random.random(300) < 0.05, 1 - truth, truth) for _ in range(3)]
    judge = np.where(random.random(300) < 0.25, 1 - truth, truth)
    ratings = Ratings.from_codes(
        np.stack([*people, judge], axis=1),
        labels=PASS_FAIL,
        raters=["a", "b", "c", "judge"],
        clusters=np.arange(300) % 30,
    )

    found = made(ratings, gold="a", people=["a", "b", "c"])

    assert found.ceiling is not None
    pairs = {pair.raters: pair for pair in found.pairs}
    among = [value(pairs[names].statistics["po"]).value for names in (("a", "b"), ("a", "c"), ("b", "c"))]
    assert value(found.ceiling.human_human["po"]).value == pytest.approx(np.mean(among))
    gap = value(found.ceiling.gap["cohen_kappa"])
    high, low = (
        value(part["cohen_kappa"]).value for part in (found.ceiling.human_human, found.ceiling.judge_human)
    )
    assert gap.value == pytest.approx(high - low)
    assert gap.low is not None
    assert gap.low > 0
    assert found.document()["human_ceiling"]["others"] == ["judge"]


def test_same_seed_gives_the_same_report_and_another_seed_only_other_intervals():
    ratings = two_raters(TABLE, clusters=25)

    first, again, other = (made(ratings, seed=seed).document() for seed in (1, 1, 2))

    assert first == again
    assert first["statistics"]["po"]["value"] == other["statistics"]["po"]["value"]
    assert first["statistics"]["cohen_kappa"] != other["statistics"]["cohen_kappa"]


def test_scores_beyond_any_table_still_have_correlations():
    random = np.random.default_rng(2)
    truth = random.permutation(400)[:150]
    codes = np.stack([truth, np.clip(truth + random.integers(-20, 20, size=150), 0, 399)], axis=1)
    ratings = Ratings.from_codes(codes, labels=list(map(str, range(400))), is_numeric=True)

    found = made(ratings)

    assert found.statistics["cohen_kappa"] == Undefined(Reason.TOO_MANY_LABELS)
    pearson = value(found.statistics["pearson"])
    assert pearson.value == pytest.approx(np.corrcoef(codes.T)[0, 1])
    assert pearson.low is not None
    assert value(found.statistics["spearman"]).method == Method.BOOTSTRAP_UNITS
    assert value(found.statistics["icc_a1"]).value == pytest.approx(pearson.value, abs=0.01)


def test_ratio_alpha_needs_labels_that_are_numbers():
    words = made(two_raters(TABLE)).statistics
    numbers = made(two_raters(TABLE, labels=("1", "2"))).statistics

    assert words["krippendorff_ratio"] == Undefined(Reason.NOT_NUMERIC)
    assert value(numbers["krippendorff_ratio"]).value < 1


def test_unknown_gold_person_or_label_is_refused_by_name():
    with pytest.raises(RatingsError, match="'nobody'"):
        made(two_raters(TABLE), gold="nobody")
    with pytest.raises(RatingsError, match="'nobody'"):
        made(two_raters(TABLE), people=["nobody"])
    with pytest.raises(RatingsError, match="'maybe'"):
        made(two_raters(TABLE), positive="maybe")
