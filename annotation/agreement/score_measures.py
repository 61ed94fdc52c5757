"""The statistics of scores by name: correlations, errors, concordance and intraclass correlations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from annotation.agreement import correlation, icc, ranks
from annotation.agreement.estimating import Resampling, estimates
from annotation.agreement.icc import IccForm
from annotation.agreement.measure import Measure
from annotation.agreement.sums import GroupedSums, PairSums
from annotation.agreement.values import Flag, Interval, Method, Reason, Statistic, Undefined, Value
from annotation.agreement.weights import Floats

MOST_RESAMPLED = 20_000
MOST_IN_PAIRS = 1500

type _Analytic = Callable[[float, int], tuple[float, float] | None]


def score_measures(numbers: Floats, *, table: Floats) -> list[Measure[PairSums]]:
    """Return the statistics of two raters' scores, where label k is the score `numbers[k]` (q,).

    All of them are functions of the table, so that they resample as everything else does. `table` (q, q) is that
    of all units: scores are taken from its mean, so that neither large ones nor labels that neither rater gave
    cancel what the two differ by.
    """
    cells = len(numbers) ** 2
    first, second = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    middle = _middle(numbers, table)
    each_cell = np.arange(cells, dtype=np.int32)
    moments = correlation.moments_of(first, second, each_cell, n_clusters=cells, middle=middle)
    order = np.argsort(numbers)
    of_moments = {
        "pearson": (correlation.pearson, correlation.pearson_interval),
        "mae": (correlation.mae, None),
        "rmse": (correlation.rmse, None),
        "bias": (correlation.bias, None),
        "limit_low": (correlation.lower_limit, None),
        "limit_high": (correlation.upper_limit, None),
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
    one, other = first - middle, second - middle
    columns = np.column_stack([np.ones(cells), one, other, (one + other) ** 2, one**2 + other**2])
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
        "limit_low": correlation.lower_limit,
        "limit_high": correlation.upper_limit,
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


def rank_correlations(
    scores: Floats, cluster_of: NDArray[np.int32] | None, *, resampling: Resampling
) -> dict[str, Statistic]:
    """Return Spearman's rho and Kendall's tau-b of two raters' scores (n, 2) with too many levels for a table.

    They are resampled as everything else is as long as that is quick; beyond, the analytic interval stands alone.
    """
    x, y, n = scores[:, 0], scores[:, 1], len(scores)
    used, places = np.unique(np.arange(n) if cluster_of is None else cluster_of, return_inverse=True)
    clusters = places.astype(np.int32)
    sizes = np.bincount(clusters, minlength=used.size).astype(np.float64)
    measures: list[Measure[Floats]] = []
    if 0 < n <= MOST_RESAMPLED and used.size <= MOST_IN_PAIRS:
        measures.append(
            _rank_measure(
                "spearman",
                lambda drawn: ranks.spearman_of_weights(x, y, drawn, clusters),
                correlation.spearman_interval,
                n=n,
            )
        )
    if 0 < n <= MOST_IN_PAIRS:
        signs = ranks.pair_signs(x, y, clusters, n_clusters=used.size)
        measures.append(
            _rank_measure(
                "kendall_tau_b",
                lambda drawn: ranks.kendall_of_pair_signs(signs, drawn, sizes),
                correlation.kendall_interval,
                n=n,
            )
        )
    # The sums of such a measure are how often each cluster was drawn.
    once = GroupedSums(
        features=np.eye(used.size if measures else 0), copies=np.ones(used.size, dtype=np.int64)
    )
    found = (
        estimates(measures, once, units=once, unpacked=lambda drawn: drawn, n=n, resampling=resampling)
        if measures
        else {}
    )
    flags = (Flag.CLUSTERING_IGNORED,) if resampling.is_clustered else ()
    analytic = {
        "spearman": (stats.spearmanr, correlation.spearman_interval),
        "kendall_tau_b": (stats.kendalltau, correlation.kendall_interval),
    }
    return {
        name: found.get(name) or _with_analytic(of, interval, scores, flags=flags)
        for name, (of, interval) in analytic.items()
    }


def _rank_measure(
    name: str, of: Callable[[Floats], Floats], analytic: _Analytic, *, n: int
) -> Measure[Floats]:
    def of_any_batch(drawn: Floats) -> Floats:
        return of(drawn[np.newaxis])[0] if drawn.ndim == 1 else of(drawn)

    def interval(total: Floats, _units: Floats, _copies: NDArray[np.int64]) -> Interval | None:
        ends = analytic(float(of_any_batch(total)), n)
        return None if ends is None else Interval(low=ends[0], high=ends[1], method=Method.FISHER_Z)

    return Measure(name=name, of=of_any_batch, reason=lambda _: _reason(n), analytic=interval)


def _with_analytic(
    of: Callable[..., Any], analytic: _Analytic, scores: Floats, *, flags: tuple[Flag, ...]
) -> Statistic:
    n = len(scores)
    if n < 2 or np.ptp(scores, axis=0).min() == 0:
        return Undefined(_reason(n))
    value = float(of(scores[:, 0], scores[:, 1]).statistic)
    ends = analytic(value, n)
    if ends is None:
        return Value(value=value, n=n)
    return Value(value=value, n=n, low=ends[0], high=ends[1], method=Method.FISHER_Z, flags=flags)


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


def _middle(numbers: Floats, table: Floats) -> float:
    given = table.sum(axis=0) + table.sum(axis=1)
    return float(given @ numbers / given.sum()) if given.sum() > 0 else 0.0


def _flat(tables: Floats) -> Floats:
    return tables.reshape(*tables.shape[:-2], -1)
