"""Errors and skips: what spreads, what counts, and what a judged figure leaves out."""

from __future__ import annotations

import pytest

from benchmark.rules.vocabulary import Mark
from tests.benchmark.protocols.asuka.files import criterion, round_, scores, task, values

ONE = [task("t", criterion("a", outcomes=3), criterion("b"))]
CHAIN = [task("t", criterion("a", outcomes=2), criterion("b", needs=("a",)), criterion("c", needs=("b",)))]


def marks_of(tasks, rounds, **settings):
    return {key: mark.value for key, mark in scores(tasks, rounds, **settings).criteria["t"].items()}


def test_error_beside_a_failed_outcome_is_fail():
    assert marks_of(ONE, [round_("t", 1, a="PEF", b="P")])["a"] == "fail"


def test_error_beside_passed_outcomes_is_error():
    assert marks_of(ONE, [round_("t", 1, a="PPE", b="P")])["a"] == "error"


def test_criterion_that_is_absent_is_error():
    found = scores(ONE, [round_("t", 1, b="P")])

    assert found.criteria["t"]["a"] is Mark.ERROR
    assert found.errors == 1


def test_errored_outcome_counts_as_not_passed_in_the_ratio_of_a_failed_criterion():
    # a is fail with 1 of 3 outcomes passed, b passes: (1/3 + 1) / 2.
    found = values(ONE, [round_("t", 1, a="PEF", b="P")])

    assert found["criteria_pass_rate"] == pytest.approx((1 / 3 + 1) / 2)


def test_errored_outcome_counts_as_not_passed_for_reachability():
    tasks = [task("t", criterion("a", outcomes=4), criterion("b", needs=("a",)))]

    # 2 of 4 satisfies T = 0.5; 1 of 4 does not, although 1 of the 2 that were judged passed.
    assert marks_of(tasks, [round_("t", 1, a="PPFE", b="P")])["b"] == "pass"
    assert marks_of(tasks, [round_("t", 1, a="PFEE", b="P")])["b"] == "skipped"


def test_passed_outcome_inside_an_errored_criterion_enters_no_raw_figure():
    found = values(ONE, [round_("t", 1, a="PPE", b="F")])

    assert found["task_pass_rate"] == 0
    assert found["criteria_pass_rate"] == 0
    assert found["criteria_pass_rate_state"] == 0
    # b alone was executed: 1 of weight 2.
    assert found["implemented_rate"] == 0.5


def test_errored_criterion_stays_in_the_raw_denominator():
    found = values(ONE, [round_("t", 1, a="EEE", b="P")])

    assert found["task_pass_rate"] == 0.5
    assert found["implemented_rate"] == 0.5
    assert found["project_completion_rate"] == 0


def test_child_of_an_errored_parent_is_error_and_so_are_its_children():
    assert marks_of(CHAIN, [round_("t", 1, a="PE", b="P", c="P")]) == {
        "a": "error",
        "b": "error",
        "c": "error",
    }


def test_errored_parent_stops_its_children_even_where_its_ratio_reaches_the_threshold():
    tasks = [task("t", criterion("a", outcomes=3), criterion("b", needs=("a",)))]

    # 2 of 3 passed, but a was not executed, and satisfied means executed.
    assert marks_of(tasks, [round_("t", 1, a="PPE", b="P")]) == {"a": "error", "b": "error"}


def test_unsatisfied_parent_comes_before_an_errored_one():
    tasks = [task("t", criterion("a"), criterion("b"), criterion("c", needs=("a", "b")))]

    assert marks_of(tasks, [round_("t", 1, a="E", b="F", c="P")])["c"] == "skipped"
    assert marks_of(tasks, [round_("t", 1, a="E", b="P", c="P")])["c"] == "error"


def test_child_of_a_skipped_parent_and_an_errored_one_is_skipped():
    tasks = [
        task(
            "t",
            criterion("a"),
            criterion("b", needs=("a",)),
            criterion("c"),
            criterion("d", needs=("b", "c")),
        )
    ]

    assert marks_of(tasks, [round_("t", 1, a="F", b="P", c="E", d="P")])["d"] == "skipped"


def test_skipping_reaches_through_a_chain_and_ignores_the_marks_given():
    assert marks_of(CHAIN, [round_("t", 1, a="FF", b="P", c="P")]) == {
        "a": "fail",
        "b": "skipped",
        "c": "skipped",
    }


def test_flat_mode_neither_skips_nor_spreads_errors():
    assert marks_of(CHAIN, [round_("t", 1, a="EE", b="F", c="P")], mode="flat") == {
        "a": "error",
        "b": "fail",
        "c": "pass",
    }


def test_supplied_skip_below_an_errored_parent_becomes_error():
    assert marks_of(CHAIN, [round_("t", 1, a="EE", b="S", c="S")]) == {
        "a": "error",
        "b": "error",
        "c": "error",
    }


def test_supplied_skip_below_an_unsatisfied_parent_stays_a_skip():
    found = scores(CHAIN, [round_("t", 1, a="FF", b="S", c="S")])

    assert (found.skipped, found.errors) == (2, 0)


def test_at_threshold_zero_only_skips_and_errors_stop_anything():
    assert marks_of(CHAIN, [round_("t", 1, a="FF", b="F", c="P")], threshold=0)["c"] == "pass"


def test_judged_figures_leave_out_criteria_that_were_error_in_every_round():
    found = values(ONE, [round_("t", 1, a="EEE", b="P"), round_("t", 2, a="PEE", b="P")])

    assert found["task_pass_rate"] == 0.5
    assert found["task_pass_rate_judged"] == 1
    assert found["criteria_pass_rate_judged"] == 1
    assert found["implemented_rate_judged"] == 1
    assert found["project_completion_rate"] == 0
    assert found["project_completion_rate_judged"] == 1


def test_criterion_judged_in_one_round_stays_in_the_judged_figures():
    rounds = [round_("t", 1, a="EEE", b="P"), round_("t", 2, a="FFF", b="P"), round_("t", 3, a="EEE", b="P")]
    by_round = [at.metrics["task_pass_rate_judged"].value for at in scores(ONE, rounds).per_round]

    assert by_round == [1, 0.5, 0.5]


def test_skipped_criterion_stays_in_the_judged_figures():
    found = values(CHAIN, [round_("t", 1, a="FF", b="P", c="P")])

    assert found["task_pass_rate_judged"] == 0
    assert found["implemented_rate_judged"] == pytest.approx(1 / 3)


def test_task_that_has_only_errors_leaves_the_judged_mean_with_n_shown():
    tasks = [task("t", criterion("a")), task("u", criterion("a"))]
    found = scores(tasks, [round_("t", 1, a="P"), round_("u", 1, a="E")])

    raw, judged = found.metrics["task_pass_rate"], found.metrics["task_pass_rate_judged"]
    assert (raw.value, raw.n) == (0.5, 2)
    assert (judged.value, judged.n, judged.half_width) == (1, 1, None)


def test_judged_figures_without_any_judged_task_are_undefined_with_a_reason():
    found = scores(ONE, [round_("t", 1, a="EEE", b="E")])

    judged = found.metrics["project_completion_rate_judged"]
    assert judged.as_json() == {
        "value": None,
        "reason": "Every criterion of every task is error in all rounds.",
    }


def test_rounds_without_a_judged_mark_count_zero_and_as_an_infrastructure_failure():
    found = scores(ONE, [round_("t", 1, a="EEE", b="E")])

    assert found.metrics["task_pass_rate"].value == 0
    assert found.infrastructure_failures == 1
    assert found.errors == 2


def test_task_without_a_round_counts_zero_and_its_criteria_count_nowhere():
    tasks = [task("t", criterion("a")), task("u", criterion("a"), criterion("b"))]
    found = scores(tasks, [round_("t", 1, a="P")])

    assert found.metrics["task_pass_rate"].value == 0.5
    assert found.metrics["task_pass_rate"].n == 2
    assert found.metrics["task_pass_rate_judged"].n == 1
    assert found.infrastructure_failures == 1
    assert (found.errors, found.skipped) == (0, 0)
    assert found.criteria["u"] == {}


def test_file_without_rounds_is_all_zero_and_all_infrastructure_failure():
    found = scores(ONE, [])

    assert found.metrics["task_pass_rate"].value == 0
    assert found.metrics["implemented_rate_state"].value == 0
    assert found.infrastructure_failures == 1
    assert found.per_round == ()


def test_mark_given_below_an_errored_parent_is_no_judged_mark():
    found = scores(CHAIN, [round_("t", 1, a="EE", b="P", c="P")])

    assert found.infrastructure_failures == 1


def test_outcome_judged_inside_an_errored_criterion_is_a_judged_mark():
    found = scores(ONE, [round_("t", 1, a="PEE", b="E")])

    assert found.infrastructure_failures == 0
    assert found.metrics["criteria_pass_rate"].value == 0
