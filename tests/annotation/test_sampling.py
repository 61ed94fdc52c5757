"""Sampling: the same candidates and seed give the same sample, whatever the order; exclusions are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.sampling import Candidate, Exclusion, SamplePlan, draw
from annotation.vocabulary import SampleMethod, Stratum
from benchmark.rules.vocabulary import Mark

ALL = SamplePlan(method=SampleMethod.ALL, seed=1)

candidates = st.lists(
    st.builds(
        lambda number, project, agent, kind, mark: Candidate(
            round=number // 3,
            trial=number // 6,
            project=project,
            agent=agent,
            kind=kind,
            mark=mark,
            outcome=number,
            place=(project, number),
        ),
        st.integers(0, 200),
        st.sampled_from(["p1", "p2", "p3"]),
        st.sampled_from(["a", "b"]),
        st.sampled_from(["presence", "robustness"]),
        st.sampled_from([*Mark, None]),
    ),
    max_size=60,
    unique_by=lambda candidate: candidate.outcome,
)
plans = st.one_of(
    st.builds(SamplePlan, method=st.just(SampleMethod.ALL), seed=st.integers(), only_executed=st.booleans()),
    st.builds(
        SamplePlan,
        method=st.just(SampleMethod.PER_PROJECT),
        seed=st.integers(),
        size=st.integers(1, 9),
        only_executed=st.booleans(),
    ),
    st.builds(
        SamplePlan,
        method=st.just(SampleMethod.STRATIFIED),
        seed=st.integers(),
        size=st.integers(1, 9),
        strata=st.lists(st.sampled_from(Stratum), min_size=1, unique=True).map(tuple),
        only_executed=st.booleans(),
    ),
)


def outcome(number: int, *, mark: Mark | None = Mark.PASS, project: str = "p", agent: str = "a") -> Candidate:
    return Candidate(
        round=1, trial=1, project=project, agent=agent, place=(number,), outcome=number, kind="k", mark=mark
    )


def numbers(drawn: Sequence[Candidate]) -> list[int | None]:
    return [candidate.outcome for candidate in drawn]


@given(candidates, plans, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(found, plan, luck):
    shuffled = list(found)
    luck.shuffle(shuffled)

    assert draw(shuffled, plan) == draw(found, plan)


@given(candidates, plans)
def test_what_was_found_is_drawn_left_or_excluded_with_a_reason(found, plan):
    sample = draw(found, plan)

    eligible = sum(stratum.found for stratum in sample.strata)
    assert eligible + sum(sample.excluded.values()) == len(found)
    assert len(sample.drawn) == sum(stratum.drawn for stratum in sample.strata)
    assert {each.candidate for each in sample.drawn} <= set(found)
    by_stratum = Counter(each.stratum for each in sample.drawn)
    for stratum in sample.strata:
        wanted = stratum.found if plan.method is SampleMethod.ALL else min(plan.size, stratum.found)
        assert by_stratum[stratum.name] == stratum.drawn == wanted


@given(candidates, plans)
def test_only_what_the_judge_executed_is_drawn_unless_all_is_asked_for(found, plan):
    sample = draw(found, plan)

    if plan.only_executed:
        assert all(each.candidate.mark is not None and each.candidate.mark.is_judged for each in sample.drawn)
    else:
        assert sample.excluded == {}


@given(candidates, st.integers())
def test_the_order_in_which_strata_are_named_changes_nothing(found, seed):
    plan = {"method": SampleMethod.STRATIFIED, "seed": seed, "size": 2}

    one = draw(found, SamplePlan(strata=(Stratum.AGENT, Stratum.KIND), **plan))
    other = draw(found, SamplePlan(strata=(Stratum.KIND, Stratum.AGENT), **plan))

    assert one == other


def test_skipped_error_and_unjudged_outcomes_are_left_out_and_counted():
    found = [
        outcome(1),
        outcome(2, mark=Mark.SKIPPED),
        outcome(3, mark=Mark.SKIPPED),
        outcome(4, mark=Mark.ERROR),
        outcome(5, mark=None),
        outcome(6, mark=Mark.FAIL),
    ]

    sample = draw(found, ALL)

    assert numbers([each.candidate for each in sample.drawn]) == [1, 6]
    assert sample.excluded == {Exclusion.SKIPPED: 2, Exclusion.ERROR: 1, Exclusion.NOT_JUDGED: 1}


def test_so_many_of_each_project_are_drawn_over_all_agents():
    found = [outcome(number, project=f"p{number % 2}", agent=f"a{number % 3}") for number in range(20)] + [
        outcome(99, project="small")
    ]
    plan = SamplePlan(method=SampleMethod.PER_PROJECT, seed=3, size=4)

    sample = draw(found, plan)

    assert Counter(each.candidate.project for each in sample.drawn) == {"p0": 4, "p1": 4, "small": 1}


def test_another_seed_draws_another_sample_and_other_strata_keep_theirs():
    found = [outcome(number, agent="a") for number in range(100)]
    more = [outcome(number, agent="b") for number in range(100, 150)]
    plan = SamplePlan(method=SampleMethod.STRATIFIED, seed=1, size=10, strata=(Stratum.AGENT,))
    other = SamplePlan(method=SampleMethod.STRATIFIED, seed=2, size=10, strata=(Stratum.AGENT,))

    assert draw(found, plan) != draw(found, other)
    assert set(draw(found, plan).drawn) <= set(draw(found + more, plan).drawn)


def test_a_sample_of_nothing_and_a_stratified_one_without_strata_cannot_be_asked_for():
    with pytest.raises(ValueError, match="at least 1"):
        SamplePlan(method=SampleMethod.PER_PROJECT, seed=1)
    with pytest.raises(ValueError, match="needs a stratum"):
        SamplePlan(method=SampleMethod.STRATIFIED, seed=1, size=3)
