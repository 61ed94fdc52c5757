"""From the marks of expected outcomes to the mark of a criterion and to who may be judged at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from benchmark.rules.graph import in_dependency_order
from benchmark.rules.records import CriterionSpec
from benchmark.rules.vocabulary import Mark, Mode

_WORST_FIRST = (Mark.FAIL, Mark.PARTIAL, Mark.PASS)


class Reach(StrEnum):
    """Whether a criterion is to be judged, seen from its prerequisites."""

    REACHED = "reached"
    BEHIND_UNSATISFIED = "behind_unsatisfied"
    BEHIND_ERROR = "behind_error"
    UNDECIDED = "undecided"
    """A prerequisite is not judged yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionState:
    """What one round says of one criterion, after skipping and the spreading of errors.

    `passed` and `failed` are the outcomes that count as such: none where the criterion is error or
    skipped, so that an outcome which passed inside an errored criterion enters no raw figure.
    """

    mark: Mark
    outcomes: tuple[Mark, ...]
    passed: frozenset[int]
    failed: frozenset[int]

    @property
    def is_executed(self) -> bool:
        """Whether the candidate was judged on it: neither skipped nor error."""
        return self.mark.is_judged


# Few combinations of marks occur, in very many criteria, rounds and simulations.
@lru_cache(maxsize=4096)
def criterion_state(outcomes: tuple[Mark, ...]) -> CriterionState:
    """Return the state that the marks of its outcomes give a criterion; raises as `criterion_mark`."""
    mark = criterion_mark(outcomes)
    return CriterionState(
        mark=mark,
        outcomes=outcomes,
        passed=_indexes(outcomes, {Mark.PASS}) if mark.is_judged else frozenset(),
        failed=_indexes(outcomes, {Mark.FAIL, Mark.PARTIAL}) if mark.is_judged else frozenset(),
    )


def criterion_mark(outcomes: Sequence[Mark]) -> Mark:
    """Return the mark that the marks of its outcomes give a criterion: the worst of them.

    With an `error` among them it is `fail` where another is fail or partial, else `error`.
    Raises ValueError for no outcome, and for outcomes of which only some are skipped.
    """
    marks = set(outcomes)
    if not marks:
        raise ValueError("A criterion without outcomes has no mark.")
    if marks == {Mark.SKIPPED}:
        return Mark.SKIPPED
    if Mark.SKIPPED in marks:
        raise ValueError("A criterion is skipped as a whole, never one of its outcomes alone.")
    if Mark.ERROR in marks:
        return Mark.FAIL if marks & {Mark.FAIL, Mark.PARTIAL} else Mark.ERROR
    return next(mark for mark in _WORST_FIRST if mark in marks)


def passed_share(outcomes: Sequence[Mark]) -> float:
    """Return passed outcomes over all outcomes; one that is `error` counts as not passed."""
    return outcomes.count(Mark.PASS) / len(outcomes)


def is_satisfied(state: CriterionState, *, threshold: float) -> bool:
    """Return whether dependants may be judged: executed, and enough outcomes passed.

    An `error` criterion was not executed, whatever its ratio; what needs it is `error` in turn.
    """
    return state.is_executed and passed_share(state.outcomes) >= threshold


def effective_states(
    criteria: Iterable[CriterionSpec],
    marks: Mapping[str, Sequence[Mark]],
    *,
    threshold: float,
    mode: Mode,
) -> dict[str, CriterionState]:
    """Return what counts for each criterion, given in dependency order.

    In mode `dag` a criterion with an unsatisfied prerequisite is skipped, else one with an errored
    prerequisite is error, whatever was saved for it. A criterion without a mark for each outcome is
    error, and so is one that was saved as skipped although nothing stands in its way: nobody
    judged it (yet). Raises ValueError for more marks than outcomes.
    """
    states: dict[str, CriterionState] = {}
    for criterion in criteria:
        reach = _reach(criterion, states=states, threshold=threshold, mode=mode)
        states[criterion.key] = _state(criterion, marks=marks.get(criterion.key, ()), reach=reach)
    return states


def reachability(
    criteria: Sequence[CriterionSpec],
    marks: Mapping[str, Sequence[Mark]],
    *,
    threshold: float,
    mode: Mode,
) -> dict[str, Reach]:
    """Return for each criterion, in dependency order, whether it is to be judged now.

    Marks may still be missing: what needs such a criterion is undecided, unless another of its
    prerequisites is unsatisfied already. Raises what `in_dependency_order` raises.
    """
    states: dict[str, CriterionState] = {}
    reaches: dict[str, Reach] = {}
    for criterion in in_dependency_order(criteria):
        reach = _reach(criterion, states=states, threshold=threshold, mode=mode)
        reaches[criterion.key] = reach
        given = marks.get(criterion.key, ())
        is_open = len(given) < len(criterion.outcomes) or Mark.SKIPPED in given
        if reach is Reach.UNDECIDED or (reach is Reach.REACHED and is_open):
            continue
        states[criterion.key] = _state(criterion, marks=given, reach=reach)
    return reaches


def _reach(
    criterion: CriterionSpec,
    *,
    states: Mapping[str, CriterionState],
    threshold: float,
    mode: Mode,
) -> Reach:
    if mode is Mode.FLAT:
        return Reach.REACHED
    prerequisites = [states.get(key) for key in criterion.needs]
    if any(
        state is not None and state.mark is not Mark.ERROR and not is_satisfied(state, threshold=threshold)
        for state in prerequisites
    ):
        return Reach.BEHIND_UNSATISFIED
    if any(state is None for state in prerequisites):
        return Reach.UNDECIDED
    if any(state is not None and state.mark is Mark.ERROR for state in prerequisites):
        return Reach.BEHIND_ERROR
    return Reach.REACHED


def _state(criterion: CriterionSpec, *, marks: Sequence[Mark], reach: Reach) -> CriterionState:
    count = len(criterion.outcomes)
    if len(marks) > count:
        raise ValueError(
            f"Criterion {criterion.key!r} has {count} outcomes, but {len(marks)} marks are given."
        )
    if reach is Reach.BEHIND_UNSATISFIED:
        return criterion_state((Mark.SKIPPED,) * count)
    if reach is Reach.BEHIND_ERROR or len(marks) < count:
        return criterion_state((Mark.ERROR,) * count)
    return criterion_state(tuple(Mark.ERROR if mark is Mark.SKIPPED else mark for mark in marks))


def _indexes(outcomes: Sequence[Mark], wanted: set[Mark]) -> frozenset[int]:
    return frozenset(index for index, mark in enumerate(outcomes) if mark in wanted)
