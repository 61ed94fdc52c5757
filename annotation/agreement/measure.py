"""One statistic of a report: how it is computed from sums, and why it may not exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.agreement.values import Flag, Interval, Reason
from annotation.agreement.weights import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure[Sums]:
    """One statistic.

    `of` takes sums of any batch shape (...) to (...), nan where undefined; `reason` says why for one set of sums.
    A share has the `denominator` it is a share of; a coefficient that is 1 - observed / expected disagreement has
    `expected`, scaled so that the worst disagreement of a unit is 1. `compared` counts the units that two raters
    rated, once for each set of pairs that the statistic compares: a cluster without one says nothing of how they
    agree. `counts_lone` where units with one rating play a part (in the prevalence of labels). `analytic` takes
    the total, the sums of single units and how often each occurs.
    """

    name: str
    of: Callable[[Sums], Floats]
    reason: Callable[[Sums], Reason]
    denominator: Callable[[Sums], Floats] | None = None
    expected: Callable[[Sums], Floats] | None = None
    compared: tuple[Callable[[Sums], Floats], ...] = ()
    analytic: Callable[[Sums, Sums, NDArray[np.int64]], Interval | None] | None = None
    flags: tuple[Flag, ...] = ()
    counts_lone: bool = False
