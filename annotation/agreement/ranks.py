"""Rank correlations that can be resampled over clusters without a loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

_CELLS_AT_ONCE = 4_000_000


def spearman_of_tables(tables: Floats) -> Floats:
    """Return Spearman's rho with mid-ranks for ties, for cross tables of ordered values.

    `tables` has the shape (..., q, r) and holds counts; the result has the shape (...,) and is nan where a
    margin has one value only. It is Pearson's correlation of the mid-ranks (Kendall 1948, chapter 3).
    """
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    middle = (rows.sum(axis=-1)[..., None] + 1) / 2
    of_rows = np.where(rows > 0, _mid_ranks(rows) - middle, 0.0)
    of_columns = np.where(columns > 0, _mid_ranks(columns) - middle, 0.0)
    covariance = ((tables @ of_columns[..., None])[..., 0] * of_rows).sum(axis=-1)
    spread = (rows * of_rows**2).sum(axis=-1) * (columns * of_columns**2).sum(axis=-1)
    return _ratio(covariance, spread)


def kendall_of_tables(tables: Floats) -> Floats:
    """Return Kendall's tau-b for cross tables of ordered values.

    `tables` has the shape (..., q, r); the result has the shape (...,), nan where a margin has one value.
    tau_b = (C - D) / sqrt((n0 - n1) (n0 - n2)) (Kendall 1945, Biometrika 33).
    """
    above = np.flip(np.cumsum(np.flip(tables, axis=-2), axis=-2), axis=-2) - tables
    right = np.flip(np.cumsum(np.flip(above, axis=-1), axis=-1), axis=-1) - above
    left = np.cumsum(above, axis=-1) - above
    difference = (tables * (right - left)).sum(axis=(-2, -1))
    total = _pairs(tables.sum(axis=(-2, -1)))
    tied_rows = _pairs(tables.sum(axis=-1)).sum(axis=-1)
    tied_columns = _pairs(tables.sum(axis=-2)).sum(axis=-1)
    return _ratio(difference, (total - tied_rows) * (total - tied_columns))


def spearman_of_weights(x: Floats, y: Floats, weights: Floats, cluster_of: NDArray[np.int32]) -> Floats:
    """Return Spearman's rho of units that occur as often as their cluster does.

    `x`, `y` and `cluster_of` have the shape (n,), `weights` (B, C); the result has the shape (B,). For values
    with so many levels that their cross table is mostly empty.
    """
    step = max(1, _CELLS_AT_ONCE // max(1, x.size))
    parts = [
        _spearman(x, y, weights[begin : begin + step][:, cluster_of])
        for begin in range(0, len(weights), step)
    ]
    return np.concatenate(parts)


def pair_signs(x: Floats, y: Floats, cluster_of: NDArray[np.int32], *, n_clusters: int) -> Floats:
    """Return what Kendall's tau-b needs of each two clusters, with the shape (3, C, C).

    Over ordered pairs (i in c, j in d): the sum of sign(x_i - x_j) sign(y_i - y_j), the number tied in x and
    the number tied in y. A resample with multiplicities w has the sums w' M w. Work is quadratic in units.
    """
    order = np.argsort(cluster_of, kind="stable")
    x, y = x[order], y[order]
    used, starts = np.unique(cluster_of[order], return_index=True)
    among_used = np.zeros((3, used.size, used.size))
    owner = np.repeat(np.arange(used.size), np.diff(np.append(starts, x.size)))
    step = max(1, _CELLS_AT_ONCE // max(1, x.size))
    for begin in range(0, x.size, step):
        part = slice(begin, begin + step)
        signs_x, signs_y = np.sign(x[part, None] - x), np.sign(y[part, None] - y)
        cells = np.stack([signs_x * signs_y, signs_x == 0, signs_y == 0])
        owners, first = np.unique(owner[part], return_index=True)
        among_used[:, owners] += np.add.reduceat(np.add.reduceat(cells, starts, axis=2), first, axis=1)
    sums = np.zeros((3, n_clusters, n_clusters))
    sums[:, used[:, None], used] = among_used
    return sums


def kendall_of_pair_signs(signs: Floats, weights: Floats, sizes: Floats) -> Floats:
    """Return tau-b of resamples: `signs` (3, C, C), `weights` (B, C), `sizes` (C,) units a cluster; (B,).

    A unit drawn twice is tied with its copy.
    """
    concordance, ties_x, ties_y = ((weights @ signs) * weights).sum(axis=-1)
    units = weights @ sizes
    # Ordered pairs, so that everything is twice what the formula has; a unit with itself is no pair.
    all_pairs = units * (units - 1)
    not_tied_x = all_pairs - (ties_x - units)
    not_tied_y = all_pairs - (ties_y - units)
    return _ratio(concordance, not_tied_x * not_tied_y)


def _spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    ranks_x, ranks_y = _weighted_ranks(x, weights), _weighted_ranks(y, weights)
    middle = (weights.sum(axis=-1, keepdims=True) + 1) / 2
    ranks_x -= middle
    ranks_y -= middle
    covariance = (weights * ranks_x * ranks_y).sum(axis=-1)
    spread = (weights * ranks_x**2).sum(axis=-1) * (weights * ranks_y**2).sum(axis=-1)
    return _ratio(covariance, spread)


def _mid_ranks(counts: Floats) -> Floats:
    return np.cumsum(counts, axis=-1) - (counts - 1) / 2


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    distinct, level_of = np.unique(values, return_inverse=True)
    order = np.argsort(level_of, kind="stable")
    starts = np.searchsorted(level_of[order], np.arange(distinct.size))
    counts = np.add.reduceat(weights[:, order], starts, axis=-1)
    return _mid_ranks(counts)[:, level_of]


def _pairs(counts: Floats) -> Floats:
    return counts * (counts - 1) / 2


def _ratio(numerator: Floats, squared: Floats) -> Floats:
    """The numerator by the root of `squared`, nan where nothing varies; never beyond 1 by rounding."""
    defined = squared > 1e-9
    ratio = numerator / np.sqrt(np.where(defined, squared, np.nan))
    clipped: Floats = np.clip(ratio, -1.0, 1.0)
    return clipped
