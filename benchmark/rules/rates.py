"""Weighted rates of one trial: what passed and was executed up to a round, fixed, or broken again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from benchmark.rules.intervals import Ratio
from benchmark.rules.marks import CriterionState
from benchmark.rules.records import CriterionSpec
from benchmark.rules.vocabulary import Mark

type RoundStates = Mapping[str, CriterionState]
"""What one round says of every criterion of a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What is known of one criterion from some rounds together; one round alone is its state.

    `passed` needs all outcomes in one round, while `outcomes` are a union over the rounds.
    `is_known` is False where every round is error (and where there is no round).
    """

    passed: bool = False
    outcomes: frozenset[int] = frozenset()
    executed: bool = False
    is_known: bool = False


def progress(criteria: Sequence[CriterionSpec], rounds: Sequence[RoundStates]) -> dict[str, Progress]:
    """Return the progress of each criterion over the rounds given."""
    return {
        criterion.key: _progress(criterion, [states[criterion.key] for states in rounds])
        for criterion in criteria
    }


def pass_rate(criteria: Sequence[CriterionSpec], reached: Mapping[str, Progress]) -> float | None:
    """Return the weight of passed criteria over all weight; None without criteria."""
    return _weighted(criteria, [float(reached[each.key].passed) for each in criteria])


def outcome_rate(criteria: Sequence[CriterionSpec], reached: Mapping[str, Progress]) -> float | None:
    """Return the pass rate in which each criterion earns its share of passed outcomes."""
    shares = [len(reached[each.key].outcomes) / len(each.outcomes) for each in criteria]
    return _weighted(criteria, shares)


def executed_rate(criteria: Sequence[CriterionSpec], reached: Mapping[str, Progress]) -> float | None:
    """Return the weight of executed criteria over all weight; None without criteria."""
    return _weighted(criteria, [float(reached[each.key].executed) for each in criteria])


def completion(criteria: Sequence[CriterionSpec], reached: Mapping[str, Progress]) -> float | None:
    """Return 1 where every criterion passed, else 0; None without criteria."""
    if not criteria:
        return None
    return float(all(reached[each.key].passed for each in criteria))


def known_criteria(
    criteria: Sequence[CriterionSpec], reached: Mapping[str, Progress]
) -> tuple[CriterionSpec, ...]:
    """Return the criteria that some round could judge or skip: not error in every one of them."""
    return tuple(each for each in criteria if reached[each.key].is_known)


def criterion_fixes(before: RoundStates, after: RoundStates) -> Ratio:
    """Return passed now / failed before, in criteria; error and skipped now are not fixed."""
    failed = [key for key, state in before.items() if _failed(state)]
    fixed = [key for key in failed if after[key].mark is Mark.PASS]
    return Ratio(part=len(fixed), whole=len(failed))


def outcome_fixes(before: RoundStates, after: RoundStates) -> Ratio:
    """Return passed now / failed before, in outcomes.

    An outcome is fixed when its criterion passes now or it passes itself in an executed criterion.
    """
    part = whole = 0
    for key, state in before.items():
        failed = state.failed
        whole += len(failed)
        is_passed = after[key].mark is Mark.PASS
        part += len(failed) if is_passed else len(failed & after[key].passed)
    return Ratio(part=part, whole=whole)


def regressions(earlier: Sequence[RoundStates], now: RoundStates, *, mark: Mark) -> int:
    """Return how many criteria passed in an earlier round and have `mark` now."""
    return sum(
        state.mark is mark and any(states[key].mark is Mark.PASS for states in earlier)
        for key, state in now.items()
    )


def _progress(criterion: CriterionSpec, states: Sequence[CriterionState]) -> Progress:
    passed = any(state.mark is Mark.PASS for state in states)
    every = frozenset(range(len(criterion.outcomes)))
    return Progress(
        passed=passed,
        # An outcome also counts once its criterion passed.
        outcomes=every if passed else frozenset().union(*(state.passed for state in states)),
        executed=any(state.is_executed for state in states),
        is_known=any(state.mark is not Mark.ERROR for state in states),
    )


def _weighted(criteria: Sequence[CriterionSpec], shares: Sequence[float]) -> float | None:
    if not criteria:
        return None
    earned = fsum(each.weight * share for each, share in zip(criteria, shares, strict=True))
    return earned / sum(each.weight for each in criteria)


def _failed(state: CriterionState) -> bool:
    return state.is_executed and state.mark is not Mark.PASS
