"""The statistics of scores by name: correlations, errors, concordance and intraclass correlations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from annotation.agreement import correlation, icc, ranks
from annotation.agreement.icc import IccForm
from annotation.agreement.measure import Measure
from annotation.agreement.sums import GroupedSums, PairSums
from annotation.agreement.values import Flag, Interval, Method, Reason, Statistic, Undefined, Value
from annotation.agreement.weights import Floats

type _Analytic = Callable[[float, int], tuple[float, float] | None]


def score_measures(numbers: Floats) -> list[Measure[PairSums]]:
    """Return the statistics of two raters' scores, where label k is the score `numbers[k]` (q,).

    All of them are functions of the table, so that they resample as everything else does.
    """
    cells = len(numbers) ** 2
    first, second = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    each_cell = np.arange(cells, dtype=np.int32)
    moments = correlation.moments_of(first, second, each_cell, n_clusters=cells)
    order = np.argsort(numbers)
    of_moments = {
        "pearson": (correlation.pearson, correlation.pearson_interval),
        "mae": (correlation.mae, None),
        "rmse": (correlation.rmse, None),
        "bias": (correlation.bias, None),
        "ccc": (correlation.ccc, None),
    }
    of_tables = {
        "spearman": (ranks.spearman_of_tables, correlation.spearman_interval),
        "kendall_tau_b": (ranks.kendall_of_tables, correlation.kendall_interval),
    }
    measures = [
        _correlation(name, partial(_through, of, moments), analytic)
        for name, (of, analytic) in of_moments.items()
    ]
    measures += [
        _correlation(name, partial(_of_ordered, of, order), analytic)
        for name, (of, analytic) in of_tables.items()
    ]
    columns = np.column_stack([np.ones(cells), first, second, (first + second) ** 2, first**2 + second**2])
    return measures + [_icc_of_pair(form, columns) for form in IccForm]


def moment_measures() -> list[Measure[Floats]]:
    """Return what moments alone give, of the packed sums of `moment_groups`: (..., 9 + 5).

    For scores with too many levels for a table; rank correlations are not among them.
    """
    of_moments = {
        "pearson": correlation.pearson,
        "mae": correlation.mae,
        "rmse": correlation.rmse,
        "bias": correlation.bias,
        "ccc": correlation.ccc,
    }
    measures = [
        Measure(name=name, of=partial(_of_head, of), reason=lambda sums: _reason(float(sums[0])))
        for name, of in of_moments.items()
    ]
    return measures + [_icc_of_tail(form) for form in IccForm]


def moment_groups(scores: Floats, cluster_of: NDArray[np.int32] | None) -> GroupedSums:
    """Return moments and sums of squares of two raters' scores (n, 2), by cluster or by unit; none is missing."""
    clusters = np.arange(len(scores), dtype=np.int32) if cluster_of is None else cluster_of
    n_clusters = int(clusters.max(initial=-1)) + 1
    moments = correlation.moments_of(scores[:, 0], scores[:, 1], clusters, n_clusters=n_clusters)
    squares = icc.icc_sums(scores, clusters, n_clusters=n_clusters).sums
    features = np.column_stack([moments, squares])
    kept = features[moments[:, 0] > 0]
    return GroupedSums(features=kept, copies=np.ones(len(kept), dtype=np.int64))


def icc_measures(k: int) -> list[Measure[Floats]]:
    """Return the intraclass correlations of k raters, of the packed sums of `icc.IccSums`: (..., k + 3)."""
    return [_icc(form, k=k) for form in IccForm]


def icc_groups(scores: Floats, cluster_of: NDArray[np.int32] | None) -> GroupedSums:
    """Return the sums of the units that every rater scored, by cluster, or by unit where there are none."""
    clusters = np.arange(len(scores), dtype=np.int32) if cluster_of is None else cluster_of
    sums = icc.icc_sums(scores, clusters, n_clusters=int(clusters.max(initial=-1)) + 1).sums
    kept = sums[sums[:, 0] > 0]
    if cluster_of is not None:
        # Sums of clusters stay apart: whether two are alike would hang on the last digit of a float.
        return GroupedSums(features=kept, copies=np.ones(len(kept), dtype=np.int64))
    rows, copies = np.unique(kept, axis=0, return_counts=True)
    return GroupedSums(features=rows, copies=copies.astype(np.int64))


def rank_correlations(scores: Floats, *, is_clustered: bool) -> dict[str, Statistic]:
    """Return Spearman's rho and Kendall's tau-b of scores (n, 2) with analytic intervals, not resampled."""
    n = len(scores)
    flags = (Flag.CLUSTERING_IGNORED,) if is_clustered else ()
    found: dict[str, Statistic] = {}
    for name, of, analytic in (
        ("spearman", stats.spearmanr, correlation.spearman_interval),
        ("kendall_tau_b", stats.kendalltau, correlation.kendall_interval),
    ):
        if n < 2 or np.ptp(scores, axis=0).min() == 0:
            found[name] = Undefined(_reason(n))
            continue
        value = float(of(scores[:, 0], scores[:, 1]).statistic)
        ends = analytic(value, n)
        found[name] = (
            Value(value=value, n=n)
            if ends is None
            else Value(value=value, n=n, low=ends[0], high=ends[1], method=Method.FISHER_Z, flags=flags)
        )
    return found


def _through(of: Callable[[Floats], Floats], moments: Floats, tables: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return of(_flat(tables) @ moments)


def _of_ordered(of: Callable[[Floats], Floats], order: NDArray[np.intp], tables: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return of(tables[..., order, :][..., order])


def _correlation(name: str, of: Callable[[Floats], Floats], analytic: _Analytic | None) -> Measure[PairSums]:
    def interval(total: PairSums, _units: PairSums, _copies: NDArray[np.int64]) -> Interval | None:
        ends = None if analytic is None else analytic(float(of(total.tables)), round(total.tables.sum()))
        return None if ends is None else Interval(low=ends[0], high=ends[1], method=Method.FISHER_Z)

    return Measure(
        name=name,
        of=lambda sums: of(sums.tables),
        reason=lambda sums: _reason(float(sums.tables.sum())),
        analytic=interval,
    )


def _icc(form: IccForm, *, k: int) -> Measure[Floats]:
    def of(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return icc.icc(icc.mean_squares(sums, k=k))[form]

    def interval(total: Floats, _units: Floats, _copies: NDArray[np.int64]) -> Interval | None:
        ends = icc.icc_intervals(icc.mean_squares(total, k=k))[form]
        return None if ends is None else Interval(low=ends[0], high=ends[1], method=Method.ICC_F)

    return Measure(name=form.value, of=of, reason=lambda sums: _reason(float(sums[0])), analytic=interval)


def _icc_of_pair(form: IccForm, columns: Floats) -> Measure[PairSums]:
    whole = _icc(form, k=2)
    analytic = whole.analytic

    def sums_of(pair: PairSums) -> Floats:
        return np.asarray(_flat(pair.tables) @ columns)

    return Measure(
        name=whole.name,
        of=lambda pair: whole.of(sums_of(pair)),
        reason=lambda pair: whole.reason(sums_of(pair)),
        analytic=None
        if analytic is None
        else lambda total, units, copies: analytic(sums_of(total), sums_of(units), copies),
    )


def _of_head(of: Callable[[Floats], Floats], sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return of(sums[..., :9])


def _icc_of_tail(form: IccForm) -> Measure[Floats]:
    whole = _icc(form, k=2)
    return Measure(
        name=whole.name, of=lambda sums: whole.of(sums[..., 9:]), reason=lambda sums: _reason(float(sums[0]))
    )


def _reason(n: float) -> Reason:
    if n == 0:
        return Reason.NO_OVERLAP
    return Reason.TOO_FEW if n < 2 else Reason.CONSTANT


def _flat(tables: Floats) -> Floats:
    return tables.reshape(*tables.shape[:-2], -1)
