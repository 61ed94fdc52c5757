"""Means, pooled ratios and counts over tasks, with 95% intervals where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import stdev

from benchmark.rules.records import Estimate

Z_95 = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """What one task adds to a pooled ratio."""

    part: float
    whole: float


def undefined(reason: str, *, n: int = 0) -> Estimate:
    """Return the estimate of a number that does not exist, with the reason as a sentence."""
    return Estimate(value=None, n=n, reason=reason)


def mean_over_tasks(values: Sequence[float | None], *, if_none: str) -> Estimate:
    """Return the mean of one value a task +- z s / sqrt(n); tasks whose value is None leave it.

    s is the unbiased standard deviation over tasks, so the half-width is None at n = 1. With no
    value left the mean is undefined, and `if_none` is its reason. (Asuka-Bench, section 4.1)
    """
    present = [value for value in values if value is not None]
    if not present:
        return undefined(if_none)
    half_width = Z_95 * stdev(present) / sqrt(len(present)) if len(present) > 1 else None
    return Estimate(value=fsum(present) / len(present), half_width=half_width, n=len(present))


def pooled_ratio(ratios: Sequence[Ratio], *, if_none: str) -> Estimate:
    """Return sum of parts / sum of wholes over all tasks, those with an empty whole included.

    SE^2 = n / (n - 1) * sum (part - R whole)^2 / (sum whole)^2; the half-width is z SE, and None at
    n = 1. Undefined, with `if_none` as its reason, where the wholes sum to 0.
    """
    n = len(ratios)
    whole = fsum(ratio.whole for ratio in ratios)
    if whole == 0:
        return undefined(if_none, n=n)
    value = fsum(ratio.part for ratio in ratios) / whole
    half_width = None
    if n > 1:
        squares = fsum((ratio.part - value * ratio.whole) ** 2 for ratio in ratios)
        half_width = Z_95 * sqrt(n / (n - 1) * squares) / whole
    return Estimate(value=value, half_width=half_width, n=n, denominator=whole)


def mean_gap(first: Sequence[float | None], second: Sequence[float | None], *, if_none: str) -> Estimate:
    """Return the mean of first - second with the half-width of the per-task differences.

    A task for which either is None leaves the mean.
    """
    differences = [
        None if one is None or other is None else one - other
        for one, other in zip(first, second, strict=True)
    ]
    return mean_over_tasks(differences, if_none=if_none)


def total(counts: Sequence[float], *, if_none: str) -> Estimate:
    """Return the sum over tasks, whole where it can be; counts have no interval. Undefined without a task."""
    if not counts:
        return undefined(if_none)
    summed = fsum(counts)
    return Estimate(value=int(summed) if summed.is_integer() else summed, n=len(counts))


def average(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that there are (repeats of one task); None where there are none."""
    present = [value for value in values if value is not None]
    return fsum(present) / len(present) if present else None
