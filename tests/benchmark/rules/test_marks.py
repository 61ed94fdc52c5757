"""Marks: credit, the mark of a criterion, and who is reached while judging goes on."""

from __future__ import annotations

import pytest

from benchmark.rules.marks import (
    Reach,
    criterion_mark,
    criterion_state,
    effective_states,
    is_satisfied,
    passed_share,
    reachability,
)
from benchmark.rules.records import CriterionSpec, OutcomeSpec
from benchmark.rules.vocabulary import Mark, Mode

P, H, F, S, E = Mark.PASS, Mark.PARTIAL, Mark.FAIL, Mark.SKIPPED, Mark.ERROR


def spec(key: str, *needs: str, outcomes: int = 1) -> CriterionSpec:
    return CriterionSpec(key=key, kind="presence", needs=needs, outcomes=(OutcomeSpec(text=""),) * outcomes)


def test_credit_is_a_number_for_what_was_judged_and_none_for_the_rest():
    assert [mark.credit for mark in (P, H, F, S, E)] == [1, 0.5, 0, None, None]
    assert [mark.is_judged for mark in (P, H, F, S, E)] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("outcomes", "mark"),
    [
        ((P, P), P),
        ((P, F), F),
        ((P, H), H),
        ((H, F), F),
        ((H,), H),
        ((S, S), S),
        ((E, E), E),
        ((P, E), E),
        ((F, E), F),
        ((H, E), F),
        ((P, F, E), F),
    ],
)
def test_criterion_has_the_worst_mark_of_its_outcomes_and_error_only_if_none_failed(outcomes, mark):
    assert criterion_mark(outcomes) is mark


def test_criterion_is_skipped_as_a_whole():
    with pytest.raises(ValueError, match="skipped as a whole"):
        criterion_mark((S, P))


def test_criterion_without_outcomes_has_no_mark():
    with pytest.raises(ValueError, match="without outcomes"):
        criterion_mark(())


def test_ratio_is_over_all_outcomes():
    # 2 passed of 4; the errored one counts as not passed.
    assert passed_share((P, P, F, E)) == 0.5


def test_ratio_that_equals_the_threshold_satisfies_it():
    assert is_satisfied(criterion_state((P, F)), threshold=0.5)
    assert not is_satisfied(criterion_state((P, F)), threshold=0.51)
    assert is_satisfied(criterion_state((P, P, F)), threshold=2 / 3)
    assert is_satisfied(criterion_state((P, P)), threshold=1)


def test_errored_and_skipped_criteria_satisfy_nothing():
    assert not is_satisfied(criterion_state((P, P, E)), threshold=0)
    assert not is_satisfied(criterion_state((S,)), threshold=0)


def test_outcomes_of_an_errored_criterion_neither_passed_nor_failed():
    state = criterion_state((P, E))

    assert (state.passed, state.failed, state.is_executed) == (frozenset(), frozenset(), False)


def test_outcomes_of_a_failed_criterion_passed_or_failed_one_by_one():
    state = criterion_state((P, F, E))

    assert state.is_executed
    assert state.passed == {0}
    assert state.failed == {1}


def test_what_is_not_judged_yet_keeps_its_dependants_undecided():
    found = reachability([spec("a"), spec("b", "a"), spec("c")], {}, threshold=0.5, mode=Mode.DAG)

    assert found == {"a": Reach.REACHED, "b": Reach.UNDECIDED, "c": Reach.REACHED}


def test_unsatisfied_prerequisite_decides_before_the_others_are_judged():
    criteria = [spec("a"), spec("b"), spec("c", "a", "b"), spec("d", "c")]
    found = reachability(criteria, {"a": (F,)}, threshold=0.5, mode=Mode.DAG)

    assert found["c"] is Reach.BEHIND_UNSATISFIED
    assert found["d"] is Reach.BEHIND_UNSATISFIED


def test_errored_prerequisite_waits_for_the_others_to_be_judged():
    criteria = [spec("a"), spec("b"), spec("c", "a", "b")]

    def reach_of_c(**marks):
        return reachability(criteria, marks, threshold=0.5, mode=Mode.DAG)["c"]

    assert reach_of_c(a=(E,)) is Reach.UNDECIDED
    assert reach_of_c(a=(E,), b=(P,)) is Reach.BEHIND_ERROR
    assert reach_of_c(a=(E,), b=(F,)) is Reach.BEHIND_UNSATISFIED


def test_satisfied_prerequisites_open_the_way_whether_they_passed_or_not():
    criteria = [spec("a", outcomes=2), spec("b", "a")]

    assert reachability(criteria, {"a": (P, F)}, threshold=0.5, mode=Mode.DAG)["b"] is Reach.REACHED


def test_flat_mode_reaches_everything_at_once():
    found = reachability([spec("a"), spec("b", "a")], {"a": (F,)}, threshold=0.5, mode=Mode.FLAT)

    assert found == {"a": Reach.REACHED, "b": Reach.REACHED}


def test_skip_that_was_saved_is_judged_again_once_the_way_is_open():
    criteria = [spec("a"), spec("b", "a"), spec("c", "b")]
    found = reachability(criteria, {"a": (P,), "b": (S,)}, threshold=0.5, mode=Mode.DAG)

    assert found == {"a": Reach.REACHED, "b": Reach.REACHED, "c": Reach.UNDECIDED}


def test_criterion_with_a_mark_missing_is_not_judged_yet():
    criteria = [spec("a", outcomes=2), spec("b", "a")]

    assert reachability(criteria, {"a": (P,)}, threshold=0.5, mode=Mode.DAG)["b"] is Reach.UNDECIDED
    assert effective_states(criteria, {"a": (P,)}, threshold=0.5, mode=Mode.DAG)["a"].mark is E


def test_more_marks_than_outcomes_are_refused():
    with pytest.raises(ValueError, match="'a' has 1 outcomes, but 2 marks"):
        effective_states([spec("a")], {"a": (P, P)}, threshold=0.5, mode=Mode.DAG)
