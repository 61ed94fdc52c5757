"""How many outcomes, projects and raters an interval of a wanted width needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy import stats

type Floats = NDArray[np.float64]

MOST_PROJECTS = 100_000
_Z = float(stats.norm.ppf(0.975))


class PlanError(ValueError):
    """A plan that cannot be made; its text is one sentence with the way out."""


class Target(StrEnum):
    """The statistic of a judge against people whose interval is planned."""

    ACCURACY = "accuracy"
    KAPPA = "kappa"
    F1 = "f1"
    SPECIFICITY = "specificity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is expected of a judge: shares of positives among the gold labels, and of either kind it gets right.

    Raises PlanError where one is not strictly between 0 and 1 (recall and specificity may be 1, not both).
    """

    prevalence: float
    recall: float
    specificity: float

    def __post_init__(self) -> None:
        _refuse_outside("prevalence", self.prevalence)
        if not (0 < self.recall <= 1 and 0 < self.specificity <= 1) or self.recall == self.specificity == 1:
            raise PlanError(
                f"Recall {self.recall:g} and specificity {self.specificity:g} must be above 0 and not both 1; "
                "expect a few mistakes, or no interval has a width."
            )

    @property
    def cells(self) -> Floats:
        """Shares of the table [[tp, fn], [fp, tn]]: rows are gold."""
        positive, negative = self.prevalence, 1 - self.prevalence
        return np.array(
            [
                [positive * self.recall, positive * (1 - self.recall)],
                [negative * (1 - self.specificity), negative * self.specificity],
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """How outcomes lie in projects.

    `per_project` outcomes are labelled in each; `correlation` is how alike the judge's mistakes are within a
    project; `variation` is the standard deviation of outcomes a project by their mean.
    """

    per_project: int = 1
    correlation: float = 0.0
    variation: float = 0.0

    def __post_init__(self) -> None:
        if self.per_project < 1 or not 0 <= self.correlation < 1 or self.variation < 0:
            raise PlanError(
                "A project has at least one outcome, a correlation from 0 up to below 1, and no negative variation."
            )

    @property
    def design_effect(self) -> float:
        """1 + ((1 + cv^2) m - 1) rho, never below 1 (Kish 1965; Eldridge, Ashby and Kerry 2006, formula 5)."""
        return 1 + max(0.0, (1 + self.variation**2) * self.per_project - 1) * self.correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A sample whose 95% interval is expected to be at most as wide as wanted; `width` is what is expected."""

    value: float
    outcomes: int
    projects: int
    design_effect: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplePlan:
    """A sample in which `raters` people rate every outcome.

    `reliability` is that of their mean (Spearman and Brown).
    """

    raters: int
    outcomes: int
    projects: int
    ratings: int
    reliability: float
    width: float


def plan_judge(
    target: Target, expected: Expected, *, width: float, clustering: Clustering | None = None
) -> Plan:
    """Return the smallest number of projects whose interval of the statistic is at most `width` wide.

    Accuracy and specificity have Wilson's interval, kappa and F1 that of the delta method on the multinomial
    table; both with the design effect, and with Student's t of projects - 1 where outcomes share projects.
    Raises PlanError.
    """
    _refuse_outside("width", width)
    lying = clustering or Clustering()
    value, variance, share_used = _value_and_variance(target, expected)
    is_share = target in (Target.ACCURACY, Target.SPECIFICITY)
    projects = _candidates()
    used = projects * lying.per_project / lying.design_effect * share_used
    quantile = _quantiles(projects, lying)
    widths = _wilson_widths(value, used, quantile) if is_share else 2 * quantile * np.sqrt(variance / used)
    fewest = _fewest(projects, widths, width)
    return Plan(
        value=value,
        outcomes=fewest * lying.per_project,
        projects=fewest,
        design_effect=lying.design_effect,
        width=float(widths[fewest - 2]),
    )


def plan_people(
    *,
    kappa: float,
    prevalence: float,
    width: float,
    raters: Iterable[int] = range(2, 7),
    clustering: Clustering | None = None,
) -> tuple[PeoplePlan, ...]:
    """Return, for each number of raters, the sample for an interval of Fleiss' kappa among them.

    Two labels; numbers of positive ratings follow the beta-binomial distribution with this prevalence and
    this kappa (the common correlation model of Bloch and Kraemer 1989 for any number of raters), and the
    variance is that of the delta method, with the moments summed exactly. Raises PlanError.
    """
    _refuse_outside("kappa", kappa)
    _refuse_outside("prevalence", prevalence)
    _refuse_outside("width", width)
    lying = clustering or Clustering()
    projects = _candidates()
    quantile = _quantiles(projects, lying)
    plans = []
    for number in raters:
        if number < 2:
            raise PlanError(f"{number} raters cannot agree; plan with two or more.")
        variance = _fleiss_variance(kappa, prevalence, raters=number)
        used = projects * lying.per_project / lying.design_effect
        widths = 2 * quantile * np.sqrt(variance / used)
        fewest = _fewest(projects, widths, width)
        plans.append(
            PeoplePlan(
                raters=number,
                outcomes=fewest * lying.per_project,
                projects=fewest,
                ratings=fewest * lying.per_project * number,
                reliability=number * kappa / (1 + (number - 1) * kappa),
                width=float(widths[fewest - 2]),
            )
        )
    return tuple(plans)


def outcomes_per_project(outcomes: int, *, projects: int, correlation: float) -> int | None:
    """Return how many outcomes a project give what so many independent ones would, with so many projects.

    m with K m / (1 + (m - 1) rho) = n. None where no number does: each project is worth at most 1 / rho.
    """
    room = projects - outcomes * correlation
    return ceil(round(outcomes * (1 - correlation) / room, 9)) if room > 0 else None


def _value_and_variance(target: Target, expected: Expected) -> tuple[float, float, float]:
    """The expected value, the variance of one outcome's influence on it, and the share of outcomes it uses."""
    cells = expected.cells
    (tp, fn), (fp, _) = cells
    right = float(np.trace(cells))
    if target is Target.ACCURACY:
        return right, right * (1 - right), 1.0
    if target is Target.SPECIFICITY:
        value = expected.specificity
        return value, value * (1 - value), 1 - expected.prevalence
    if target is Target.F1:
        below = 2 * tp + fp + fn
        value = 2 * tp / below
        slope = np.array([[2 * (fp + fn), -2 * tp], [-2 * tp, 0.0]]) / below**2
    else:
        rows, columns = cells.sum(axis=1), cells.sum(axis=0)
        chance = float(rows @ columns)
        value = (right - chance) / (1 - chance)
        slope = (np.eye(2) * (1 - chance) - (1 - right) * (columns[:, None] + rows)) / (1 - chance) ** 2
    variance = float((cells * slope**2).sum() - (cells * slope).sum() ** 2)
    return float(value), variance, 1.0


def _fleiss_variance(kappa: float, prevalence: float, *, raters: int) -> float:
    """The variance of one outcome's influence on Fleiss' kappa of two labels."""
    positive = np.arange(raters + 1)
    scale = (1 - kappa) / kappa
    chances = stats.betabinom.pmf(positive, raters, prevalence * scale, (1 - prevalence) * scale)
    negative = raters - positive
    agreeing = (positive * (positive - 1) + negative * (negative - 1)) / (raters * (raters - 1))
    spread = 2 * prevalence * (1 - prevalence)
    apart = 1 - float(chances @ agreeing)
    # kappa = 1 - (1 - A) / (2 p (1 - p)), by A and by p.
    influence = agreeing / spread + apart * 2 * (1 - 2 * prevalence) / spread**2 * positive / raters
    return float(chances @ influence**2 - (chances @ influence) ** 2)


def _candidates() -> Floats:
    return np.arange(2, MOST_PROJECTS + 1, dtype=np.float64)


def _quantiles(projects: Floats, clustering: Clustering) -> Floats:
    if clustering.per_project == 1:
        return np.full_like(projects, _Z)
    return _student_quantiles()


@cache
def _student_quantiles() -> Floats:
    """Student's t for every candidate: the slowest part of a plan, and the same for all plans."""
    quantiles: Floats = stats.t.ppf(0.975, _candidates() - 1)
    quantiles.flags.writeable = False
    return quantiles


def _wilson_widths(share: float, n: Floats, quantile: Floats) -> Floats:
    squared = quantile**2 / n
    widths: Floats = 2 * np.sqrt(squared * share * (1 - share) + squared**2 / 4) / (1 + squared)
    return widths


def _fewest(projects: Floats, widths: Floats, width: float) -> int:
    enough = np.flatnonzero(widths <= width)
    if not enough.size:
        raise PlanError(
            f"Even {MOST_PROJECTS:,} projects do not give an interval {width:g} wide; ask for a wider one."
        )
    return int(projects[enough[0]])


def _refuse_outside(name: str, share: float) -> None:
    if not 0 < share < 1:
        raise PlanError(f"{name.capitalize()} {share:g} is not between 0 and 1; give a share such as 0.8.")
