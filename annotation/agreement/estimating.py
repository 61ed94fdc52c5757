"""Give each measure its value, its intervals and what a reader must know about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.agreement.intervals import (
    FEW_CLUSTERS,
    Percentiles,
    jackknife_se,
    percentiles,
    resampled,
    student,
    wilson,
)
from annotation.agreement.measure import Measure
from annotation.agreement.sums import GroupedSums
from annotation.agreement.values import Flag, Interval, Method, Statistic, Undefined, Value
from annotation.agreement.weights import Floats

# Thirds and sixths leave this much of a sum that is exactly 0 or 1.
_ROUNDING = 1e-12
_NOT_RESAMPLED = Percentiles(low=None, high=None, resamples=0, undefined=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How to resample: how often, from which seed, and whether clusters are more than single units."""

    resamples: int
    seed: int
    is_clustered: bool

    @property
    def method(self) -> Method:
        return Method.BOOTSTRAP_CLUSTERS if self.is_clustered else Method.BOOTSTRAP_UNITS


def estimates[Sums](
    measures: Sequence[Measure[Sums]],
    grouped: GroupedSums,
    *,
    units: GroupedSums,
    unpacked: Callable[[Floats], Sums],
    n: int,
    resampling: Resampling,
    flags: tuple[Flag, ...] = (),
) -> dict[str, Statistic]:
    """Return every measure of the sums by name.

    `grouped` holds the sums of clusters and `units` those of single units, both packed as `unpacked` reads them;
    `n` units were compared; `flags` are true of every statistic.
    """
    total = unpacked(grouped.total())
    points = np.array([float(measure.of(total)) for measure in measures])
    n_clusters = grouped.n_clusters

    def values(features: Floats) -> Floats:
        sums = unpacked(features)
        return np.stack([measure.of(sums) for measure in measures], axis=-1)

    if n_clusters >= 2 and not np.isnan(points).all():
        samples = resampled(grouped, values, resamples=resampling.resamples, seed=resampling.seed)
    else:
        samples = np.full((0, len(measures)), np.nan)
    spreads = percentiles(samples)
    rows, singles = unpacked(grouped.rows()), unpacked(units.rows())
    telling = [_telling_clusters(measure, rows, grouped) for measure in measures]
    are_few = [2 <= each < FEW_CLUSTERS for each in telling]
    errors = jackknife_se(grouped, values) if any(are_few) else np.full(len(measures), np.nan)
    found: dict[str, Statistic] = {}
    for measure, point, each_spread, error, n_telling, is_few in zip(
        measures, points, spreads, errors, telling, are_few, strict=True
    ):
        if np.isnan(point):
            found[measure.name] = Undefined(measure.reason(total))
            continue
        spread = each_spread if n_telling >= 2 else _NOT_RESAMPLED
        value = Value(value=float(point), n=n, flags=(*measure.flags, *flags))
        if n_telling == 1:
            value = replace(value, flags=(*value.flags, Flag.ONE_CLUSTER))
        elif is_few and resampling.is_clustered:
            value = replace(value, flags=(*value.flags, Flag.FEW_CLUSTERS))
        if measure.denominator is not None:
            value = replace(value, denominator=round(float(measure.denominator(total))))
        value = _with_bootstrap(value, spread, resampling)
        if spread.has_collapsed or spread.low is None:
            value = _with_fallback(
                value, measure, total=total, rows=rows, grouped=grouped, n_telling=n_telling, spread=spread
            )
        if is_few and error > _ROUNDING:
            interval = student(
                float(point), float(error), df=n_telling - 1, method=Method.JACKKNIFE, most=np.inf
            )
            value = replace(value, jackknife=interval)
        if measure.analytic is not None:
            interval_or_none = measure.analytic(total, singles, units.copies)
            value = replace(value, analytic=_said(interval_or_none, is_clustered=resampling.is_clustered))
        found[measure.name] = value
    return found


def _telling_clusters[Sums](measure: Measure[Sums], rows: Sums, grouped: GroupedSums) -> int:
    """How many clusters hold a unit that two raters rated: others move chance, but add no certainty."""
    counts = (int(grouped.copies[np.asarray(count(rows)) > 0].sum()) for count in measure.compared)
    return min(counts, default=grouped.n_clusters)


def _with_bootstrap(value: Value, spread: Percentiles, resampling: Resampling) -> Value:
    if not spread.resamples:
        return value
    flags = (*value.flags, Flag.UNDEFINED_RESAMPLES) if spread.undefined else value.flags
    return replace(
        value,
        low=spread.low,
        high=spread.high,
        method=resampling.method if spread.low is not None else Method.NONE,
        resamples=spread.resamples,
        undefined_resamples=spread.undefined,
        flags=flags,
    )


def _with_fallback[Sums](
    value: Value,
    measure: Measure[Sums],
    *,
    total: Sums,
    rows: Sums,
    grouped: GroupedSums,
    n_telling: int,
    spread: Percentiles,
) -> Value:
    """Replace an interval without width by one that still says how little was seen.

    Where nothing disagreed, a cluster is taken as one observation: how alike its units are cannot be seen, and
    this is the most careful answer. A coefficient's lower end follows from that of agreement.
    """
    flags = (*value.flags, Flag.COLLAPSED) if spread.has_collapsed else value.flags
    none = replace(value, low=None, high=None, method=Method.NONE, flags=flags)
    is_perfect = abs(value.value - 1.0) < _ROUNDING
    if measure.denominator is not None and (is_perfect or abs(value.value) < _ROUNDING):
        used = float(grouped.copies[np.asarray(measure.denominator(rows)) > 0].sum())
        interval = wilson(float(is_perfect), max(1.0, used))
        return replace(none, low=interval.low, high=interval.high, method=Method.WILSON_CLUSTERS)
    if measure.expected is not None and is_perfect:
        chance = float(measure.expected(total))
        low = 1.0 - (1.0 - wilson(1.0, max(1, n_telling)).low) / chance
        return replace(none, low=max(-1.0, low), high=1.0, method=Method.WILSON_THROUGH_CHANCE)
    return none


def _said(interval: Interval | None, *, is_clustered: bool) -> Interval | None:
    if interval is None or not is_clustered:
        return interval
    return replace(interval, flags=(*interval.flags, Flag.CLUSTERING_IGNORED))
