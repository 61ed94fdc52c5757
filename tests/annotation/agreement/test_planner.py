"""Plans give intervals of the wanted width: by formula, and in simulated samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, f1_score
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

from annotation.agreement.planner import (
    Clustering,
    Expected,
    PlanError,
    Target,
    outcomes_per_project,
    plan_judge,
    plan_people,
)

JUDGE = Expected(prevalence=0.7, recall=0.9, specificity=0.8)


def test_accuracy_needs_the_number_at_which_wilson_s_interval_is_narrow_enough():
    plan = plan_judge(Target.ACCURACY, JUDGE, width=0.06)

    # Accuracy 0.7 * 0.9 + 0.3 * 0.8.
    assert plan.value == pytest.approx(0.87)
    for n, is_enough in ((plan.outcomes, True), (plan.outcomes - 1, False)):
        low, high = proportion_confint(0.87 * n, n, method="wilson")
        assert (high - low <= 0.06) == is_enough


def test_specificity_counts_only_outcomes_that_failed():
    often, seldom = (
        plan_judge(Target.SPECIFICITY, Expected(prevalence=each, recall=0.9, specificity=0.8), width=0.1)
        for each in (0.5, 0.95)
    )

    assert seldom.outcomes == pytest.approx(10 * often.outcomes, rel=0.01)


def test_kappa_needs_more_outcomes_where_nearly_everything_passes():
    outcomes = [
        plan_judge(Target.KAPPA, Expected(prevalence=each, recall=0.95, specificity=0.6), width=0.1).outcomes
        for each in (0.5, 0.8, 0.95)
    ]

    assert outcomes == sorted(outcomes)
    assert outcomes[2] > 2 * outcomes[0]


@pytest.mark.parametrize("target", [Target.KAPPA, Target.F1])
def test_simulated_samples_of_the_planned_size_spread_as_planned(target):
    plan = plan_judge(target, JUDGE, width=0.1)
    tables = np.random.default_rng(5).multinomial(plan.outcomes, JUDGE.cells.ravel(), size=4000)
    tp, fn, fp, tn = tables.T.astype(float)
    if target is Target.F1:
        found = 2 * tp / (2 * tp + fp + fn)
    else:
        found = 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))

    width = 2 * 1.959964 * found.std()

    assert width == pytest.approx(plan.width, rel=0.05)
    assert found.mean() == pytest.approx(plan.value, abs=0.005)


def test_the_expected_values_are_those_of_scikit_learn():
    gold = np.repeat([1, 1, 0, 0], [630, 70, 60, 240])
    said = np.repeat([1, 0, 1, 0], [630, 70, 60, 240])

    assert plan_judge(Target.KAPPA, JUDGE, width=0.1).value == pytest.approx(cohen_kappa_score(gold, said))
    assert plan_judge(Target.F1, JUDGE, width=0.1).value == pytest.approx(f1_score(gold, said))


def test_projects_multiply_the_sample_by_their_design_effect():
    alone = plan_judge(Target.KAPPA, JUDGE, width=0.1)
    together = plan_judge(
        Target.KAPPA, JUDGE, width=0.1, clustering=Clustering(per_project=20, correlation=0.1)
    )

    assert together.design_effect == pytest.approx(1 + 19 * 0.1)
    assert together.outcomes == 20 * together.projects
    # Student's t of few projects adds a little to 2.9 times.
    assert 2.9 * alone.outcomes < together.outcomes < 3.3 * alone.outcomes
    assert together.width <= 0.1


def test_unequal_projects_need_more():
    equal = Clustering(per_project=20, correlation=0.1)
    unequal = Clustering(per_project=20, correlation=0.1, variation=0.8)

    assert unequal.design_effect == pytest.approx(1 + (1.64 * 20 - 1) * 0.1)
    assert unequal.design_effect > equal.design_effect
    assert Clustering().design_effect == 1


def test_a_fixed_number_of_projects_has_an_end_to_what_it_can_tell():
    # 300 independent outcomes with correlation 0.1: 40 projects of m with 40 m / (1 + (m - 1) 0.1) = 300.
    assert outcomes_per_project(300, projects=40, correlation=0.1) == 27
    assert outcomes_per_project(300, projects=30, correlation=0.1) is None
    assert outcomes_per_project(300, projects=30, correlation=0) == 10


@pytest.mark.parametrize("raters", [2, 4])
def test_simulated_people_spread_as_planned(raters):
    (plan,) = plan_people(kappa=0.6, prevalence=0.7, width=0.12, raters=[raters])
    rng = np.random.default_rng(6)
    scale = (1 - 0.6) / 0.6
    found = []
    for _ in range(600):
        positive = rng.binomial(raters, rng.beta(0.7 * scale, 0.3 * scale, plan.outcomes))
        found.append(fleiss_kappa(np.stack([raters - positive, positive], axis=1)))

    assert 2 * 1.959964 * np.std(found) == pytest.approx(plan.width, rel=0.12)
    assert np.mean(found) == pytest.approx(0.6, abs=0.01)


def test_more_raters_need_fewer_outcomes_but_not_fewer_ratings_without_end():
    plans = plan_people(kappa=0.6, prevalence=0.7, width=0.12)

    outcomes = [plan.outcomes for plan in plans]
    assert [plan.raters for plan in plans] == [2, 3, 4, 5, 6]
    assert outcomes == sorted(outcomes, reverse=True)
    assert min(plans, key=lambda plan: plan.ratings).raters < 6
    # 2 * 0.6 / (1 + 0.6).
    assert plans[0].reliability == pytest.approx(0.75)


def test_two_raters_have_the_published_variance():
    (plan,) = plan_people(kappa=0.5, prevalence=0.8, width=0.1, raters=[2])
    # Bloch and Kraemer 1989: (1 - k) ((1 - k)(1 - 2k) + k (2 - k) / (2 p q)) / n.
    variance = 0.5 * (0.5 * 0 + 0.5 * 1.5 / (2 * 0.16)) / plan.outcomes

    assert plan.width == pytest.approx(2 * stats.norm.ppf(0.975) * np.sqrt(variance))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Expected(prevalence=1, recall=0.9, specificity=0.8), "Prevalence 1 is not between"),
        (lambda: Expected(prevalence=0.5, recall=1, specificity=1), "expect a few mistakes"),
        (lambda: Expected(prevalence=0.5, recall=0, specificity=1), "must be above 0"),
        (lambda: plan_judge(Target.F1, JUDGE, width=0), "Width 0 is not between"),
        (lambda: plan_judge(Target.KAPPA, JUDGE, width=0.001), "ask for a wider one"),
        (lambda: Clustering(per_project=0), "at least one outcome"),
        (lambda: plan_people(kappa=1.2, prevalence=0.5, width=0.1), "Kappa 1.2 is not between"),
        (lambda: plan_people(kappa=0.5, prevalence=0.5, width=0.1, raters=[1]), "two or more"),
    ],
)
def test_plans_that_cannot_be_made_say_why(wrong, words):
    with pytest.raises(PlanError, match=words):
        wrong()
