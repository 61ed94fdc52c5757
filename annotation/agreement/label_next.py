"""Which outcomes to label next: where the judge's error is least known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.agreement.planner import Floats, PlanError
from annotation.agreement.table_runs import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Outcomes among which the judge is thought to err alike: `labelled` of `outcomes` were, `wrong` of them."""

    name: str
    outcomes: int
    labelled: int = 0
    wrong: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.wrong <= self.labelled <= self.outcomes:
            raise PlanError(
                f"Stratum {self.name!r} has {self.wrong} wrong of {self.labelled} labelled of {self.outcomes}; "
                "each must hold the one before."
            )


def label_next(strata: Sequence[Stratum], *, budget: int) -> Mapping[str, int]:
    """Return how many more outcomes of each stratum to label, at most `budget` in all.

    Labels go where they lower the variance of the judge's error rate over all outcomes most: Neyman's
    allocation, n_h proportional to N_h s_h (Neyman 1934), given what is labelled already. s_h is that of
    (wrong + 1) / (labelled + 2), so that a stratum of which nothing is known counts as one half wrong. A
    stratum with fewer than two labels is served first, the largest first, for without two it has no variance.

    Raises PlanError where names repeat or the budget is negative.
    """
    if budget < 0 or len({stratum.name for stratum in strata}) < len(strata):
        raise PlanError("The budget is at least 0 and each stratum has a name of its own.")
    sizes = np.array([stratum.outcomes for stratum in strata], dtype=np.int64)
    labelled = np.array([stratum.labelled for stratum in strata], dtype=np.int64)
    wrong = np.array([stratum.wrong for stratum in strata], dtype=np.int64)
    rate = (wrong + 1) / (labelled + 2)
    wanted: Floats = np.asarray(sizes * np.sqrt(rate * (1 - rate)), dtype=np.float64)
    least = _at_least_two(sizes, labelled, budget=budget)
    goal = min(int(labelled.sum()) + budget, int(sizes.sum()))
    chosen = _whole(_water_level(wanted, least, sizes, goal=goal), least, sizes, goal=goal)
    return {stratum.name: int(more) for stratum, more in zip(strata, chosen - labelled, strict=True)}


def _at_least_two(sizes: Ints, labelled: Ints, *, budget: int) -> Ints:
    lacking = np.maximum(np.minimum(sizes, 2) - labelled, 0)
    order = np.argsort(-sizes, kind="stable")
    before = np.cumsum(lacking[order]) - lacking[order]
    given = np.zeros_like(lacking)
    given[order] = np.clip(budget - before, 0, lacking[order])
    return labelled + given


def _water_level(wanted: Floats, least: Ints, most: Ints, *, goal: int) -> Floats:
    """Numbers proportional to `wanted` between bounds, with the sum `goal`, by bisection of the factor."""
    low, high = 0.0, 1.0
    while np.clip(wanted * high, least, most).sum() < goal:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(wanted * middle, least, most).sum() < goal else (low, middle)
    level: Floats = np.clip(wanted * high, least, most)
    return level


def _whole(numbers: Floats, least: Ints, most: Ints, *, goal: int) -> Ints:
    """Whole numbers with the sum `goal`: the largest remainders are rounded up."""
    whole = np.maximum(np.floor(numbers + 1e-9).astype(np.int64), least)
    remainder = np.where(whole < most, numbers - whole, -np.inf)
    order = np.argsort(-remainder, kind="stable")
    whole[order[: max(0, goal - int(whole.sum()))]] += 1
    return whole
