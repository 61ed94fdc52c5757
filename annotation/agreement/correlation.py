"""How close two raters' scores are: correlations, errors, limits of agreement, concordance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from annotation.agreement.ranks import (
    Floats,
    kendall_of_pair_signs,
    kendall_of_tables,
    pair_signs,
    spearman_of_tables,
    spearman_of_weights,
)

MOST_LEVELS_IN_A_TABLE = 64
MOST_UNITS_IN_PAIRS = 3000
_Z = float(stats.norm.ppf(0.975))
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsOfAgreement:
    """Bias (first minus second), and where 95% of the differences lie (Bland and Altman 1986).

    The intervals of the limits are those of Bland and Altman 1999, section 2.1, as (low, high).
    """

    n: int
    bias: float
    deviation: float
    low: float
    high: float
    interval_of_low: tuple[float, float]
    interval_of_high: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreSums:
    """Two raters' scores as sums that add up over clusters, so that a resample is one matrix product.

    `moments` has the shape (C, 9). Ranks need more: cross tables with the shape (C, q, r) where values have
    few levels, else the units themselves and, for Kendall, signs of pairs with the shape (3, C, C).
    """

    x: Floats
    y: Floats
    cluster_of: NDArray[np.int32]
    sizes: Floats
    moments: Floats
    tables: Floats | None
    signs: Floats | None

    def resampled(self, weights: Floats) -> Mapping[str, Floats]:
        """Return each statistic for multiplicities of clusters, with the shape (B, C), as arrays (B,).

        Names are pearson, spearman, kendall_tau_b, mae, rmse, bias and ccc; nan where undefined. Kendall's
        tau-b is left out where there are too many levels and units to resample it.
        """
        moments = weights @ self.moments
        found = {
            "pearson": pearson(moments),
            "mae": mae(moments),
            "rmse": rmse(moments),
            "bias": bias(moments),
            "ccc": ccc(moments),
        }
        if self.tables is not None:
            n_clusters, *levels = self.tables.shape
            tables = (weights @ self.tables.reshape(n_clusters, -1)).reshape(-1, *levels)
            return found | {
                "spearman": spearman_of_tables(tables),
                "kendall_tau_b": kendall_of_tables(tables),
            }
        found["spearman"] = spearman_of_weights(self.x, self.y, weights[:, self.cluster_of])
        if self.signs is not None:
            found["kendall_tau_b"] = kendall_of_pair_signs(self.signs, weights, self.sizes)
        return found

    def point(self) -> Mapping[str, float]:
        """Return each statistic of the ratings themselves, nan where undefined."""
        once = {
            name: float(found[0]) for name, found in self.resampled(np.ones((1, self.sizes.size))).items()
        }
        if "kendall_tau_b" not in once:
            once["kendall_tau_b"] = float(stats.kendalltau(self.x, self.y).statistic)
        return once


def score_sums(x: Floats, y: Floats, cluster_of: NDArray[np.int32], *, n_clusters: int) -> ScoreSums:
    """Return the sums of two raters' scores; `x`, `y`, `cluster_of` have the shape (n,), nothing missing."""
    _, level_x = np.unique(x, return_inverse=True)
    _, level_y = np.unique(y, return_inverse=True)
    levels = (int(level_x.max(initial=-1)) + 1, int(level_y.max(initial=-1)) + 1)
    tables = signs = None
    if x.size and max(levels) <= MOST_LEVELS_IN_A_TABLE:
        cells = (cluster_of.astype(np.int64) * levels[0] + level_x) * levels[1] + level_y
        counts = np.bincount(cells, minlength=n_clusters * levels[0] * levels[1])
        tables = counts.reshape(n_clusters, *levels).astype(np.float64)
    elif 0 < x.size <= MOST_UNITS_IN_PAIRS:
        signs = pair_signs(x, y, cluster_of, n_clusters=n_clusters)
    return ScoreSums(
        x=x,
        y=y,
        cluster_of=cluster_of,
        sizes=np.bincount(cluster_of, minlength=n_clusters).astype(np.float64),
        moments=moments_of(x, y, cluster_of, n_clusters=n_clusters),
        tables=tables,
        signs=signs,
    )


def moments_of(x: Floats, y: Floats, cluster_of: NDArray[np.int32], *, n_clusters: int) -> Floats:
    """Return per cluster n, sums of x, y, x^2, y^2, xy, |x - y|, x - y, (x - y)^2: shape (C, 9).

    x and y are taken from their common mean, so that large scores do not cancel; no statistic minds.
    """
    middle = (x.mean() + y.mean()) / 2 if x.size else 0.0
    u, v, difference = x - middle, y - middle, x - y
    columns = (np.ones_like(u), u, v, u * u, v * v, u * v, np.abs(difference), difference, difference**2)
    return np.stack(
        [np.bincount(cluster_of, weights=each, minlength=n_clusters) for each in columns], axis=-1
    )


def pearson(moments: Floats) -> Floats:
    """Return Pearson's correlation; moments (..., 9) to (...,); nan with fewer than 2 units or no spread."""
    variance_x, variance_y, covariance = _spread(moments)
    product = variance_x * variance_y
    ratio: Floats = covariance / np.sqrt(np.where(product > 0, product, np.nan))
    return np.clip(ratio, -1.0, 1.0)


def ccc(moments: Floats) -> Floats:
    """Return Lin's concordance with population variances (Lin 1989); (..., 9) to (...,).

    It equals quadratic-weighted kappa of the same scores. nan where both raters gave one and the same value.
    """
    variance_x, variance_y, covariance = _spread(moments)
    n = _units(moments)
    apart = ((moments[..., 1] - moments[..., 2]) / n) ** 2
    below = variance_x + variance_y + apart
    result: Floats = 2 * covariance / np.where(below > 0, below, np.nan)
    return result


def mae(moments: Floats) -> Floats:
    """Return the mean absolute difference; (..., 9) to (...,)."""
    mean: Floats = moments[..., 6] / _units(moments)
    return mean


def bias(moments: Floats) -> Floats:
    """Return the mean of first minus second; (..., 9) to (...,)."""
    mean: Floats = moments[..., 7] / _units(moments)
    return mean


def rmse(moments: Floats) -> Floats:
    """Return the root of the mean squared difference; (..., 9) to (...,)."""
    root: Floats = np.sqrt(moments[..., 8] / _units(moments))
    return root


def limits_of_agreement(x: Floats, y: Floats) -> LimitsOfAgreement | None:
    """Return the limits of agreement of two raters' scores, None with fewer than three units."""
    n = x.size
    if n < 3:
        return None
    difference = x - y
    middle, deviation = float(difference.mean()), float(difference.std(ddof=1))
    margin = float(stats.t.ppf(0.975, n - 1)) * deviation * float(np.sqrt(1 / n + _Z**2 / (2 * (n - 1))))
    low, high = middle - _Z * deviation, middle + _Z * deviation
    return LimitsOfAgreement(
        n=n,
        bias=middle,
        deviation=deviation,
        low=low,
        high=high,
        interval_of_low=(low - margin, low + margin),
        interval_of_high=(high - margin, high + margin),
    )


def pearson_interval(value: float, n: int) -> tuple[float, float] | None:
    """Return the interval of Fisher's z, standard error 1 / sqrt(n - 3); None with fewer than 4 units."""
    return _fisher(value, variance=1 / (n - 3)) if n > 3 else None


def spearman_interval(value: float, n: int) -> tuple[float, float] | None:
    """Return the interval of Fisher's z with the variance of Bonett and Wright 2000, (1 + rho^2/2) / (n - 3)."""
    return _fisher(value, variance=(1 + value**2 / 2) / (n - 3)) if n > 3 else None


def kendall_interval(value: float, n: int) -> tuple[float, float] | None:
    """Return the interval of Fisher's z, variance 0.437 / (n - 4) (Fieller, Hartley and Pearson 1957)."""
    return _fisher(value, variance=0.437 / (n - 4)) if n > 4 else None


def _fisher(value: float, *, variance: float) -> tuple[float, float] | None:
    if not abs(value) < 1 - _NEGLIGIBLE:
        return None
    centre, margin = np.arctanh(value), _Z * np.sqrt(variance)
    return float(np.tanh(centre - margin)), float(np.tanh(centre + margin))


def _units(moments: Floats) -> Floats:
    return np.where(moments[..., 0] > 0, moments[..., 0], np.nan)


def _spread(moments: Floats) -> tuple[Floats, Floats, Floats]:
    """Population variances and covariance; what only rounding leaves of a constant is 0."""
    n = _units(moments)
    mean_x, mean_y = moments[..., 1] / n, moments[..., 2] / n
    square_x, square_y = moments[..., 3] / n, moments[..., 4] / n
    variance_x, variance_y = square_x - mean_x**2, square_y - mean_y**2
    covariance = moments[..., 5] / n - mean_x * mean_y
    return (
        np.where(variance_x > _NEGLIGIBLE * square_x, variance_x, 0.0),
        np.where(variance_y > _NEGLIGIBLE * square_y, variance_y, 0.0),
        covariance,
    )
