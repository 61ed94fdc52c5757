"""How close two raters' scores are: correlations, errors, limits of agreement, concordance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from annotation.agreement.ranks import Floats

_Z = float(stats.norm.ppf(0.975))
_NEGLIGIBLE = 1e-12


def moments_of(
    x: Floats, y: Floats, cluster_of: NDArray[np.int32], *, n_clusters: int, middle: float | None = None
) -> Floats:
    """Return per cluster n, sums of x, y, x^2, y^2, xy, |x - y|, x - y, (x - y)^2: shape (C, 9).

    x and y are taken from `middle`, their common mean unless given, so that large scores do not cancel; no
    statistic minds.
    """
    if middle is None:
        middle = float(x.mean() + y.mean()) / 2 if x.size else 0.0
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


def lower_limit(moments: Floats) -> Floats:
    """Return the lower limit of agreement, bias - 1.96 s of the differences (Bland and Altman 1986).

    (..., 9) to (...,); nan with fewer than 2 units.
    """
    limit: Floats = bias(moments) - _Z * _deviation(moments)
    return limit


def upper_limit(moments: Floats) -> Floats:
    """Return the upper limit of agreement, bias + 1.96 s; (..., 9) to (...,); nan with fewer than 2 units."""
    limit: Floats = bias(moments) + _Z * _deviation(moments)
    return limit


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


def _deviation(moments: Floats) -> Floats:
    """The standard deviation of the differences, with n - 1."""
    n = np.where(moments[..., 0] > 1, moments[..., 0], np.nan)
    squares = moments[..., 8] - moments[..., 7] ** 2 / n
    # The root would turn what rounding leaves of no spread into a spread.
    squares = np.where(squares > _NEGLIGIBLE * moments[..., 8], squares, 0.0)
    deviation: Floats = np.sqrt(squares / np.where(n > 1, n - 1, np.nan))
    return deviation


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
