"""Records that cannot hold what cannot be, and settings that take only what they declare."""

from __future__ import annotations

import pytest

from benchmark.protocols import protocol
from benchmark.rules.protocol import BadSetting
from benchmark.rules.records import CriterionSpec, OutcomeSpec, RoundRecord, TaskSpec, TrialRecord
from benchmark.rules.vocabulary import TrialState

ASUKA = protocol("asuka")


def test_criterion_expects_at_least_one_outcome():
    with pytest.raises(ValueError, match="Criterion 'a' expects no outcome"):
        CriterionSpec(key="a", kind="presence", outcomes=())


def test_criterion_weighs_at_least_one():
    with pytest.raises(ValueError, match="Criterion 'a' has weight 0"):
        CriterionSpec(key="a", kind="presence", weight=0, outcomes=(OutcomeSpec(text=""),))


def test_rounds_of_a_trial_have_no_hole():
    task = TaskSpec(key="t", title="", request="", criteria=())

    with pytest.raises(ValueError, match=r"Task 't' has the rounds \[1, 3\]"):
        TrialRecord(
            task=task,
            rounds=(RoundRecord(number=1), RoundRecord(number=3)),
            state=TrialState.RUNNING,
            settings={},
        )


def test_settings_that_are_not_given_have_their_defaults():
    assert ASUKA.complete_settings({}) == {
        "threshold": 0.5,
        "mode": "dag",
        "max_rounds": 3,
        "request": "query",
    }


def test_settings_are_read_from_text_as_a_form_or_a_command_line_gives_it():
    given = {"threshold": "1", "max_rounds": "5", "mode": "flat"}

    assert ASUKA.complete_settings(given) == {
        "threshold": 1.0,
        "mode": "flat",
        "max_rounds": 5,
        "request": "query",
    }


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"threshold": "1.5"}, "Setting 'threshold' is '1.5'; it takes a number from 0 to 1."),
        ({"threshold": None}, "Setting 'threshold' is None; it takes a number from 0 to 1."),
        ({"threshold": float("nan")}, "Setting 'threshold' is nan; it takes a number from 0 to 1."),
        ({"max_rounds": "2.5"}, "Setting 'max_rounds' is '2.5'; it takes a whole number from 1 to 10."),
        ({"max_rounds": 0}, "Setting 'max_rounds' is 0; it takes a whole number from 1 to 10."),
        ({"max_rounds": "inf"}, "Setting 'max_rounds' is 'inf'; it takes a whole number from 1 to 10."),
        ({"max_rounds": True}, "Setting 'max_rounds' is True; it takes a whole number from 1 to 10."),
        ({"mode": "DAG"}, "Setting 'mode' is 'DAG'; it takes 'dag' or 'flat'."),
        ({"mode": 1}, "Setting 'mode' is 1; it takes 'dag' or 'flat'."),
        (
            {"tresh": 1},
            "Protocol 'asuka' has no setting 'tresh'; it has threshold, mode, max_rounds, request.",
        ),
    ],
)
def test_bad_setting_is_named_with_what_is_taken(given, sentence):
    with pytest.raises(BadSetting) as refused:
        ASUKA.complete_settings(given)

    assert str(refused.value) == sentence
