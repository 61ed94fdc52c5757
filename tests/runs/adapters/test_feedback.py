"""Feedback speaks of what was tried and failed, as a user would, and of nothing else."""

from __future__ import annotations

import pytest

from benchmark.rules.records import CriterionSpec, OutcomeSpec, RoundRecord, TaskSpec
from benchmark.rules.vocabulary import Mark
from runs.adapters.feedback.template import TemplateFeedback, as_a_user_says


def _criterion(key: str, title: str, *, outcomes: int = 1) -> CriterionSpec:
    specs = tuple(OutcomeSpec(text=f"HIDDEN {key} {number}") for number in range(outcomes))
    return CriterionSpec(key=key, title=title, kind="functionality", outcomes=specs)


TABLE = _criterion("c0", "Score table", outcomes=3)
FILTER = _criterion("c1", "Filter")
CHART = _criterion("c2", "Chart")
TASK = TaskSpec(key="t", title="Scores", request="Build it.", criteria=(TABLE, FILTER, CHART))


def test_failures_are_numbered_in_the_tasks_order_in_the_first_person():
    judged = RoundRecord(
        number=1,
        marks={"c0": (Mark.FAIL, Mark.PASS, Mark.FAIL), "c1": (Mark.FAIL,)},
        rationales={
            "c0": (
                'Expected 3 rows, saw 2 (after clicking the button "Add").',
                "All 2 expectations held; the last one: 3 rows.",
                "Sort by score: expected the scores in order from high to low, saw 1, 2.",
            ),
            "c1": ('Could not find the field "Filter" within 3 s.',),
        },
    )

    text = TemplateFeedback().write(TASK, judged, [FILTER, TABLE])

    assert text == (
        "I tried the application. These things do not work for me yet:\n"
        "\n"
        '1. Score table: I expected 3 rows, but saw 2 (after clicking the button "Add"). '
        "Sort by score: I expected the scores in order from high to low, but saw 1, 2.\n"
        '2. Filter: I could not find the field "Filter" within 3 s.\n'
        "\n"
        "Please change the application so that they work, and keep what already works as it is.\n"
    )


def test_nothing_failed_means_nothing_is_said():
    judged = RoundRecord(number=1, marks={"c0": (Mark.PASS,) * 3}, rationales={"c0": ("As expected.",) * 3})

    assert TemplateFeedback().write(TASK, judged, []) == ""
    assert TemplateFeedback().write(TASK, judged, [TABLE]) == ""


def test_errors_and_skipped_outcomes_never_appear():
    judged = RoundRecord(
        number=1,
        marks={"c0": (Mark.ERROR, Mark.FAIL, Mark.ERROR), "c1": (Mark.SKIPPED,), "c2": (Mark.ERROR,)},
        rationales={
            "c0": ("The browser ended.", "Expected 1 row, saw none.", "The browser ended."),
            "c1": ("Skipped, because c0 is not satisfied.",),
            "c2": ("The browser ended.",),
        },
    )

    text = TemplateFeedback().write(TASK, judged, [TABLE, FILTER, CHART])

    assert "browser" not in text
    assert "Skipped" not in text
    assert "1. Score table: I expected 1 row, but saw none." in text
    assert "2." not in text


def test_keys_and_hidden_wording_never_appear():
    judged = RoundRecord(number=1, marks={"c0": (Mark.FAIL,) * 3}, rationales={})

    text = TemplateFeedback().write(TASK, judged, [TABLE])

    assert "1. Score table: This does not work as I would expect." in text
    assert "HIDDEN" not in text
    assert "c0" not in text


def test_the_same_trouble_of_several_criteria_is_said_once():
    trouble = ("The page did not respond for 5 s.",)
    judged = RoundRecord(
        number=1,
        marks={"c1": (Mark.FAIL,), "c2": (Mark.FAIL,)},
        rationales={"c1": trouble, "c2": trouble},
    )

    text = TemplateFeedback().write(TASK, judged, [FILTER, CHART])

    assert "1. Filter, Chart: The page did not respond for 5 s." in text
    assert text.count("respond") == 1


def test_a_criterion_with_many_failures_stays_readable():
    many = _criterion("c9", "Everything", outcomes=9)
    judged = RoundRecord(
        number=1,
        marks={"c9": (Mark.FAIL,) * 9},
        rationales={"c9": tuple(f"Expected {number} rows, saw 0." for number in range(9))},
    )

    text = TemplateFeedback().write(TASK, judged, [many])

    assert text.count("I expected") == 6
    assert "There are 3 more of this kind." in text


@pytest.mark.parametrize(
    ("rationale", "said"),
    [
        (
            "Expected not to see the menu, but it is there.",
            "I expected not to see the menu, but it is there.",
        ),
        ("Could not click the button: it is disabled.", "I could not click the button: it is disabled."),
        ("Add a cup: could not find it.", "Add a cup: I could not find it."),
        ("The page closed itself.", "The page closed itself."),
        ("a" * 500, f"{'a' * 397}..."),
        ("two\n  lines", "two lines"),
    ],
)
def test_rationales_become_first_person(rationale: str, said: str):
    assert as_a_user_says(rationale) == said
