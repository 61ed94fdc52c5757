"""Intervals of corrected scores hold the truth as often as they say: a short run of what `make soak` measures."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from annotation.agreement.corrected import corrected
from annotation.agreement.corrected_basis import Target
from annotation.agreement.judged_sample import Draw, JudgedSample
from annotation.agreement.values import Value
from performance.coverage import LENIENT, STRICT, coverage, intervals
from performance.simulated_runs import World, simulated

RUNS = 300
# Four binomial errors: by chance alone one test in several thousand would fail, if seeds were not fixed.
MARGIN = 4 * sqrt(0.95 * 0.05 / RUNS)


@pytest.mark.parametrize("judge", [LENIENT, STRICT])
@pytest.mark.parametrize("prevalence", [0.3, 0.9])
def test_corrected_intervals_hold_the_truth_and_the_raw_one_does_not(judge, prevalence):
    world = World(prevalence=prevalence, sensitivity=judge[0], specificity=judge[1])

    measured = coverage(world, runs=RUNS, seed=11)

    assert measured.corrected == pytest.approx([0.95] * 4, abs=MARGIN)
    assert max(measured.raw_run, measured.raw_projects) < 0.95 - MARGIN


@pytest.mark.parametrize(
    "change",
    [{"weighted": True}, {"by_mark": True}, {"draw": Draw.PROJECTS, "projects": 200, "labelled": 1500}],
)
def test_they_hold_it_with_weights_strata_and_whole_projects(change):
    measured = coverage(replace(World(prevalence=0.7), **change), runs=RUNS, seed=12)

    assert measured.corrected == pytest.approx([0.95] * 4, abs=MARGIN)


def test_figures_from_few_projects_or_near_one_are_marked_and_others_are_not():
    few = coverage(World(prevalence=0.5, projects=20), runs=50, seed=13)
    extreme = coverage(World(prevalence=0.95), runs=50, seed=13)
    plain = coverage(World(prevalence=0.7), runs=50, seed=13)

    assert few.warned == 1
    assert extreme.warned > 0.9
    assert plain.warned == 0


def test_interval_that_took_outcomes_of_a_project_for_independent_would_not_hold_the_truth():
    batch = simulated(World(prevalence=0.7, likeness=0.3), runs=RUNS, rng=np.random.default_rng(14))
    apart = replace(batch.marks, cluster=np.arange(batch.marks.cluster.size))

    together = intervals(batch)["powered_projects"]
    independent = intervals(replace(batch, marks=apart))["powered_projects"]

    held = [np.mean((each.low <= 0.7) & (each.high >= 0.7)) for each in (together, independent)]
    assert held[0] == pytest.approx(0.95, abs=MARGIN)
    assert held[1] < 0.95 - MARGIN


@pytest.mark.parametrize(
    "change", [{}, {"weighted": True}, {"by_mark": True}, {"draw": Draw.PROJECTS, "projects": 200}]
)
def test_what_is_simulated_is_what_a_report_shows(change):
    batch = simulated(replace(World(prevalence=0.7), **change), runs=2, rng=np.random.default_rng(15))
    marks, shown = batch.marks, intervals(batch)
    sample = JudgedSample.of(
        judge=marks.judge[1],
        gold=np.where(marks.labelled[1] > 0, marks.gold[1], np.nan),
        cluster=marks.cluster,
        weight=marks.weight,
        probability=marks.probability[1],
        stratum=np.broadcast_to(marks.stratum, marks.judge.shape)[1],
        draw=Draw.PROJECTS if batch.by_cluster else Draw.OUTCOMES,
    )

    for target in Target:
        result = corrected(sample, target=target, resamples=0)
        for name, figure in (("rogan_gladen", result.rogan_gladen), ("powered", result.prediction_powered)):
            assert isinstance(figure, Value)
            bounds = shown[f"{name}_{target.value}"]
            assert (figure.low, figure.high) == pytest.approx((bounds.low[1], bounds.high[1]), rel=2e-3)
