"""Scripts of a pack are checked step by step, and every problem names its place and the way out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.rules.script_actions import ACTIONS
from benchmark.rules.scripts import (
    action_of,
    criterion_script_problems,
    script_problems,
    step_count,
)

REFERENCE = Path(__file__).parents[3] / "docs" / "step-language.md"


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ({"clik": "a"}, "step 1: unknown action 'clik'; known are goto, reload,"),
        ({"note": "x"}, "step 1: no action; known are goto,"),
        ({"click": "a", "fill": "b", "value": "c"}, "step 1: has the actions 'click', 'fill'; one step does one thing."),
        ("click", "step 1: is 'click', not an object with an action."),
        ({"click": ""}, "step 1: 'click' is empty."),
        ({"click": "a", "valu": 3}, "step 1: unknown option 'valu' of 'click'; known are button, keys, note, position, timeout."),
        ({"goto": "http://elsewhere.example/"}, "step 1: 'goto' is 'http://elsewhere.example/'; only a path such as"),
        ({"goto": "//elsewhere.example/"}, "only a path such as"),
        ({"goto": "/\\elsewhere.example/"}, "only a path such as"),
        ({"reload": False}, "step 1: 'reload' is False; write true, or leave the step out."),
        ({"resize": [100, 800]}, "step 1: 'resize' is 100; allowed are 200 to 4000."),
        ({"resize": "wide"}, "step 1: 'resize' is 'wide', not a list of two."),
        ({"wait": 60_000}, "step 1: 'wait' is 60000; allowed are 0 to 10000."),
        ({"wait": True}, "step 1: 'wait' is True, not a whole number."),
        ({"wait_for": "a", "state": "gone"}, "step 1: 'state' is 'gone'; known are visible, hidden, attached, detached."),
        ({"click": "a", "timeout": 31}, "step 1: 'timeout' is 31; a step may take more than 0 and at most 30 seconds."),
        ({"click": {"role": "buton"}}, "step 1: 'click' 'role' is 'buton', which is no ARIA role."),
        ({"click": {"css": "a", "text": "b"}}, "step 1: 'click' names 2 ways of finding; give exactly one of css, role,"),
        ({"click": {"css": "a", "name": "b"}}, "step 1: 'click' has the unknown option 'name'; known beside 'css' are"),
        ({"click": {"css": "a", "nth": -2}}, "step 1: 'click' 'nth' is -2; allowed are -1 to 10000."),
        ({"click": {"any": []}}, "step 1: 'click' 'any' is an empty list."),
        ({"click": {"css": "a", "within": {"role": "x"}}}, "step 1: 'click' 'within' 'role' is 'x', which is no ARIA role."),
        ({"click": "a", "position": [0.5, 2]}, "step 1: 'position' is 2; a position is a share between 0 and 1."),
        ({"click": "a", "keys": ["Hyper"]}, "step 1: 'keys' is 'Hyper'; known are Shift, Control, Alt, Meta."),
        ({"fill": "a"}, "step 1: 'fill' needs 'value' beside it."),
        ({"select": "a"}, "step 1: 'select' needs one of value, label, index beside it."),
        ({"upload": "a", "files": ["../secret"]}, "step 1: 'files' entry 1 is '../secret'; name a file of the task such as"),
        ({"upload": "a", "files": ["uploads/../x"]}, "step 1: 'files' entry 1 is 'uploads/../x'; name a file"),
        ({"upload": "a", "files": ["uploads/missing.csv"]}, "step 1: the file 'uploads/missing.csv' is not among the task's uploads."),
        ({"remember": "a"}, "step 1: 'remember' needs 'as' beside it."),
        ({"remember": "a", "as": "x", "what": "colour"}, "step 1: 'what' is 'colour'; known are text, number,"),
        ({"expect_count": "a"}, "step 1: 'expect_count' needs one of is, at_least, at_most, same_as,"),
        ({"expect_count": "a", "is": -1}, "step 1: 'is' is -1; allowed are 0 to 1000000."),
        ({"expect_count": "a", "same_as": "x"}, "step 1: 'same_as' is 'x', which no earlier step of this script remembers."),
        ({"expect_number": "a", "is": float("nan")}, "step 1: 'is' is not a finite number."),
        ({"expect_text": "a", "matches": "("}, "step 1: 'matches' is not a regular expression: missing )"),
        ({"expect_text": "a", "matches": "a" * 501}, "step 1: 'matches' has 501 characters; at most 500 are allowed in a pattern."),
        ({"expect_url": "/cart"}, "step 1: 'expect_url' is '/cart', not an object with one of equals, contains,"),
        ({"expect_url": {"starts": "/"}}, "step 1: 'expect_url' has the unknown option 'starts'; known are equals,"),
        ({"expect_texts": "a", "sorted": "up"}, "step 1: 'sorted' is 'up'; known are ascending, descending."),
        ({"either": [[{"click": "a"}]]}, "step 1: 'either' is [[{'click': 'a'}]], not a list of two or more lists of steps."),
        ({"either": [[{"click": "a"}], [{"clik": "a"}]]}, "step 1, branch 2, step 1: unknown action 'clik'"),
    ],
)  # fmt: skip
def test_a_malformed_step_is_named(step: Any, problem: str):
    problems = script_problems([step], uploads={"uploads/a.csv"})

    assert len(problems) == 1
    assert problem in problems[0]
    assert problems[0].endswith(".")


@pytest.mark.parametrize("steps", [None, "goto", 3, {}, {"goto": "/"}])
def test_a_script_is_a_list(steps: Any):
    assert script_problems(steps) == [f"script: is {steps!r}, not a list of steps."]


def test_an_empty_script_is_refused_and_a_missing_one_is_not():
    problems = criterion_script_problems([], [None, [], [{"goto": "/"}]])

    assert problems == ["outcome 2: has no steps; leave it out instead."]


def test_problems_carry_their_place():
    problems = criterion_script_problems([{"clik": "a"}], [None, [{"goto": "/"}, {"fill": "a"}]])

    assert problems[0].startswith("before, step 1: unknown action 'clik'")
    assert problems[1:] == ["outcome 2, step 2: 'fill' needs 'value' beside it."]


def test_what_before_remembers_is_known_to_every_outcome_and_nothing_else_is():
    before = [{"remember": "a", "as": "start"}]
    learned = [{"remember": "a", "as": "later"}, {"expect_text": "a", "same_as": "later"}]

    assert criterion_script_problems(before, [[{"expect_text": "a", "same_as": "start"}], learned]) == []
    assert criterion_script_problems(before, [learned, [{"expect_text": "a", "same_as": "later"}]]) == [
        "outcome 2, step 1: 'same_as' is 'later', which no earlier step of this script remembers."
    ]


def test_a_criterion_takes_at_most_a_hundred_steps_before_counted_for_each_outcome():
    before = [{"wait": 0}] * 9
    allowed = [[{"wait": 0}] * 41, [{"either": [[{"wait": 0}] * 20, [{"wait": 0}] * 21]}]]

    assert criterion_script_problems(before, allowed) == []
    assert criterion_script_problems(before, [*allowed, [{"wait": 0}]]) == [
        (
            "the scripts have 110 steps together, `before` counted for each outcome; "
            "at most 100 are allowed for a criterion."
        )
    ]


def test_alternatives_nest_only_so_deep():
    steps: list[Any] = [{"wait": 0}]
    for _ in range(4):
        steps = [{"either": [steps, [{"wait": 0}]]}]

    assert any("nested more than 3 deep" in problem for problem in script_problems(steps))


def test_the_action_of_a_step_is_found_among_its_options():
    assert action_of({"note": "x", "press": "Enter", "at": "input"}) == "press"
    with pytest.raises(ValueError, match="exactly one action"):
        action_of({"note": "x"})


def test_the_reference_shows_every_action_and_its_examples_are_valid():
    text = REFERENCE.read_text(encoding="utf-8")
    examples = [
        json.loads(found.replace("AT", '"table tr"')) for found in re.findall(r"`(\{\"\w+\":[^…`]*\})`", text)
    ]
    steps: list[dict[str, Any]] = [step for step in examples if set(step) & set(ACTIONS)]
    remembered = [{"remember": "a", "as": "before"}]

    problems = {json.dumps(step): script_problems([*remembered, step]) for step in steps}

    assert {step: found for step, found in problems.items() if found} == {}
    assert set(ACTIONS) - {action_of(step) for step in steps} == set()
    for block in re.findall(r"```json\n(\[.*?\]|\{\"either.*?\})\n```", text, re.DOTALL):
        steps = json.loads(block) if block.startswith("[") else [json.loads(block)]
        assert script_problems(steps) == []


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*ACTIONS, "either", "note", "any", "css", "is"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(_json)
def test_whatever_a_pack_holds_the_answer_is_a_list_of_sentences(value: Any):
    problems = criterion_script_problems(value, [value])

    assert [problem for problem in problems if not problem.endswith(".")] == []
    assert step_count(value) >= 0
