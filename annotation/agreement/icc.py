"""Intraclass correlations of scores: six forms, their F intervals, and sums for resampling over clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from annotation.agreement.ranks import Floats

_NEGLIGIBLE = 1e-12


class IccForm(StrEnum):
    """McGraw and Wong 1996; in Shrout and Fleiss 1979 ICC(1,1), (3,1), (2,1) and the same with k."""

    ICC_1 = "icc_1"
    ICC_C1 = "icc_c1"
    ICC_A1 = "icc_a1"
    ICC_1K = "icc_1k"
    ICC_CK = "icc_ck"
    ICC_AK = "icc_ak"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeanSquares:
    """Analyses of variance of complete matrices: units are rows (MSR), raters columns (MSC).

    Arrays have any batch shape; nan where it is undefined.
    """

    n: Floats
    k: int
    rows: Floats
    columns: Floats
    error: Floats
    within: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IccSums:
    """A complete matrix of scores as sums that add up over clusters.

    `sums` has the shape (C, k + 3): units, the k column sums, the sum of squared row sums, the sum of squares.
    `n_left_out` units lacked a rating and are not in it (listwise).
    """

    k: int
    sums: Floats
    n: int
    n_left_out: int

    def resampled(self, weights: Floats) -> Mapping[IccForm, Floats]:
        """Return each form for multiplicities of clusters (B, C), as arrays (B,); nan where undefined."""
        return icc(mean_squares(weights @ self.sums, k=self.k))

    def mean_squares(self) -> MeanSquares:
        """Return those of the ratings themselves, as arrays without dimensions."""
        return mean_squares(self.sums.sum(axis=0), k=self.k)

    def point(self) -> Mapping[IccForm, float]:
        """Return each form of the ratings themselves, nan where undefined."""
        return {form: float(value) for form, value in icc(self.mean_squares()).items()}


def icc_sums(scores: Floats, cluster_of: NDArray[np.int32], *, n_clusters: int) -> IccSums:
    """Return the sums of the units that every rater scored; `scores` (n, k) has nan where one did not."""
    complete = ~np.isnan(scores).any(axis=1)
    matrix, clusters = scores[complete], cluster_of[complete]
    # From their mean, so that large scores do not cancel; no form minds.
    matrix = matrix - (matrix.mean() if matrix.size else 0.0)
    columns = np.column_stack(
        [np.ones(len(matrix)), matrix, matrix.sum(axis=1) ** 2, (matrix**2).sum(axis=1)]
    )
    summed = [np.bincount(clusters, weights=column, minlength=n_clusters) for column in columns.T]
    return IccSums(
        k=scores.shape[1],
        sums=np.stack(summed, axis=-1),
        n=int(complete.sum()),
        n_left_out=int((~complete).sum()),
    )


def mean_squares(sums: Floats, *, k: int) -> MeanSquares:
    """Return the mean squares of sums with the shape (..., k + 3); nan with fewer than 2 units or raters."""
    n, columns = sums[..., 0], sums[..., 1 : k + 1]
    squared_rows, squares = sums[..., k + 1], sums[..., k + 2]
    usable = (n >= 2) & (k >= 2)
    n = np.where(usable, n, np.nan)
    middle = columns.sum(axis=-1) ** 2 / (n * k)
    total = squares - middle
    between_rows = _or_zero(squared_rows / k - middle, squares)
    between_columns = _or_zero((columns**2).sum(axis=-1) / n - middle, squares)
    within = _or_zero(squares - squared_rows / k, squares)
    error = _or_zero(total - between_rows - between_columns, squares)
    return MeanSquares(
        n=n,
        k=k,
        rows=between_rows / (n - 1),
        columns=between_columns / max(1, k - 1),
        error=error / ((n - 1) * max(1, k - 1)),
        within=within / (n * max(1, k - 1)),
    )


def icc(squares: MeanSquares) -> Mapping[IccForm, Floats]:
    """Return the six forms (McGraw and Wong 1996, tables 4 and 5); negative values are left as they are.

    nan where the denominator is 0: no variation at all, or for the forms of k raters none between units.
    ICC(A,1) above ICC(C,1) is legitimate: raters' means are then closer than chance would have them.
    """
    rows, columns, error, within = squares.rows, squares.columns, squares.error, squares.within
    n, k = squares.n, squares.k
    return {
        IccForm.ICC_1: _ratio(rows - within, rows + (k - 1) * within),
        IccForm.ICC_C1: _ratio(rows - error, rows + (k - 1) * error),
        IccForm.ICC_A1: _ratio(rows - error, rows + (k - 1) * error + k * (columns - error) / n),
        IccForm.ICC_1K: _ratio(rows - within, rows),
        IccForm.ICC_CK: _ratio(rows - error, rows),
        IccForm.ICC_AK: _ratio(
            rows - error, rows + (columns - error) / n, scale=rows + columns / n + error / n
        ),
    }


def icc_intervals(
    squares: MeanSquares, *, confidence: float = 0.95
) -> Mapping[IccForm, tuple[float, float] | None]:
    """Return the F intervals (McGraw and Wong 1996, table 7) of one analysis of variance.

    They take units to be independent. None where a mean square they divide by is 0, or the form is undefined; for
    ICC(A,k) also where an end of ICC(A,1) is so far below 0 that it has no counterpart for k raters.
    """
    n, k = float(squares.n), squares.k
    rows, error, within = float(squares.rows), float(squares.error), float(squares.within)
    found: dict[IccForm, tuple[float, float] | None] = dict.fromkeys(IccForm)
    upper = (1 + confidence) / 2
    if within > 0 and rows > 0:
        low, high = _f_limits(rows / within, first=n - 1, second=n * (k - 1), upper=upper)
        found[IccForm.ICC_1] = (_single(low, k), _single(high, k))
        found[IccForm.ICC_1K] = (1 - 1 / low, 1 - 1 / high)
    if error > 0 and rows > 0:
        low, high = _f_limits(rows / error, first=n - 1, second=(n - 1) * (k - 1), upper=upper)
        found[IccForm.ICC_C1] = (_single(low, k), _single(high, k))
        found[IccForm.ICC_CK] = (1 - 1 / low, 1 - 1 / high)
        absolute = _absolute_interval(squares, upper=upper)
        if absolute is not None:
            found[IccForm.ICC_A1] = absolute
            found[IccForm.ICC_AK] = _stepped_up(absolute, k)
    return found


def _absolute_interval(squares: MeanSquares, *, upper: float) -> tuple[float, float] | None:
    """ICC(A,1) with Satterthwaite's degrees of freedom."""
    n, k = float(squares.n), squares.k
    rows, columns, error = float(squares.rows), float(squares.columns), float(squares.error)
    value = float(icc(squares)[IccForm.ICC_A1])
    if not value < 1:
        return None
    a = k * value / (n * (1 - value))
    b = 1 + k * value * (n - 1) / (n * (1 - value))
    freedom = (a * columns + b * error) ** 2 / (
        (a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    )
    if not freedom > 0:
        return None
    wide = float(stats.f.ppf(upper, n - 1, freedom))
    narrow = float(stats.f.ppf(upper, freedom, n - 1))
    noise = k * columns + (k * n - k - n) * error
    # Divided by `wide`, which with hardly any freedom is too large for a float.
    low = n * (rows / wide - error) / (noise + n * rows / wide)
    high = n * (narrow * rows - error) / (noise + n * narrow * rows)
    return low, high


def _f_limits(ratio: float, *, first: float, second: float, upper: float) -> tuple[float, float]:
    wide, narrow = stats.f.ppf(upper, first, second), stats.f.ppf(upper, second, first)
    return float(ratio / wide), float(ratio * narrow)


def _single(ratio: float, k: int) -> float:
    return (ratio - 1) / (ratio + k - 1)


def _stepped_up(singles: tuple[float, float], k: int) -> tuple[float, float] | None:
    """Spearman and Brown's formula, which rises up to its pole at -1 / (k - 1) and starts anew beyond it."""
    low, high = singles
    if 1 + (k - 1) * min(low, high) <= 0:
        return None
    return k * low / (1 + (k - 1) * low), k * high / (1 + (k - 1) * high)


def _or_zero(sums: Floats, scale: Floats) -> Floats:
    """What only rounding leaves of a sum of squares is 0."""
    return np.where(np.isnan(sums) | (sums > _NEGLIGIBLE * scale), sums, 0.0)


def _ratio(numerator: Floats, denominator: Floats, *, scale: Floats | float = 0.0) -> Floats:
    # A denominator of either sign is a value; only 0, or what rounding leaves of parts of that scale, is none.
    is_none = np.abs(denominator) <= _NEGLIGIBLE * scale
    ratio: Floats = numerator / np.where(is_none, np.nan, denominator)
    return ratio
