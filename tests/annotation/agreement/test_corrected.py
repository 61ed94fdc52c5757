"""Corrected scores: the formulas by hand, what is undefined and why, what is said beside a figure."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.agreement.corrected import corrected, corrected_by_agent
from annotation.agreement.corrected_basis import Target
from annotation.agreement.judged_sample import Draw, JudgedSample, all_passed, shares_within
from annotation.agreement.values import Flag, Reason, Undefined, Value

NONE = np.nan


def sample_of(table, *, unlabelled, projects=40, **more):
    """A sample whose labelled outcomes are counted by (people, judge), and the judge's marks of the others."""
    gold, judge = [], []
    for (people, said), amount in table.items():
        gold += [people] * amount
        judge += [said] * amount
    for said, amount in unlabelled.items():
        gold += [NONE] * amount
        judge += [said] * amount
    order = np.random.default_rng(1).permutation(len(gold))
    cluster = np.arange(len(gold)) % projects
    return JudgedSample.of(judge=np.array(judge)[order], gold=np.array(gold)[order], cluster=cluster, **more)


TABLE = {(1, 1): 90, (1, 0): 10, (0, 1): 40, (0, 0): 60}
UNLABELLED = {1: 600, 0: 400}


def value(statistic):
    assert isinstance(statistic, Value), statistic
    return statistic


def test_rogan_gladen_is_the_raw_rate_freed_of_both_error_rates():
    result = corrected(sample_of(TABLE, unlabelled=UNLABELLED))

    # raw = (90 + 40 + 600) / 1200; sensitivity 90/100, specificity 60/100.
    raw = 730 / 1200
    assert value(result.raw).value == pytest.approx(raw)
    assert value(result.sensitivity).value == pytest.approx(0.9)
    assert value(result.specificity).value == pytest.approx(0.6)
    assert value(result.separation).value == pytest.approx(0.5)
    assert value(result.rogan_gladen).value == pytest.approx((raw + 0.6 - 1) / (0.9 + 0.6 - 1))


def test_prediction_powered_mean_is_that_of_the_paper_with_its_tuned_lambda():
    result = corrected(sample_of(TABLE, unlabelled=UNLABELLED))

    # lambda = cov / ((1 + n/N) var) with n = 200, N = 1000; cov = 90/200 - 0.5 * 0.65, var = 0.65 * 0.35.
    tuned = (0.45 - 0.5 * 0.65) / (1.2 * 0.65 * 0.35)
    assert value(result.prediction_powered).value == pytest.approx(0.5 + tuned * (0.6 - 0.65))
    assert result.power == pytest.approx(1.2 * tuned)


def test_variance_of_this_run_is_the_textbook_one_of_a_regression_estimator():
    result = corrected(sample_of(TABLE, unlabelled={1: 650, 0: 350}), target=Target.RUN)

    # (1 - n/N) s^2 / n of the residuals y - slope f, whose variance is var y - 2 slope cov + slope^2 var f.
    # Here the judge passes as many of the labelled outcomes as of the others, 65%.
    residual = 0.25 - 0.125**2 / (0.65 * 0.35)
    se = np.sqrt((1 - 200 / 1200) * residual / 199)
    assert value(result.prediction_powered).se == pytest.approx(se)


def test_variance_of_rogan_gladen_over_projects_is_the_delta_method_with_covariances():
    sample = sample_of(TABLE, unlabelled=UNLABELLED, projects=30)
    result = corrected(sample, target=Target.PROJECTS, resamples=0)

    # Gradient in (raw, sensitivity, specificity) at the labelled outcomes' rate, 0.5, and the covariance of
    # the three over projects.
    raw, sens, spec = 730 / 1200, 0.9, 0.6
    rate, separation = 0.5, 0.5
    passed, failed = sample.gold == 1, sample.gold == 0
    adds = np.stack(
        [
            (sample.judge - raw) / 1200,
            np.where(passed, sample.judge - sens, 0) / 100,
            np.where(failed, 1 - sample.judge - spec, 0) / 100,
        ]
    )
    gradient = np.array([1, -rate, 1 - rate]) / separation
    share = np.bincount(sample.cluster, weights=sample.labelled) / 200
    by_project = np.array([[np.sum(each[sample.cluster == one]) for one in range(30)] for each in adds])
    lifted = by_project / (1 - share)
    covariance = 29 / 30 * lifted @ lifted.T
    assert value(result.rogan_gladen).se == pytest.approx(np.sqrt(gradient @ covariance @ gradient), rel=1e-6)


def test_variance_over_projects_of_a_mean_is_the_jackknife_that_leaves_out_one_project():
    sample = sample_of(TABLE, unlabelled={}, projects=23)
    result = corrected(sample, target=Target.PROJECTS, resamples=0)

    left = [sample.gold[sample.cluster != one].mean() for one in range(23)]
    jackknife = 22 / 23 * np.sum((np.array(left) - sample.gold.mean()) ** 2)
    assert value(result.people).se == pytest.approx(np.sqrt(jackknife), rel=1e-12)


def test_judge_that_is_no_better_than_chance_has_no_rogan_gladen_figure():
    result = corrected(sample_of({(1, 1): 30, (1, 0): 70, (0, 1): 60, (0, 0): 40}, unlabelled=UNLABELLED))

    assert result.rogan_gladen == Undefined(Reason.NO_BETTER_THAN_CHANCE)
    # What such a judge says has no weight: the estimate is people's mean.
    assert result.power == 0
    assert value(result.prediction_powered).value == pytest.approx(0.5)


def test_figure_beyond_one_is_cut_off_and_says_so():
    result = corrected(sample_of({(1, 1): 90, (1, 0): 10, (0, 1): 5, (0, 0): 5}, unlabelled={1: 920, 0: 80}))

    figure = value(result.rogan_gladen)
    assert figure.value == 1
    assert figure.high == 1
    assert figure.low is not None
    assert figure.low < 1
    assert Flag.CLIPPED in figure.flags
    assert Flag.CLIPPED in result.flags


def test_interval_that_lies_beyond_one_is_not_shown_as_a_point():
    table = {(1, 1): 900, (1, 0): 100, (0, 1): 50, (0, 0): 50}
    result = corrected(sample_of(table, unlabelled={1: 9990, 0: 10}))

    figure = value(result.rogan_gladen)
    assert (figure.value, figure.low, figure.high) == (1, None, None)
    assert Flag.CLIPPED in figure.flags


def test_judge_that_might_be_chance_is_called_weak():
    weak = corrected(sample_of({(1, 1): 60, (1, 0): 40, (0, 1): 52, (0, 0): 48}, unlabelled=UNLABELLED))
    strong = corrected(sample_of(TABLE, unlabelled=UNLABELLED))

    assert Flag.WEAK_JUDGE in value(weak.rogan_gladen).flags
    assert Flag.WEAK_JUDGE not in value(strong.rogan_gladen).flags


def test_one_class_among_labels_leaves_no_rogan_gladen_and_no_interval_that_claims_certainty():
    result = corrected(sample_of({(1, 1): 50, (1, 0): 5}, unlabelled=UNLABELLED))

    assert result.rogan_gladen == Undefined(Reason.ONE_CLASS_IN_GOLD)
    assert result.specificity == Undefined(Reason.NO_NEGATIVE_IN_GOLD)
    figure = value(result.prediction_powered)
    assert (figure.value, figure.low, figure.high) == (1, None, None)
    assert Flag.RARE_CLASS in figure.flags


def test_without_labels_only_the_judge_s_figure_exists():
    result = corrected(sample_of({}, unlabelled=UNLABELLED))

    assert value(result.raw).value == pytest.approx(0.6)
    for figure in (result.rogan_gladen, result.prediction_powered, result.people, result.bias):
        assert figure == Undefined(Reason.NOT_LABELLED)
    assert result.power is None


def test_outcomes_that_could_never_be_drawn_are_not_spoken_for():
    chance = np.array([0.5, 0.5, 0.5, 0.5, 0.0])
    sample = JudgedSample.of(
        judge=[1, 0, 1, 0, 1], gold=[1, 0, NONE, NONE, NONE], cluster=range(5), probability=chance
    )

    assert corrected(sample).prediction_powered == Undefined(Reason.NEVER_DRAWN)
    covered = corrected(sample.only(np.array([True, True, True, True, False])))
    assert isinstance(covered.prediction_powered, Value)


def test_perfect_judge_seen_on_few_is_not_taken_for_certain():
    result = corrected(sample_of({(1, 1): 30, (0, 0): 30}, unlabelled=UNLABELLED))

    figure = value(result.prediction_powered)
    assert figure.value == pytest.approx(630 / 1060)
    assert (figure.low, figure.high) == (None, None)
    assert Flag.NO_ERROR_SEEN in figure.flags


def test_run_that_people_marked_whole_is_known_exactly():
    result = corrected(sample_of(TABLE, unlabelled={}), target=Target.RUN)

    for figure in (value(result.rogan_gladen), value(result.prediction_powered)):
        assert figure.value == pytest.approx(0.5)
        assert figure.low == pytest.approx(0.5)
        assert figure.high == pytest.approx(0.5)
        assert figure.flags == ()


def test_few_projects_and_extreme_rates_carry_warnings():
    few = corrected(sample_of(TABLE, unlabelled=UNLABELLED, projects=20))
    extreme = corrected(
        sample_of({(1, 1): 470, (1, 0): 5, (0, 1): 10, (0, 0): 15}, unlabelled={1: 2900, 0: 100})
    )
    plain = corrected(sample_of(TABLE, unlabelled=UNLABELLED, projects=100))

    assert few.flags == (Flag.FEW_LABELLED_PROJECTS,)
    assert extreme.flags == (Flag.RARE_CLASS,)
    assert plain.flags == ()
    assert few.document()["warnings"] == [
        {"flag": "few_labelled_projects", "because": Flag.FEW_LABELLED_PROJECTS.sentence}
    ]


def test_oversampled_failures_do_not_bias_the_figure():
    # Failed by the judge: 100 of 200 labelled; passed: 50 of 800. Each stands for 2 and for 16 outcomes.
    sample = JudgedSample.of(
        judge=[0] * 200 + [1] * 800,
        gold=[1] * 20 + [0] * 80 + [NONE] * 100 + [1] * 40 + [0] * 10 + [NONE] * 750,
        cluster=np.arange(1000) % 50,
        stratum=["failed"] * 200 + ["passed"] * 800,
    )
    result = corrected(sample)

    by_hand = (200 * 0.2 + 800 * 0.8) / 1000
    se = np.sqrt(0.2**2 * 0.5 * 0.16 / 99 + 0.8**2 * (1 - 50 / 800) * 0.16 / 49)
    for figure in (value(result.prediction_powered), value(result.rogan_gladen), value(result.people)):
        assert figure.value == pytest.approx(by_hand)
        assert figure.se == pytest.approx(se)


def test_weights_count_as_copies_would():
    rng = np.random.default_rng(3)
    judge, gold = rng.integers(0, 2, 300), rng.integers(0, 2, 300).astype(float)
    gold[rng.random(300) < 0.5] = NONE
    times, cluster = rng.integers(1, 4, 300), rng.integers(0, 30, 300)
    chance = np.full(300, 0.5)

    weighted = corrected(
        JudgedSample.of(judge=judge, gold=gold, cluster=cluster, weight=times, probability=chance),
        target=Target.PROJECTS,
    )
    copied = corrected(
        JudgedSample.of(
            judge=judge.repeat(times),
            gold=gold.repeat(times),
            cluster=cluster.repeat(times),
            probability=chance.repeat(times),
        ),
        target=Target.PROJECTS,
    )

    for name in ("raw", "people", "prediction_powered", "sensitivity", "specificity"):
        one, other = value(getattr(weighted, name)), value(getattr(copied, name))
        assert one.value == pytest.approx(other.value)
        assert one.se == pytest.approx(other.se)


def test_shares_within_make_a_mean_over_projects_of_their_weighted_rates():
    weight, project = np.array([2.0, 3.0, 1.0, 1.0, 2.0]), np.array([0, 0, 1, 1, 1])
    judge = np.array([1, 0, 1, 1, 0])
    sample = JudgedSample.of(
        judge=judge, gold=[NONE] * 5, cluster=project, weight=shares_within(weight, project)
    )

    assert value(corrected(sample).raw).value == pytest.approx((2 / 5 + 2 / 4) / 2)


def test_graded_marks_are_corrected_and_have_no_error_rates():
    rng = np.random.default_rng(4)
    gold = rng.choice([0, 0.5, 1], 600)
    judge = np.clip(gold + rng.choice([0, 0, 0.5], 600), 0, 1)
    seen = np.where(np.arange(600) < 200, gold, NONE)
    result = corrected(JudgedSample.of(judge=judge, gold=seen, cluster=np.arange(600) % 60))

    assert result.sensitivity == Undefined(Reason.NOT_TWO_LABELS)
    slope = np.polyfit(gold[:200], judge[:200], 1)
    calibrated = (judge.mean() - slope[1]) / slope[0]
    assert value(result.rogan_gladen).value == pytest.approx(calibrated)
    assert "graded" in value(result.rogan_gladen).method


def test_bootstrap_over_projects_is_seeded_and_close_to_the_sandwich():
    sample = sample_of(TABLE, unlabelled=UNLABELLED, projects=100)
    one, again, other = (corrected(sample, target=Target.PROJECTS, seed=seed) for seed in (1, 1, 2))

    figure = value(one.prediction_powered)
    assert one == again
    assert figure.bootstrap != value(other.prediction_powered).bootstrap
    assert figure.bootstrap is not None
    assert figure.low is not None
    assert figure.bootstrap.low == pytest.approx(figure.low, abs=0.015)
    assert figure.resamples == 2000
    assert value(corrected(sample, target=Target.RUN).prediction_powered).bootstrap is None


def test_resamples_without_a_figure_are_counted():
    table = {(1, 1): 55, (1, 0): 45, (0, 1): 50, (0, 0): 50}
    figure = value(
        corrected(sample_of(table, unlabelled=UNLABELLED), target=Target.PROJECTS, seed=3).rogan_gladen
    )

    assert 0 < figure.undefined_resamples < figure.resamples
    assert figure.bootstrap is not None
    assert figure.bootstrap.flags == (Flag.UNDEFINED_RESAMPLES,)


def test_each_agent_is_corrected_by_its_own_labels():
    kind = {"kind": {(1, 1): 100, (0, 1): 60, (0, 0): 40}, "fair": {(1, 1): 100, (0, 0): 100}}
    columns = [
        (people, said, name)
        for name, table in kind.items()
        for (people, said), n in table.items()
        for _ in range(n)
    ]
    gold, judge, agent = zip(*columns, strict=True)
    seen = np.where(np.random.default_rng(5).random(400) < 0.4, gold, NONE)
    sample = JudgedSample.of(judge=judge, gold=seen, cluster=np.arange(400) % 50, agent=agent)
    by_agent = corrected_by_agent(sample)

    assert list(by_agent) == ["fair", "kind"]
    assert value(by_agent["kind"].raw).value == pytest.approx(0.8)
    assert value(by_agent["kind"].prediction_powered).value == pytest.approx(0.5, abs=0.1)
    assert value(by_agent["kind"].bias).value == pytest.approx(0.3, abs=0.1)
    assert value(by_agent["fair"].bias).value == 0
    assert (by_agent["fair"].n, by_agent["kind"].n) == (200, 200)


def test_projects_complete_only_where_people_marked_all_of_their_outcomes():
    # Three projects of two outcomes each, drawn whole with chance 2/3: the third has no label.
    sample = JudgedSample.of(
        judge=[1, 1, 1, 0, 1, 1],
        gold=[1, 0, 1, 1, NONE, NONE],
        cluster=[0, 0, 1, 1, 2, 2],
        draw=Draw.PROJECTS,
    )
    whole = all_passed(sample, sample.cluster, least=2)

    assert isinstance(whole, JudgedSample)
    assert whole.judge.tolist() == [1, 0, 1]
    assert whole.gold[:2].tolist() == [0, 1]
    assert np.isnan(whole.gold[2])
    assert whole.probability[:2] == pytest.approx([2 / 3, 2 / 3])


def test_completion_of_projects_of_which_only_parts_were_labelled_is_undefined():
    sample = sample_of(TABLE, unlabelled=UNLABELLED)

    assert all_passed(sample, sample.cluster) == Undefined(Reason.NOT_LABELLED_WHOLE)


def test_chance_that_a_criterion_is_labelled_whole_is_that_of_drawing_without_replacement():
    # 3 of 6 outcomes are labelled: both of a criterion of two with chance 3/6 * 2/5, one alone with 3/6.
    sample = JudgedSample.of(judge=[1] * 6, gold=[1, 1, 0, NONE, NONE, NONE], cluster=[0, 0, 1, 1, 2, 2])
    criteria = all_passed(sample, ["a", "a", "b", "c", "d", "d"], least=2)

    assert isinstance(criteria, JudgedSample)
    assert criteria.gold[:2].tolist() == [1, 0]
    assert criteria.probability[:2] == pytest.approx([3 / 6 * 2 / 5, 3 / 6])


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_every_figure_is_a_share_with_its_interval_around_it_or_undefined(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    judge, gold = rng.choice([0, 0.5, 1], n), rng.choice([0, 0.5, 1, NONE], n)
    sample = JudgedSample.of(
        judge=judge,
        gold=gold,
        cluster=rng.integers(0, 8, n),
        weight=rng.integers(0, 3, n) + (np.arange(n) == 0),
        stratum=rng.integers(0, 2, n),
        draw=list(Draw)[seed % 2],
    )
    for target in Target:
        result = corrected(sample, target=target, resamples=50)
        for figure in (result.raw, result.people, result.rogan_gladen, result.prediction_powered):
            if isinstance(figure, Undefined):
                continue
            assert 0 <= figure.value <= 1
            assert (figure.low is None) == (figure.high is None)
            if figure.low is not None:
                assert figure.high is not None
                assert 0 <= figure.low <= figure.value + 1e-12
                assert figure.value - 1e-12 <= figure.high <= 1


@settings(deadline=None, max_examples=25)
@given(st.permutations(range(40)))
def test_order_of_outcomes_does_not_matter(order):
    rng = np.random.default_rng(6)
    columns: dict[str, Any] = {
        "judge": rng.integers(0, 2, 40),
        "gold": rng.choice([0, 1, NONE], 40),
        "cluster": rng.integers(0, 9, 40),
        "stratum": rng.integers(0, 2, 40),
    }
    shuffled = {name: column[list(order)] for name, column in columns.items()}
    for target in Target:
        one = corrected(JudgedSample.of(**columns), target=target, resamples=0)
        other = corrected(JudgedSample.of(**shuffled), target=target, resamples=0)
        assert value(one.prediction_powered).se == pytest.approx(value(other.prediction_powered).se)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"judge": [1, 2, 0]}, "The judge gives credits from 0 to 1"),
        ({"gold": [1, -1, NONE]}, "A person gives credits from 0 to 1"),
        ({"judge": [1, NONE, 0]}, "leave outcomes without a mark out"),
        ({"cluster": [0, 1]}, "one entry an outcome"),
        ({"weight": [0, 0, 0]}, "at least one is above 0"),
        ({"probability": [0, 0.5, 0.5]}, "What is labelled had a chance above 0"),
        ({"probability": [2, 0.5, 0.5]}, "from 0 to 1"),
    ],
)
def test_sample_that_cannot_be_is_refused_with_the_way_out(change, sentence):
    columns = {"judge": [1, 1, 0], "gold": [1, 0, NONE], "cluster": [0, 1, 2]} | change

    with pytest.raises(ValueError, match=sentence):
        JudgedSample.of(**columns)


def test_group_across_projects_is_refused():
    sample = JudgedSample.of(judge=[1, 1], gold=[1, 1], cluster=[0, 1])

    with pytest.raises(ValueError, match="lies in one project"):
        all_passed(sample, ["a", "a"])


def test_projects_that_people_marked_whole_still_vary_and_few_of_them_are_marked():
    result = corrected(sample_of(TABLE, unlabelled={}, projects=20), target=Target.PROJECTS, resamples=0)

    figure = value(result.prediction_powered)
    assert figure.low is not None
    assert figure.low < figure.value
    assert result.flags == (Flag.FEW_LABELLED_PROJECTS,)
