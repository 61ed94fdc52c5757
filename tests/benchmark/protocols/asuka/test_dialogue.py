"""The dialogue with a code agent: requests, the end of the rounds, and what feedback speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from benchmark.protocols import protocol
from benchmark.rules.records import CriterionSpec, OutcomeSpec, RoundRecord, TaskSpec, TrialRecord
from benchmark.rules.vocabulary import Mark, StageName, TrialState

ASUKA = protocol("asuka")
TASK = TaskSpec(
    key="shop",
    title="Shop",
    request="Make me a shop.",
    prd="A shop with a cart that …",
    criteria=(
        CriterionSpec(key="list", kind="presence", outcomes=(OutcomeSpec(text="a"), OutcomeSpec(text="b"))),
        CriterionSpec(key="cart", kind="functionality", needs=("list",), outcomes=(OutcomeSpec(text="c"),)),
    ),
)
P, F, E = Mark.PASS, Mark.FAIL, Mark.ERROR
JUDGED = frozenset(ASUKA.stages[:4])


def trial(*marks: Mapping[str, tuple[Mark, ...]], feedback: str = "", **settings) -> TrialRecord:
    rounds = tuple(
        RoundRecord(number=number, marks=each, completed=JUDGED, feedback=feedback and f"{feedback} {number}")
        for number, each in enumerate(marks, start=1)
    )
    return TrialRecord(task=TASK, rounds=rounds, state=TrialState.RUNNING, settings=settings)


def test_round_one_is_given_the_query():
    assert ASUKA.request_for(trial()) == "Make me a shop."


def test_later_rounds_are_given_the_feedback_of_the_round_before():
    record = trial({"list": (F, F)}, {"list": (P, F)}, feedback="Wrong in round")

    assert ASUKA.request_for(record) == "Wrong in round 2"


def test_round_that_is_open_but_not_briefed_is_given_the_feedback_before_it():
    record = trial({"list": (F, F)}, feedback="Wrong in round")
    record = replace(record, rounds=(*record.rounds, RoundRecord(number=2)))

    assert ASUKA.request_for(record) == "Wrong in round 1"


def test_round_after_one_that_left_nothing_to_say_repeats_the_query():
    assert ASUKA.request_for(trial({"list": (E, E)})) == "Make me a shop."


def test_prd_setting_gives_the_prd_in_one_round():
    assert ASUKA.request_for(trial(request="prd")) == TASK.prd
    assert ASUKA.wants_another_round(trial(request="prd"))
    assert not ASUKA.wants_another_round(trial({"list": (F, F)}, request="prd"))


def test_missing_prd_is_named_with_the_way_out():
    record = replace(trial(request="prd"), task=replace(TASK, prd=" "))

    with pytest.raises(ValueError, match=r"Task 'shop' has no PRD to give; set `request` to 'query'"):
        ASUKA.request_for(record)


def test_another_round_is_wanted_until_every_criterion_passes_in_that_round():
    assert ASUKA.wants_another_round(trial())
    assert ASUKA.wants_another_round(trial({"list": (P, P), "cart": (F,)}))
    assert not ASUKA.wants_another_round(trial({"list": (P, P), "cart": (P,)}))
    # Both passed at some time, but not in the same round.
    assert ASUKA.wants_another_round(trial({"list": (P, P), "cart": (F,)}, {"list": (P, F), "cart": (P,)}))


def test_criterion_that_could_not_be_judged_does_not_pass():
    assert ASUKA.wants_another_round(trial({"list": (P, P), "cart": (E,)}))


def test_no_more_rounds_than_the_setting_says():
    failing = {"list": (F, F)}

    assert ASUKA.wants_another_round(trial(failing, failing))
    assert not ASUKA.wants_another_round(trial(failing, failing, failing))
    assert not ASUKA.wants_another_round(trial(failing, max_rounds=1))


def test_feedback_speaks_of_executed_criteria_that_did_not_fully_pass():
    # list passes half, which satisfies T = 0.5, so cart is reached and fails as well.
    both = ASUKA.criteria_for_feedback(trial({"list": (P, F), "cart": (F,)}))

    assert [criterion.key for criterion in both] == ["list", "cart"]


def test_skipped_criteria_never_appear_in_feedback():
    only = ASUKA.criteria_for_feedback(trial({"list": (P, F), "cart": (F,)}, threshold=1))

    assert [criterion.key for criterion in only] == ["list"]


def test_criteria_that_could_not_be_judged_never_appear_in_feedback():
    assert ASUKA.criteria_for_feedback(trial({"list": (P, E), "cart": (F,)})) == ()
    assert ASUKA.criteria_for_feedback(trial()) == ()


def test_failed_criterion_with_an_errored_outcome_appears_in_feedback():
    only = ASUKA.criteria_for_feedback(trial({"list": (F, E)}))

    assert [criterion.key for criterion in only] == ["list"]


def test_stages_are_those_of_the_loop():
    assert [stage.value for stage in ASUKA.stages] == [
        "brief",
        "code",
        "deploy",
        "judge",
        "feedback",
        "score",
    ]
    assert StageName.REFUTE not in ASUKA.stages
