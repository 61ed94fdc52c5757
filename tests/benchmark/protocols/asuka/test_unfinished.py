"""Runs that still go on: only finished tasks count, and what did not happen yet is no failure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmark.protocols import protocol
from benchmark.rules.records import CriterionSpec, OutcomeSpec, RoundRecord, TaskSpec, TrialRecord
from benchmark.rules.vocabulary import Mark, StageName, TrialState

ASUKA = protocol("asuka")
JUDGED = frozenset({StageName.JUDGE})


def trial(key: str, *letters: str, state: TrialState = TrialState.FINISHED, repeat: int = 1) -> TrialRecord:
    words = {"P": Mark.PASS, "F": Mark.FAIL, "E": Mark.ERROR}
    outcome = (OutcomeSpec(text=""),)
    task = TaskSpec(
        key=key,
        title=key,
        request="",
        criteria=(
            CriterionSpec(key="a", kind="presence", outcomes=outcome),
            CriterionSpec(key="b", kind="presence", outcomes=outcome),
        ),
    )
    rounds = tuple(
        RoundRecord(
            number=number,
            completed=JUDGED,
            marks={name: (words[letter],) for name, letter in zip("ab", marks, strict=False)},
        )
        for number, marks in enumerate(letters, start=1)
    )
    return TrialRecord(task=task, repeat=repeat, rounds=rounds, state=state, settings={})


def test_trial_that_still_goes_on_is_left_out_and_counted_as_unfinished():
    found = ASUKA.score([trial("t", "PP"), trial("u", "FF", state=TrialState.RUNNING)], {})

    assert (found.metrics["task_pass_rate"].value, found.metrics["task_pass_rate"].n) == (1, 1)
    assert found.unfinished == 1
    assert found.infrastructure_failures == 0


@pytest.mark.parametrize("state", [TrialState.QUEUED, TrialState.RUNNING, TrialState.PAUSED])
def test_trial_without_a_judged_round_counts_nothing_while_its_run_goes_on(state):
    found = ASUKA.score([trial("t", "PP"), trial("u", state=state), trial("v", "EE")], {})

    # v ended with errors only, but the run may still be mended: it is left out as well.
    assert found.metrics["task_pass_rate"].n == 1
    assert found.unfinished == 2
    assert found.infrastructure_failures == 0


@pytest.mark.parametrize("state", [TrialState.FINISHED, TrialState.CANCELLED])
def test_trial_without_a_judged_round_counts_zero_once_its_run_ended(state):
    found = ASUKA.score([trial("t", "PP"), trial("u", state=state)], {})

    assert (found.metrics["task_pass_rate"].value, found.metrics["task_pass_rate"].n) == (0.5, 2)
    assert found.infrastructure_failures == 1


def test_trial_whose_last_round_is_judged_counts_before_it_is_closed():
    # Its score is what remains to be stored, so it must be in its own numbers.
    running = TrialState.RUNNING

    assert ASUKA.score([trial("t", "PP", state=running)], {}).metrics["task_pass_rate"].value == 1
    assert (
        ASUKA.score([trial("t", "FF", "FF", "PF", state=running)], {}).metrics["task_pass_rate"].value == 0.5
    )


def test_run_in_which_nothing_ended_yet_has_no_numbers_but_reasons():
    found = ASUKA.score([trial("t", "FF", state=TrialState.RUNNING)], {})

    assert found.metrics["task_pass_rate"].as_json() == {
        "value": None,
        "reason": "There is no task to average over.",
    }
    assert found.unfinished == 1


def test_round_that_was_cancelled_before_judging_is_not_the_last_round():
    record = trial("t", "PF", state=TrialState.CANCELLED)
    record = replace(record, rounds=(*record.rounds, RoundRecord(number=2)))

    found = ASUKA.score([record], {})

    assert [at.round for at in found.per_round] == [1]
    assert found.metrics["task_pass_rate_state"].value == 0.5


def test_round_that_was_cancelled_while_it_was_judged_counts_what_is_missing_as_error():
    record = trial("t", "PP", state=TrialState.CANCELLED)
    partly = RoundRecord(number=2, marks={"a": (Mark.PASS,)})

    found = ASUKA.score([replace(record, rounds=(*record.rounds, partly))], {})

    assert found.criteria["t"] == {"a": Mark.PASS, "b": Mark.ERROR}
    assert found.errors == 1
    assert found.metrics["regressions"].value == 0


def test_task_counts_with_the_repeats_that_ended():
    trials = [trial("t", "PP"), trial("t", "FF", repeat=2, state=TrialState.RUNNING)]

    found = ASUKA.score(trials, {})

    assert found.per_task["t"]["task_pass_rate"].value == 1
    assert found.unfinished == 0


def test_saved_skip_that_a_lower_threshold_explains_no_more_is_error():
    task = replace(
        trial("t").task,
        criteria=(
            CriterionSpec(key="a", kind="presence", outcomes=(OutcomeSpec(text=""),) * 2),
            CriterionSpec(key="b", kind="presence", needs=("a",), outcomes=(OutcomeSpec(text=""),)),
        ),
    )
    marks = {"a": (Mark.PASS, Mark.FAIL), "b": (Mark.SKIPPED,)}
    record = TrialRecord(
        task=task,
        rounds=(RoundRecord(number=1, marks=marks, completed=JUDGED),),
        state=TrialState.FINISHED,
        settings={},
    )

    assert ASUKA.score([record], {"threshold": 1}).criteria["t"]["b"] is Mark.SKIPPED
    assert ASUKA.score([record], {"threshold": 0.5}).criteria["t"]["b"] is Mark.ERROR
    assert ASUKA.score([record], {"mode": "flat"}).criteria["t"]["b"] is Mark.ERROR
