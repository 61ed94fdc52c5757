"""Marks files that cannot be scored: one sentence that names the value and the way out."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from benchmark.protocols.scorefile import score_document
from benchmark.rules.marksfile import BadMarks
from benchmark.rules.vocabulary import Mark

# The example of the format, word for word.
GOOD: dict[str, Any] = {
    "protocol": "asuka",
    "settings": {"threshold": 0.5, "mode": "dag"},
    "tasks": [
        {
            "key": "t1",
            "criteria": [
                {"key": "c0", "kind": "presence", "weight": 2, "needs": [], "outcomes": 4},
                {"key": "c1", "kind": "functionality", "weight": 3, "needs": ["c0"], "outcomes": 1},
            ],
        }
    ],
    "rounds": [{"task": "t1", "round": 1, "marks": {"c0": ["pass", "pass", "fail", "pass"], "c1": "pass"}}],
}


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """Return the good document with one value replaced."""
    document = deepcopy(GOOD)
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return document


def sentence_about(document: object, **overrides: Any) -> str:
    with pytest.raises(BadMarks) as refused:
        score_document(document, protocol="asuka", overrides=overrides)
    sentence = str(refused.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def test_the_example_of_the_format_is_scored():
    found = score_document(GOOD, protocol="asuka").as_json()

    # c0 passes 3 of 4 (>= 0.5), so c1 is reached: 3/5 in criteria, (2 * 3/4 + 3) / 5 in outcomes.
    assert found["metrics"]["task_pass_rate"] == {"value": 0.6, "half_width": None, "n": 1}
    assert found["metrics"]["criteria_pass_rate"]["value"] == pytest.approx(0.9)
    assert found["criteria"] == {"t1": {"c0": "fail", "c1": "pass"}}
    assert set(found) == {
        "metrics",
        "per_task",
        "per_round",
        "criteria",
        "errors",
        "skipped",
        "infrastructure_failures",
        "audit_failed",
    }
    assert found["per_round"][0]["round"] == 1
    assert found["per_round"][0]["task_pass_rate"]["value"] == 0.6


def test_threshold_and_mode_can_be_overridden():
    strict = score_document(GOOD, protocol="asuka", overrides={"threshold": "1"})
    flat = score_document(GOOD, protocol="asuka", overrides={"threshold": 1, "mode": "flat"})

    assert strict.criteria["t1"]["c1"] is Mark.SKIPPED
    assert flat.criteria["t1"]["c1"] is Mark.PASS


def test_settings_weight_needs_and_repeat_have_defaults():
    document = deepcopy(GOOD)
    del document["settings"]
    for name in ("weight", "needs"):
        del document["tasks"][0]["criteria"][0][name]

    # Weights 1 and 3, of which c1 passes.
    assert score_document(document, protocol="asuka").metrics["task_pass_rate"].value == 0.75


def test_the_protocol_must_be_the_file_s():
    assert sentence_about(changed("protocol", to="evoweb")) == (
        "The marks file is of the protocol 'evoweb', not 'asuka'; name the file's protocol."
    )


def test_an_unknown_protocol_names_the_known_ones():
    with pytest.raises(LookupError, match=r"Unknown protocol 'azuka'; known are: .*asuka"):
        score_document(GOOD, protocol="azuka")


@pytest.mark.parametrize("document", [[], "asuka", 3, None])
def test_a_file_that_is_no_object_is_refused(document):
    assert "no JSON object" in sentence_about(document)


@pytest.mark.parametrize("name", ["tasks", "rounds"])
def test_a_file_without_tasks_or_rounds_is_refused(name):
    document = deepcopy(GOOD)
    del document[name]

    assert sentence_about(document) == f"The marks file has no `{name}`; give it a list."


BAD: list[tuple[tuple[Any, ...], str]] = [
    (("settings", "threshold", 1.5), "Setting 'threshold' is 1.5; it takes a number from 0 to 1."),
    (("settings", "threshold", float("nan")), "Setting 'threshold' is nan; it takes a number from 0 to 1."),
    (("settings", "threshold", "half"), "Setting 'threshold' is 'half'; it takes a number from 0 to 1."),
    (("settings", "threshold", True), "Setting 'threshold' is True; it takes a number from 0 to 1."),
    (("settings", "mode", "tree"), "Setting 'mode' is 'tree'; it takes 'dag' or 'flat'."),
    (("settings", "tau", 1), "Asuka has no setting 'tau'; it has threshold, mode, max_rounds, request."),
    (("settings", []), "`settings` is []; it must be an object."),
    (("tasks", {}), "The marks file: `tasks` is an object; it must be a list."),
    (("tasks", 0, "t1"), "Task number 1 is a text; it must be an object."),
    (("tasks", 0, "key", 7), "Task number 1 has the key 7; a key is a text that is not empty."),
    (("tasks", 0, "criteria", []), "Task 't1' has no criteria; declare at least one."),
    (
        ("tasks", 0, "criteria", 0, "key", ""),
        ("Criterion number 1 of task 't1' has the key ''; a key is a text that is not empty."),
    ),
    (
        ("tasks", 0, "criteria", 0, "kind", "Presence"),
        (
            "Criterion 'c0' of task 't1' has the kind 'Presence'; "
            "kinds are 'presence', 'functionality', 'robustness'."
        ),
    ),
    (
        ("tasks", 0, "criteria", 0, "weight", 6),
        ("Criterion 'c0' of task 't1': `weight` is 6; it must be a whole number from 1 to 5."),
    ),
    (
        ("tasks", 0, "criteria", 0, "weight", 0),
        ("Criterion 'c0' of task 't1': `weight` is 0; it must be a whole number from 1 to 5."),
    ),
    (
        ("tasks", 0, "criteria", 0, "weight", 1.5),
        ("Criterion 'c0' of task 't1': `weight` is 1.5; it must be a whole number from 1 to 5."),
    ),
    (
        ("tasks", 0, "criteria", 0, "outcomes", 0),
        ("Criterion 'c0' of task 't1': `outcomes` is 0; it must be a whole number from 1 to 10000."),
    ),
    (
        ("tasks", 0, "criteria", 0, "outcomes", True),
        ("Criterion 'c0' of task 't1': `outcomes` is True; it must be a whole number from 1 to 10000."),
    ),
    (
        ("tasks", 0, "criteria", 1, "needs", "c0"),
        ("Criterion 'c1' of task 't1': `needs` is a text; it must be a list."),
    ),
    (
        ("tasks", 0, "criteria", 1, "needs", [0]),
        ("Criterion 'c1' of task 't1' needs 0; prerequisites are keys of criteria, as texts."),
    ),
    (
        ("tasks", 0, "criteria", 1, "needs", ["c9"]),
        (
            "In task 't1': Criterion 'c1' needs 'c9', which is no criterion of its task; "
            "name one that is, or remove it."
        ),
    ),
    (
        ("tasks", 0, "criteria", 1, "needs", ["c1"]),
        ("In task 't1': Criterion 'c1' needs itself; remove it from its prerequisites."),
    ),
    (
        ("tasks", 0, "criteria", 0, "needs", ["c1"]),
        ("In task 't1': The prerequisites form a cycle: 'c0' needs 'c1' needs 'c0'; remove one of them."),
    ),
    (
        ("tasks", 0, "criteria", 1, "key", "c0"),
        ("In task 't1': The key 'c0' names more than one criterion; give each its own."),
    ),
    (("rounds", 0, []), "Round entry number 1 is a list; it must be an object."),
    (("rounds", 0, "task", "t2"), "Round entry number 1 is of the unknown task 't2'; declared are: 't1'."),
    (
        ("rounds", 0, "task", ["t1"]),
        ("Round entry number 1 is of the unknown task ['t1']; declared are: 't1'."),
    ),
    (
        ("rounds", 0, "round", 0),
        ("Round entry number 1 (task 't1'): `round` is 0; it must be a whole number from 1 on."),
    ),
    (
        ("rounds", 0, "round", "1"),
        ("Round entry number 1 (task 't1'): `round` is '1'; it must be a whole number from 1 on."),
    ),
    (("rounds", 0, "round", 2), "Task 't1' has round 2 but no round 1; rounds go 1, 2, 3 without a hole."),
    (
        ("rounds", 0, "repeat", 0),
        ("Round entry number 1 (task 't1'): `repeat` is 0; it must be a whole number from 1 on."),
    ),
    (("rounds", 0, "marks", None), "Round 1 of task 't1': `marks` is missing; it must be an object."),
    (
        ("rounds", 0, "marks", "c7", "pass"),
        ("Round 1 of task 't1' marks the unknown criterion 'c7'; declare it or remove it."),
    ),
    (
        ("rounds", 0, "marks", "c1", "YES"),
        (
            "Round 1 of task 't1', criterion 'c1': the mark 'YES' is not taken here; "
            "marks are 'pass', 'fail', 'skipped', 'error'."
        ),
    ),
    (
        ("rounds", 0, "marks", "c1", 1),
        (
            "Round 1 of task 't1', criterion 'c1': the mark 1 is not taken here; "
            "marks are 'pass', 'fail', 'skipped', 'error'."
        ),
    ),
    (
        ("rounds", 0, "marks", "c1", ["partial"]),
        (
            "Round 1 of task 't1', criterion 'c1': the mark 'partial' is not taken here; "
            "marks are 'pass', 'fail', 'error'."
        ),
    ),
    (
        ("rounds", 0, "marks", "c1", "partial"),
        (
            "Round 1 of task 't1', criterion 'c1': the mark 'partial' is not taken here; "
            "marks are 'pass', 'fail', 'skipped', 'error'."
        ),
    ),
    (
        ("rounds", 0, "marks", "c0", ["pass"]),
        ("Round 1 of task 't1', criterion 'c0': marks in the list: 1, outcomes: 4; give one for each."),
    ),
    (
        ("rounds", 0, "marks", "c1", []),
        ("Round 1 of task 't1', criterion 'c1': marks in the list: 0, outcomes: 1; give one for each."),
    ),
    (
        ("rounds", 0, "marks", "c1", ["skipped"]),
        (
            "Round 1 of task 't1', criterion 'c1': a criterion is skipped as a whole; "
            'write "skipped" in place of the list.'
        ),
    ),
    (
        ("rounds", 0, "marks", "c1", "skipped"),
        (
            "Round 1 of task 't1' marks 'c1' as skipped, but its prerequisites are all satisfied "
            "at threshold 0.5; give its marks, or error."
        ),
    ),
    (
        ("rounds", 0, "marks", "c0", "skipped"),
        (
            "Round 1 of task 't1' marks 'c0' as skipped, but its prerequisites are all satisfied "
            "at threshold 0.5; give its marks, or error."
        ),
    ),
]


@pytest.mark.parametrize(("change", "sentence"), BAD, ids=[repr(change) for change, _ in BAD])
def test_a_bad_value_is_named_with_the_way_out(change, sentence):
    *path, value = change

    assert sentence_about(changed(*path, to=value)) == sentence


def test_a_skip_is_legitimate_exactly_where_the_threshold_says_so():
    document = changed("rounds", 0, "marks", "c1", to="skipped")

    assert score_document(document, protocol="asuka", overrides={"threshold": 1}).skipped == 1
    assert "satisfied at threshold 0.75" in sentence_about(document, threshold=0.75)


def test_skipped_in_flat_mode_is_bad_input():
    document = changed("rounds", 0, "marks", "c1", to="skipped")

    assert sentence_about(document, mode="flat") == (
        "Round 1 of task 't1' marks 'c1' as skipped; only mode 'dag' skips criteria."
    )


def test_a_hole_in_the_rounds_of_one_repeat_is_bad_input():
    document = deepcopy(GOOD)
    document["rounds"] += [GOOD["rounds"][0] | {"repeat": 2, "round": number} for number in (1, 3)]

    assert sentence_about(document) == (
        "Task 't1' (repeat 2) has round 3 but no round 2; rounds go 1, 2, 3 without a hole."
    )


def test_a_round_given_twice_is_bad_input():
    document = changed("rounds", to=[GOOD["rounds"][0]] * 2)

    assert sentence_about(document) == "Round 1 of task 't1' is given twice; keep one."


def test_a_task_declared_twice_is_bad_input():
    document = changed("tasks", to=[GOOD["tasks"][0]] * 2)

    assert sentence_about(document) == "The task 't1' is declared twice; give each task its own key."


def test_a_criterion_without_its_number_of_outcomes_is_bad_input():
    document = deepcopy(GOOD)
    del document["tasks"][0]["criteria"][0]["outcomes"]

    assert "`outcomes` is None; it must be a whole number" in sentence_about(document)


def test_the_document_is_left_as_it_was():
    document = deepcopy(GOOD)

    score_document(document, protocol="asuka", overrides={"mode": "flat"})

    assert document == GOOD
