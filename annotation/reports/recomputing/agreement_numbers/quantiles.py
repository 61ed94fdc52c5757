"""Quantiles and tails of distributions by their definitions, because numpy has none."""

from __future__ import annotations

from collections.abc import Callable
from math import erfc, exp, lgamma, log, sqrt
from statistics import NormalDist

Z = NormalDist().inv_cdf(0.975)
_TINY = 1e-300


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's score interval: where the share lies z standard errors from what it would be."""
    centre = (2 * n * share + Z * Z) / (2 * (n + Z * Z))
    reach = Z * sqrt(4 * n * share * (1 - share) + Z * Z) / (2 * (n + Z * Z))
    return (
        0.0 if share == 0 else max(0.0, centre - reach),
        1.0 if share == 1 else min(1.0, centre + reach),
    )


def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's distribution for p above 1/2."""
    # P(|T| > t) is the beta tail at df / (df + t^2).
    return _solved(lambda t: 1 - beta_share(df / (df + t * t), df / 2, 0.5) / 2, p)


def f_quantile(p: float, first: float, second: float) -> float:
    """Return the quantile of the F distribution."""
    return _solved(
        lambda f: beta_share(first * f / (first * f + second), first / 2, second / 2) if f > 0 else 0.0,
        p,
    )


def chi2_tail(chi2: float) -> float:
    """Return the chance of more with one degree of freedom."""
    return erfc(sqrt(chi2 / 2))


def half_binomial(k: int, n: int) -> tuple[float, float]:
    """Return the chances of at most k, and of exactly k heads in n tosses of a fair coin."""
    if n == 0:
        return 1.0, 1.0
    exactly = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2))
    return (1.0 if k >= n else beta_share(0.5, n - k, k + 1)), exactly


def beta_share(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction (Abramowitz, Stegun 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    # Lentz's way from the front: value = product of the ratios of numerators to denominators.
    upper, lower, value = 1.0, 0.0, 1.0
    for step in range(100_000):
        m = step // 2
        if step == 0:
            term = 1.0
        elif step % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        lower = 1 / _not_zero(1 + term * lower)
        upper = _not_zero(1 + term / upper)
        value *= upper * lower
        if abs(upper * lower - 1) < 1e-16:
            break
    return front * (value - 1)


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _solved(share_below: Callable[[float], float], p: float) -> float:
    """Bisect for the point below which the share p lies."""
    low, high = 0.0, 1.0
    while share_below(high) < p:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if share_below(middle) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2
