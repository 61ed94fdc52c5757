"""Criteria and projects that pass whole are corrected without bias, from those that people marked whole."""

import numpy as np
import pytest

from annotation.agreement.corrected import corrected
from annotation.agreement.judged_sample import Draw, JudgedSample, all_passed
from annotation.agreement.values import Flag, Value

PROJECTS, OUTCOMES, RUNS = 100, 20, 150
CLUSTER = np.repeat(np.arange(PROJECTS), OUTCOMES)
# Ten criteria a project, of one to three outcomes.
CRITERION = np.concatenate(
    [10 * project + np.repeat(np.arange(10), [1, 2, 3, 1, 2, 3, 1, 2, 3, 2]) for project in range(PROJECTS)]
)


def judged(gold, rng):
    return np.where(gold, rng.random(gold.size) < 0.98, rng.random(gold.size) < 0.4)


def figure(sample, group):
    groups = all_passed(sample, group)
    assert isinstance(groups, JudgedSample)
    found = corrected(groups, resamples=0).prediction_powered
    assert isinstance(found, Value)
    return found


@pytest.mark.parametrize("is_by_project", [True, False])
def test_task_pass_rate_is_corrected_from_single_outcomes_without_bias(is_by_project):
    rng = np.random.default_rng(21)
    errors, held = [], []
    for _ in range(RUNS):
        gold = rng.random(CLUSTER.size) < rng.beta(8, 1.5, 10 * PROJECTS)[CRITERION]
        luck = rng.random((PROJECTS, OUTCOMES))
        labelled = np.argsort(np.argsort(luck)) < 8
        if not is_by_project:
            labelled = luck <= np.sort(luck, axis=None)[8 * PROJECTS - 1]
        sample = JudgedSample.of(
            judge=judged(gold, rng),
            gold=np.where(labelled.ravel(), gold, np.nan),
            cluster=CLUSTER,
            stratum=CLUSTER if is_by_project else None,
        )
        found = figure(sample, CRITERION)
        truth = np.minimum.reduceat(gold, np.unique(CRITERION, return_index=True)[1]).mean()
        errors.append(found.value - truth)
        held.append(found.low <= truth <= found.high)
        # A criterion of three outcomes that was labelled whole stands for twenty: 92% was measured, and it warns.
        assert Flag.FEW_LABELLED in found.flags

    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(RUNS)
    assert np.mean(held) > 0.92 - 4 * np.sqrt(0.92 * 0.08 / RUNS)


def test_completion_is_corrected_from_whole_projects_without_bias():
    rng = np.random.default_rng(22)
    errors, held, raw = [], [], []
    for _ in range(RUNS):
        rates = np.where(rng.random(PROJECTS) < 0.5, 0.9, 0.995)[CLUSTER]
        gold = rng.random(CLUSTER.size) < rates
        drawn = np.isin(CLUSTER, rng.permutation(PROJECTS)[:50])
        judge = judged(gold, rng)
        found = figure(
            JudgedSample.of(
                judge=judge, gold=np.where(drawn, gold, np.nan), cluster=CLUSTER, draw=Draw.PROJECTS
            ),
            CLUSTER,
        )
        truth = gold.reshape(PROJECTS, OUTCOMES).all(axis=1).mean()
        errors.append(found.value - truth)
        raw.append(judge.reshape(PROJECTS, OUTCOMES).all(axis=1).mean() - truth)
        held.append(found.low <= truth <= found.high)

    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(RUNS)
    assert abs(np.mean(raw)) > 4 * np.std(raw) / np.sqrt(RUNS)
    assert np.mean(held) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / RUNS)
