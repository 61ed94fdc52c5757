"""Means over tasks, repeats within a task, the DAG gap, and figures by kind and by task."""

from __future__ import annotations

from math import sqrt

import pytest

from tests.benchmark.protocols.asuka.files import criterion, round_, scores, task, values

Z = 1.959964


def test_tasks_weigh_the_same_whatever_their_size():
    tasks = [task("t", criterion("a")), task("u", criterion("a", weight=5), criterion("b", weight=5))]
    found = scores(tasks, [round_("t", 1, a="P"), round_("u", 1, a="P", b="F")]).metrics["task_pass_rate"]

    # (1 + 0.5) / 2 = 0.75; s = 0.5 / sqrt 2, so the half-width is z * 0.5 / 2.
    assert found.value == 0.75
    assert found.half_width == pytest.approx(Z * 0.25)
    assert found.n == 2


def test_interval_of_one_task_is_undefined():
    found = scores([task("t", criterion("a"))], [round_("t", 1, a="P")]).metrics["task_pass_rate"]

    assert found.as_json() == {"value": 1, "half_width": None, "n": 1}


def test_equal_tasks_have_an_interval_of_exactly_zero():
    tasks = [task(key, criterion("a"), criterion("b", weight=2)) for key in "tuv"]
    found = scores(tasks, [round_(key, 1, a="P", b="F") for key in "tuv"]).metrics["task_pass_rate"]

    assert found.half_width == 0


def test_repeats_are_averaged_within_the_task_first():
    tasks = [task("t", criterion("a")), task("u", criterion("a"))]
    rounds = [
        round_("t", 1, repeat=1, a="P"),
        round_("t", 1, repeat=2, a="F"),
        round_("t", 1, repeat=3, a="F"),
        round_("u", 1, a="P"),
    ]
    found = scores(tasks, rounds)

    # t is 1/3, u is 1: the mean of two tasks, not of four trials (which would be 1/2).
    assert found.metrics["task_pass_rate"].value == pytest.approx(2 / 3)
    assert found.metrics["task_pass_rate"].n == 2
    assert found.per_task["t"]["project_completion_rate"].value == pytest.approx(1 / 3)


def test_repeat_that_has_only_errors_counts_zero_raw_and_leaves_the_judged_average():
    tasks = [task("t", criterion("a"))]
    found = scores(tasks, [round_("t", 1, repeat=1, a="P"), round_("t", 1, repeat=2, a="E")])

    assert found.metrics["task_pass_rate"].value == 0.5
    assert found.metrics["task_pass_rate_judged"].value == 1
    assert found.infrastructure_failures == 1


def test_pooled_and_counted_figures_average_repeats_too():
    tasks = [task("t", criterion("a"), criterion("b"))]
    rounds = [
        round_("t", 1, repeat=1, a="P", b="F"),
        round_("t", 2, repeat=1, a="F", b="P"),
        round_("t", 1, repeat=2, a="F", b="F"),
        round_("t", 2, repeat=2, a="P", b="F"),
    ]
    found = scores(tasks, rounds).metrics

    # Fixed 1 of 1 and 1 of 2: on average 1 of 1.5. One regression in one of two repeats.
    assert found["task_fix_rate"].value == pytest.approx(2 / 3)
    assert found["task_fix_rate"].denominator == 1.5
    assert found["regressions"].value == 0.5


def test_marks_of_every_repeat_are_shown():
    tasks = [task("t", criterion("a"))]
    found = scores(tasks, [round_("t", 1, repeat=1, a="P"), round_("t", 1, repeat=2, a="F")]).as_json()

    assert found["criteria"] == {"t": {"a": "pass"}, "t#2": {"a": "fail"}}


def test_kind_is_averaged_over_the_tasks_that_have_it():
    tasks = [
        task("t", criterion("a", kind="presence"), criterion("b", kind="robustness", weight=2)),
        task("u", criterion("a", kind="presence")),
    ]
    found = scores(tasks, [round_("t", 1, a="P", b="P"), round_("u", 1, a="F")]).metrics

    assert (found["task_pass_rate_presence"].value, found["task_pass_rate_presence"].n) == (0.5, 2)
    assert (found["task_pass_rate_robustness"].value, found["task_pass_rate_robustness"].n) == (1, 1)
    assert found["task_pass_rate_functionality"].as_json() == {
        "value": None,
        "reason": "No task has a criterion of kind functionality.",
    }


def test_kind_of_a_task_without_a_round_counts_zero():
    tasks = [task("t", criterion("a", kind="presence")), task("u", criterion("a", kind="presence"))]
    found = scores(tasks, [round_("t", 1, a="P")]).metrics["task_pass_rate_presence"]

    assert (found.value, found.n) == (0.5, 2)


def test_per_task_holds_what_is_defined_for_one_task():
    tasks = [task("t", criterion("a", kind="presence"))]
    found = scores(tasks, [round_("t", 1, a="F"), round_("t", 2, a="P")]).per_task["t"]

    assert found["task_pass_rate"].as_json() == {"value": 1, "half_width": None, "n": 1}
    assert found["task_fix_rate"].as_json() == {"value": 1, "half_width": None, "n": 1, "denominator": 1}
    assert "dag_gap" not in found
    assert "task_pass_rate_robustness" not in found


def test_no_task_at_all_leaves_every_number_undefined_with_a_reason():
    found = scores([], []).as_json()

    assert all(each["value"] is None and each["reason"] for each in found["metrics"].values())
    assert found["per_round"] == []


GAPPED = [
    task("t", criterion("a", outcomes=2), criterion("b", needs=("a",), weight=3)),
    task("u", criterion("a")),
]


def test_gap_needs_a_flat_evaluation():
    found = values(GAPPED, [round_("t", 1, a="PF", b="P"), round_("u", 1, a="P")])
    reason = scores(GAPPED, []).metrics["dag_gap"].reason

    assert (found["dag_gap"], found["dag_gap_strict"]) == (None, None)
    assert reason == "The gap needs a flat evaluation, which judges every criterion; this one skips."


def test_gap_has_the_half_width_of_the_differences_per_task():
    rounds = [round_("t", 1, a="PF", b="P"), round_("u", 1, a="P")]
    found = scores(GAPPED, rounds, mode="flat").metrics

    # At T = 0.5 a satisfies b: no gap. At T = 1 b (3 of 4) is lost in t, nothing in u:
    # differences 0.75 and 0, mean 0.375, s = 0.75 / sqrt 2.
    assert found["dag_gap"].value == 0
    assert found["dag_gap_strict"].value == 0.375
    assert found["dag_gap_strict"].half_width == pytest.approx(Z * (0.75 / sqrt(2)) / sqrt(2))


def test_skipping_is_simulated_in_each_round_on_its_own():
    rounds = [round_("t", 1, a="FF", b="P"), round_("t", 2, a="PP", b="F"), round_("u", 1, a="P")]
    found = scores(GAPPED, rounds, mode="flat").metrics

    # Flat, cumulative: a in round 2, b in round 1, so t = 1. With skipping b is lost in round 1: t = 1/4.
    assert found["task_pass_rate"].value == 1
    assert found["dag_gap"].value == pytest.approx(0.75 / 2)


def test_gap_counts_a_task_without_a_round_as_no_difference():
    found = scores(GAPPED, [round_("t", 1, a="FF", b="P")], mode="flat").metrics["dag_gap"]

    assert (found.value, found.n) == (0.375, 2)
