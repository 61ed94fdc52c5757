"""The next step of a trial, walked through as an engine would."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmark.protocols import protocol
from benchmark.rules.planning import Step, next_step
from benchmark.rules.records import CriterionSpec, OutcomeSpec, RoundRecord, TaskSpec, TrialRecord
from benchmark.rules.vocabulary import Mark, StageName, TrialState

ASUKA = protocol("asuka")
TASK = TaskSpec(
    key="t",
    title="T",
    request="Make it.",
    criteria=(CriterionSpec(key="a", kind="presence", outcomes=(OutcomeSpec(text=""),)),),
)


def trial(**settings) -> TrialRecord:
    return TrialRecord(task=TASK, state=TrialState.RUNNING, settings=settings)


def after(record: TrialRecord, step: Step, *, mark: Mark = Mark.FAIL) -> TrialRecord:
    """Return the record with a step complete; judging gives the one criterion its mark."""
    rounds = list(record.rounds)
    if step.round > len(rounds):
        rounds.append(RoundRecord(number=step.round))
    round_ = rounds[step.round - 1]
    marks = {"a": (mark,)} if step.stage is StageName.JUDGE else round_.marks
    rounds[step.round - 1] = replace(round_, completed=round_.completed | {step.stage}, marks=marks)
    return replace(record, rounds=tuple(rounds))


def walk(record: TrialRecord, marks: str) -> list[str]:
    """Return every step until nothing is left, with a mark for each round."""
    words = {"P": Mark.PASS, "F": Mark.FAIL}
    taken = []
    while (step := next_step(ASUKA, record)) is not None:
        taken.append(f"{step.round} {step.stage}")
        record = after(record, step, mark=words[marks[step.round - 1]])
    return taken


def test_trial_goes_through_its_stages_and_stops_when_everything_passes():
    assert walk(trial(), "FP") == [
        "1 brief",
        "1 code",
        "1 deploy",
        "1 judge",
        "1 feedback",
        "2 brief",
        "2 code",
        "2 deploy",
        "2 judge",
        "2 score",
    ]


def test_trial_stops_after_its_last_round_without_feedback_that_nobody_would_read():
    steps = walk(trial(max_rounds=2), "FFF")

    assert steps[-1] == "2 score"
    assert "2 feedback" not in steps


def test_trial_on_the_prd_has_one_round():
    assert walk(trial(request="prd"), "FFF") == ["1 brief", "1 code", "1 deploy", "1 judge", "1 score"]


def test_stage_that_was_interrupted_is_the_next_step_again():
    record = after(trial(), Step(round=1, stage=StageName.BRIEF))

    assert next_step(ASUKA, record) == Step(round=1, stage=StageName.CODE)
    assert next_step(ASUKA, record) == Step(round=1, stage=StageName.CODE)


def test_marks_of_an_unfinished_judging_decide_nothing():
    record = trial()
    for stage in ASUKA.stages[:3]:
        record = after(record, Step(round=1, stage=stage))
    record = replace(record, rounds=(replace(record.rounds[0], marks={"a": (Mark.PASS,)}),))

    assert next_step(ASUKA, record) == Step(round=1, stage=StageName.JUDGE)


def test_judging_that_is_taken_back_is_repeated_and_later_rounds_stay():
    record = trial()
    marks = iter([Mark.FAIL, Mark.PASS])
    while (step := next_step(ASUKA, record)) is not None:
        record = after(record, step, mark=next(marks) if step.stage is StageName.JUDGE else Mark.FAIL)
    first, second = record.rounds
    reopened = replace(first, completed=first.completed - {StageName.JUDGE})
    record = replace(record, rounds=(reopened, second))

    step = next_step(ASUKA, record)

    assert step == Step(round=1, stage=StageName.JUDGE)
    assert step is not None
    assert next_step(ASUKA, after(record, step, mark=Mark.PASS)) is None


@pytest.mark.parametrize("state", [TrialState.FINISHED, TrialState.CANCELLED, TrialState.AUDIT_FAILED])
def test_trial_that_ended_has_no_next_step(state):
    assert next_step(ASUKA, replace(trial(), state=state)) is None


def test_paused_trial_keeps_its_next_step():
    assert next_step(ASUKA, replace(trial(), state=TrialState.PAUSED)) == Step(round=1, stage=StageName.BRIEF)
