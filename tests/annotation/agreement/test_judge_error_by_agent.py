"""The judge's error by code agent: found where it differs, quiet where it does not, over projects."""

import numpy as np
import pytest
from scipy import stats

from annotation.agreement.judge_error_by_agent import ErrorTest, JudgeError, error_by_agent
from annotation.agreement.judged_sample import JudgedSample
from annotation.agreement.values import Reason, Undefined


def sample_of(*, seed, kinder=0.0, projects=60, agents=("aster", "birch", "cedar"), labelled=0.3):
    """Outcomes of every agent in every project; the judge passes more of what the second agent failed."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(projects), 10 * len(agents))
    agent = np.tile(np.repeat(np.arange(len(agents)), 10), projects)
    gold = rng.random(cluster.size) < rng.beta(7, 3, projects)[cluster]
    fooled = rng.beta(4, 6, projects)[cluster] + kinder * (agent == 1)
    judge = np.where(gold, rng.random(cluster.size) < 0.9, rng.random(cluster.size) < fooled)
    seen = np.where(rng.random(cluster.size) < labelled, gold, np.nan)
    return JudgedSample.of(judge=judge, gold=seen, cluster=cluster, agent=np.array(agents)[agent])


@pytest.mark.parametrize("error", list(JudgeError))
def test_difference_is_found_and_said_in_a_sentence(error):
    found = error_by_agent(sample_of(seed=1, kinder=0.6, labelled=0.6), error)

    assert isinstance(found, ErrorTest)
    assert found.p < 0.01
    assert found.warning is not None
    assert "differs by code agent (F(" in found.warning
    assert found.document()["warning"] == found.warning
    assert max(found.biases) == found.biases[1]
    if error is JudgeError.BIAS:
        assert "points too high for birch" in found.warning


@pytest.mark.parametrize("error", list(JudgeError))
def test_test_rejects_as_often_as_its_level_when_nothing_differs(error):
    found = [error_by_agent(sample_of(seed=seed), error) for seed in range(100, 400)]

    rejected = sum(isinstance(one, ErrorTest) and one.differs for one in found)
    # 5% of 300 is 15; below 4 or above 31 would happen once in some thousand times.
    assert 4 <= rejected <= 31


def test_no_warning_where_nothing_was_found():
    found = error_by_agent(sample_of(seed=6))

    assert isinstance(found, ErrorTest)
    assert not found.differs
    assert found.warning is None


def test_two_agents_that_share_no_project_are_compared_as_two_samples_are():
    # With one outcome a project the test is a two-sample one; t^2 with equal variances is close to it.
    rng = np.random.default_rng(3)
    agent = np.arange(400) % 2
    judge, gold = (rng.random(400) < 0.7).astype(float), (rng.random(400) < 0.6 - 0.1 * agent).astype(float)
    sample = JudgedSample.of(judge=judge, gold=gold, cluster=np.arange(400), agent=agent)
    found = error_by_agent(sample)

    errors = judge - gold
    expected = stats.ttest_ind(errors[agent == 0], errors[agent == 1])
    assert isinstance(found, ErrorTest)
    assert found.df == (1, 399)
    assert found.p == pytest.approx(expected.pvalue, rel=0.05)


def test_agents_with_too_few_labels_are_left_out_by_name():
    sample = sample_of(seed=4)
    gold = np.where((sample.agent == 2) & (np.cumsum(sample.agent == 2) > 6), np.nan, sample.gold)
    names = np.array(sample.agents)[sample.agent]
    found = error_by_agent(
        JudgedSample.of(judge=sample.judge, gold=gold, cluster=sample.cluster, agent=names)
    )

    assert isinstance(found, ErrorTest)
    assert found.agents == ("aster", "birch")
    assert found.left_out == ("cedar",)


def test_what_cannot_be_tested_says_why():
    full = sample_of(seed=5)
    columns = {"judge": full.judge, "cluster": full.cluster, "agent": full.agent}

    def with_gold(gold, **more):
        return JudgedSample.of(**(columns | {"gold": gold} | more))

    nothing = with_gold(np.full(full.gold.shape, np.nan))
    assert error_by_agent(nothing) == Undefined(Reason.NOT_LABELLED)
    assert error_by_agent(with_gold(full.gold / 2), JudgeError.RATES) == Undefined(Reason.NOT_TWO_LABELS)
    assert error_by_agent(with_gold(full.gold, agent=full.agent * 0)) == Undefined(Reason.TOO_FEW)
    assert error_by_agent(with_gold(full.gold, cluster=full.cluster % 3)) == Undefined(Reason.TOO_FEW)
    right = np.where(full.labelled, full.judge, np.nan)
    assert error_by_agent(with_gold(right)) == Undefined(Reason.NO_VARIATION)
