"""The shares and indices of a pair by name, against a gold rater where the first one is gold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.agreement import confusion
from annotation.agreement.confusion import Confusion
from annotation.agreement.intervals import wilson
from annotation.agreement.measure import Measure
from annotation.agreement.sums import PairSums
from annotation.agreement.values import Flag, Interval, Reason
from annotation.agreement.weights import Floats


def rate_measures(*, positive: int, has_gold: bool, flags: tuple[Flag, ...]) -> list[Measure[PairSums]]:
    """Return the statistics of one label against all others; those against gold take the first rater for it."""
    rates = (*_RATES, *_GOLD_RATES) if has_gold else _RATES
    return [_rate(rate, positive=positive, flags=flags) for rate in rates]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rate:
    name: str
    of: Callable[[Confusion], Floats]
    reason: Callable[[Confusion], Reason] = confusion.judge_reason
    denominator: Callable[[Confusion], Floats] | None = None
    is_binomial: bool = True


def _rate(rate: _Rate, *, positive: int, flags: tuple[Flag, ...]) -> Measure[PairSums]:
    def counts(sums: PairSums) -> Confusion:
        return Confusion.of_tables(sums.tables, positive=positive)

    denominator = rate.denominator

    def interval(total: PairSums, _units: PairSums, _copies: NDArray[np.int64]) -> Interval | None:
        if denominator is None or not rate.is_binomial or denominator(counts(total)) < 1:
            return None
        return wilson(float(rate.of(counts(total))), float(denominator(counts(total))))

    return Measure(
        name=rate.name,
        of=lambda sums: rate.of(counts(sums)),
        reason=lambda sums: rate.reason(counts(sums)),
        denominator=None if denominator is None else lambda sums: denominator(counts(sums)),
        analytic=interval,
        flags=flags,
    )


def _f1_units(counts: Confusion) -> Floats:
    return counts.tp + counts.fp + counts.fn


# F1 is no binomial share, but where it collapses at 0 or 1 it is bounded like the share of tp in these units.
_RATES = (
    _Rate(name="p_pos", of=confusion.f1, denominator=_f1_units, is_binomial=False),
    _Rate(
        name="p_neg",
        of=confusion.f1_negative,
        denominator=lambda counts: _f1_units(counts.swapped),
        is_binomial=False,
    ),
    _Rate(name="prevalence_index_signed", of=confusion.prevalence_index),
    _Rate(name="bias_index_signed", of=confusion.bias_index),
)
_GOLD_RATES = (
    _Rate(name="accuracy", of=confusion.accuracy, denominator=lambda counts: counts.n),
    _Rate(name="precision", of=confusion.precision, denominator=lambda counts: counts.tp + counts.fp),
    _Rate(
        name="recall",
        of=confusion.recall,
        reason=confusion.gold_reason,
        denominator=lambda counts: counts.tp + counts.fn,
    ),
    _Rate(name="f1", of=confusion.f1, denominator=_f1_units, is_binomial=False),
    _Rate(
        name="specificity",
        of=confusion.specificity,
        reason=confusion.gold_reason,
        denominator=lambda counts: counts.tn + counts.fp,
    ),
    _Rate(name="npv", of=confusion.npv, denominator=lambda counts: counts.tn + counts.fn),
    _Rate(
        name="f1_negative",
        of=confusion.f1_negative,
        denominator=lambda counts: _f1_units(counts.swapped),
        is_binomial=False,
    ),
    _Rate(name="macro_f1", of=confusion.macro_f1, denominator=lambda counts: counts.n, is_binomial=False),
    _Rate(
        name="balanced_accuracy",
        of=confusion.balanced_accuracy,
        reason=confusion.gold_reason,
        denominator=lambda counts: counts.n,
        is_binomial=False,
    ),
    _Rate(name="mcc", of=confusion.mcc, reason=confusion.mcc_reason),
    _Rate(
        name="always_pass_accuracy",
        of=confusion.always_positive_accuracy,
        denominator=lambda counts: counts.n,
    ),
    _Rate(
        name="always_fail_accuracy",
        of=confusion.always_negative_accuracy,
        denominator=lambda counts: counts.n,
    ),
    _Rate(name="pass_rate_gold", of=confusion.always_positive_accuracy, denominator=lambda counts: counts.n),
    _Rate(name="pass_rate_judge", of=confusion.positive_rate, denominator=lambda counts: counts.n),
)
