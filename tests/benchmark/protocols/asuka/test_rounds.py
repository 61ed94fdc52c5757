"""Rounds: cumulative and state figures, regressions, fix rates, rounds carried forward."""

from __future__ import annotations

import pytest

from benchmark.rules.vocabulary import Mark
from tests.benchmark.protocols.asuka.files import criterion, round_, scores, task, values

PAIR = [task("t", criterion("a", outcomes=2), criterion("b", weight=3))]


def by_round(tasks, rounds, name, **settings):
    return [at.metrics[name].value for at in scores(tasks, rounds, **settings).per_round]


def test_criterion_that_passed_once_stays_passed_in_the_cumulative_figure_alone():
    rounds = [round_("t", 1, a="PP", b="F"), round_("t", 2, a="PF", b="P")]

    # Weights 1 and 3: round 1 has a, round 2 has b now, and both in all.
    assert by_round(PAIR, rounds, "task_pass_rate") == [0.25, 1]
    assert by_round(PAIR, rounds, "task_pass_rate_state") == [0.25, 0.75]


def test_task_that_never_passed_whole_in_one_round_is_complete_in_the_cumulative_figure():
    found = values(PAIR, [round_("t", 1, a="PP", b="F"), round_("t", 2, a="PF", b="P")])

    assert found["project_completion_rate"] == 1
    assert found["project_completion_rate_state"] == 0


def test_outcomes_are_a_union_but_a_criterion_needs_all_of_them_in_one_round():
    found = values(PAIR, [round_("t", 1, a="PF", b="F"), round_("t", 2, a="FP", b="F")])

    # Both outcomes of a passed, never together: weight 1 of 4 in outcomes, 0 in criteria.
    assert found["criteria_pass_rate"] == 0.25
    assert found["task_pass_rate"] == 0
    assert found["criteria_pass_rate_state"] == 0.125


def test_implemented_rate_is_cumulative_and_has_a_state():
    tasks = [task("t", criterion("a"), criterion("b", weight=3, needs=("a",)))]
    rounds = [round_("t", 1, a="P", b="F"), round_("t", 2, a="F")]

    assert by_round(tasks, rounds, "implemented_rate") == [1, 1]
    assert by_round(tasks, rounds, "implemented_rate_state") == [1, 0.25]


def test_prerequisites_are_judged_within_the_same_round():
    tasks = [task("t", criterion("a"), criterion("b", needs=("a",)))]
    found = scores(tasks, [round_("t", 1, a="P", b="F"), round_("t", 2, a="F", b="P")])

    # a passed in round 1, but what counts for b in round 2 is that a fails now.
    assert found.criteria["t"]["b"] is Mark.SKIPPED
    assert found.metrics["task_pass_rate"].value == 0.5


def test_regression_is_a_criterion_that_passed_in_any_earlier_round_and_fails_now():
    rounds = [round_("t", 1, a="PP", b="P"), round_("t", 2, a="EE", b="F"), round_("t", 3, a="PF", b="F")]

    # Round 2: b. Round 3: a (passed in round 1, error in between) and b again.
    assert by_round(PAIR, rounds, "regressions") == [0, 1, 2]


def test_error_after_a_pass_is_no_regression_of_any_sort():
    found = values(PAIR, [round_("t", 1, a="PP", b="P"), round_("t", 2, a="EE", b="E")])

    assert (found["regressions"], found["regressions_unreached"]) == (0, 0)


def test_skip_after_a_pass_is_an_unreached_regression():
    tasks = [task("t", criterion("a"), criterion("b", needs=("a",)))]
    found = values(tasks, [round_("t", 1, a="P", b="P"), round_("t", 2, a="F")])

    assert (found["regressions"], found["regressions_unreached"]) == (1, 1)


def test_counts_are_sums_over_tasks_without_an_interval():
    tasks = [task("t", criterion("a")), task("u", criterion("a"))]
    rounds = [round_(key, number, a=letter) for key in "tu" for number, letter in ((1, "P"), (2, "F"))]

    assert scores(tasks, rounds).metrics["regressions"].as_json() == {"value": 2, "half_width": None, "n": 2}


def test_fix_rate_is_what_failed_before_and_passes_now():
    tasks = [task("t", criterion("a"), criterion("b"), criterion("c"), criterion("d"))]
    rounds = [round_("t", 1, a="F", b="F", c="P", d="E"), round_("t", 2, a="P", b="F", c="F", d="P")]
    found = scores(tasks, rounds).metrics["task_fix_rate"]

    # Failed before: a and b (d was error). Of these a passes now.
    assert (found.value, found.denominator, found.n) == (0.5, 2, 1)


def test_first_round_has_no_fix_rate():
    found = scores(PAIR, [round_("t", 1, a="FF", b="F"), round_("t", 2, a="PP", b="F")])

    first = found.per_round[0].metrics["task_fix_rate"]
    assert first.value is None
    assert first.reason == "There is no earlier round in which something could have failed."


def test_each_round_has_its_own_fix_rate_and_the_last_one_is_the_run_s():
    rounds = [round_("t", 1, a="FF", b="F"), round_("t", 2, a="PP", b="F"), round_("t", 3, a="PP", b="F")]
    found = scores(PAIR, rounds)

    assert by_round(PAIR, rounds, "task_fix_rate") == [None, 0.5, 0]
    assert found.metrics["task_fix_rate"].value == 0


def test_error_and_skip_after_a_failure_stay_in_the_denominator_as_not_fixed():
    tasks = [task("t", criterion("a"), criterion("b"), criterion("c", needs=("b",)), criterion("d"))]
    rounds = [round_("t", 1, a="F", b="P", c="F", d="F"), round_("t", 2, a="E", b="F", c="P", d="P")]
    found = scores(tasks, rounds).metrics["task_fix_rate"]

    # Failed before: a (error now), c (skipped now) and d (passes).
    assert found.value == pytest.approx(1 / 3)
    assert found.denominator == 3


def test_outcome_is_fixed_when_it_passes_itself_or_its_criterion_passes():
    tasks = [task("t", criterion("a", outcomes=3), criterion("b", outcomes=2))]
    rounds = [round_("t", 1, a="FFP", b="FF"), round_("t", 2, a="PFF", b="PP")]
    found = scores(tasks, rounds).metrics["criteria_fix_rate"]

    # Failed before: two of a, two of b. Fixed: the first of a, both of b.
    assert (found.value, found.denominator) == (0.75, 4)


def test_errored_outcome_did_not_fail_so_it_cannot_be_fixed():
    tasks = [task("t", criterion("a", outcomes=3))]
    found = scores(tasks, [round_("t", 1, a="FEP"), round_("t", 2, a="PPP")]).metrics["criteria_fix_rate"]

    assert (found.value, found.denominator) == (1, 1)


def test_outcome_that_passes_inside_an_errored_criterion_is_not_fixed():
    tasks = [task("t", criterion("a", outcomes=2))]
    found = scores(tasks, [round_("t", 1, a="FF"), round_("t", 2, a="PE")]).metrics["criteria_fix_rate"]

    assert (found.value, found.denominator) == (0, 2)


def test_fix_rates_are_pooled_over_tasks_with_their_own_standard_error():
    tasks = [task("t", criterion("a"), criterion("b"), criterion("c")), task("u", criterion("a"))]
    rounds = [
        round_("t", 1, a="F", b="F", c="F"),
        round_("t", 2, a="P", b="P", c="F"),
        round_("u", 1, a="F"),
        round_("u", 2, a="F"),
    ]
    found = scores(tasks, rounds).metrics["task_fix_rate"]

    # R = (2 + 0) / (3 + 1) = 0.5. Residuals 2 - 1.5 and 0 - 0.5, squares 0.25 + 0.25 = 0.5.
    # SE^2 = 2/1 * 0.5 / 4^2 = 1/16, so the half-width is 1.959964 / 4.
    assert found.value == 0.5
    assert found.half_width == pytest.approx(1.959964 / 4)
    assert (found.n, found.denominator) == (2, 4)


def test_task_with_nothing_to_fix_still_counts_in_n_of_a_fix_rate():
    tasks = [task("t", criterion("a")), task("u", criterion("a"))]
    rounds = [round_("t", 1, a="F"), round_("t", 2, a="P"), round_("u", 1, a="P")]
    found = scores(tasks, rounds).metrics["task_fix_rate"]

    assert (found.value, found.n, found.denominator) == (1, 2, 1)


def test_fix_rate_of_a_round_after_which_nothing_failed_is_undefined():
    found = scores(PAIR, [round_("t", 1, a="PP", b="P"), round_("t", 2, a="PP", b="P")])

    assert found.metrics["task_fix_rate"].as_json() == {
        "value": None,
        "reason": "Nothing that was executed failed in the round before.",
    }


def test_task_that_stopped_carries_its_last_round_forward():
    tasks = [task("t", criterion("a")), task("u", criterion("a"))]
    rounds = [round_("t", 1, a="P"), round_("u", 1, a="F"), round_("u", 2, a="F"), round_("u", 3, a="P")]

    assert by_round(tasks, rounds, "task_pass_rate_state") == [0.5, 0.5, 1]
    assert by_round(tasks, rounds, "project_completion_rate") == [0.5, 0.5, 1]
    assert scores(tasks, rounds).criteria["t"] == {"a": Mark.PASS}


def test_carried_round_counts_in_fix_rates():
    tasks = [task("t", criterion("a")), task("u", criterion("a"))]
    rounds = [round_("t", 1, a="F"), round_("u", 1, a="F"), round_("u", 2, a="P")]
    found = scores(tasks, rounds).metrics["task_fix_rate"]

    # t ended with a failure and is carried: failed in both, not fixed, in the denominator.
    assert (found.value, found.denominator) == (0.5, 2)


def test_carried_round_counts_in_regressions_errors_and_skips():
    tasks = [
        task("t", criterion("a"), criterion("b", needs=("a",)), criterion("c")),
        task("u", criterion("a")),
    ]
    rounds = [
        round_("t", 1, a="P", b="P", c="P"),
        round_("t", 2, a="F", c="E"),
        round_("u", 1, a="F"),
        round_("u", 2, a="F"),
        round_("u", 3, a="F"),
    ]
    found = scores(tasks, rounds)

    assert found.metrics["regressions"].value == 1
    assert found.metrics["regressions_unreached"].value == 1
    assert (found.errors, found.skipped) == (1, 1)


def test_last_round_is_the_last_that_any_task_has():
    found = scores(PAIR, [round_("t", 1, a="PP", b="F")], max_rounds=3)

    assert [at.round for at in found.per_round] == [1]
