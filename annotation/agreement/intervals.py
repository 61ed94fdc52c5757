"""How far a statistic may be from the truth: resampled over clusters, or from a formula."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from annotation.agreement.sums import GroupedSums
from annotation.agreement.values import Flag, Interval, Method
from annotation.agreement.weights import Floats

type Statistics = Callable[[Floats], Floats]
"""Takes packed sums (B, F) and returns statistics (B, S), nan where undefined."""

LEVEL = 0.95
RESAMPLES = 2000
FEW_CLUSTERS = 20

_CHUNK_BYTES = 48 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """The 2.5% and 97.5% points of one statistic over resamples; None where no resample was defined."""

    low: float | None
    high: float | None
    resamples: int
    undefined: int

    @property
    def has_collapsed(self) -> bool:
        """Whether every resample gave the same value."""
        return self.low is not None and self.high is not None and self.high - self.low < 1e-12


def resampled(sums: GroupedSums, statistics: Statistics, *, resamples: int, seed: int) -> Floats:
    """Return statistics of clusters drawn with replacement, as many as there are: (resamples, S).

    The cluster bootstrap (Efron and Tibshirani 1993, chapter 6; clusters as sampling units: Davison and Hinkley
    1997, section 3.8). The same seed gives the same draws whatever the statistics.
    """
    return np.concatenate([statistics(sums.weighted(drawn)) for drawn in _draws(sums, resamples, seed)])


def percentiles(samples: Floats) -> list[Percentiles]:
    """Return the 95% percentile interval of each statistic: (B, S) -> S; undefined resamples are counted, not used."""
    is_undefined = np.isnan(samples)
    undefined = is_undefined.sum(axis=0)
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    ends = np.full((2, samples.shape[1]), np.nan)
    whole = undefined == 0
    if samples.size and whole.any():
        ends[:, whole] = np.quantile(samples[:, whole], tails, axis=0)
    for column in np.flatnonzero(~whole & (undefined < len(samples))):
        ends[:, column] = np.quantile(samples[~is_undefined[:, column], column], tails)
    return [
        Percentiles(
            low=None if np.isnan(low) else float(low),
            high=None if np.isnan(high) else float(high),
            resamples=len(samples),
            undefined=int(missing),
        )
        for low, high, missing in zip(*ends, undefined, strict=True)
    ]


def jackknife_se(sums: GroupedSums, statistics: Statistics) -> Floats:
    """Return the delete-one-cluster standard error of each statistic: (S,), nan where one deletion is undefined.

    sqrt((C - 1) / C * sum of (t_i - mean t)^2) (Efron and Tibshirani 1993, formula 11.5).
    """
    n_clusters = sums.n_clusters
    if n_clusters < 2:
        return np.full(statistics(sums.total()[np.newaxis]).shape[1], np.nan)
    total, rows = sums.total(), sums.rows()
    chunk = max(1, _CHUNK_BYTES // (8 * max(total.size, 1)))
    left = np.concatenate(
        [statistics(total - rows[start : start + chunk]) for start in range(0, len(rows), chunk)]
    )
    shares = sums.copies[:, np.newaxis] / n_clusters
    spread = (shares * (left - (shares * left).sum(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt((n_clusters - 1) * spread))


def normal(value: float, se: float, *, method: str, flags: tuple[Flag, ...] = ()) -> Interval:
    """Return value +- z se."""
    reach = float(stats.norm.ppf((1 + LEVEL) / 2)) * se
    return Interval(low=value - reach, high=value + reach, method=method, flags=flags)


def student(
    value: float, se: float, *, df: float, method: str, most: float = 1.0, flags: tuple[Flag, ...] = ()
) -> Interval:
    """Return value +- t se with df degrees of freedom, cut off at `most` as Gwet's coefficients are."""
    reach = float(stats.t.ppf((1 + LEVEL) / 2, df)) * se
    return Interval(low=value - reach, high=min(most, value + reach), method=method, flags=flags)


def wilson(share: float, n: float, *, method: str = Method.WILSON, flags: tuple[Flag, ...] = ()) -> Interval:
    """Return Wilson's score interval of a share of n (Wilson 1927); it never collapses at 0 or 1.

    Raises ValueError for n below 1.
    """
    if n < 1:
        raise ValueError(f"A share of {n} units has no interval; give at least one unit.")
    z2 = float(stats.norm.ppf((1 + LEVEL) / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low, high = max(0.0, middle - float(reach)), min(1.0, middle + float(reach))
    return Interval(
        low=0.0 if share == 0 else low, high=1.0 if share == 1 else high, method=method, flags=flags
    )


def rule_of_three(n: float) -> float:
    """Return the largest share that no case in n units leaves plausible at 95%, 3 / n (Hanley, Lippman-Hand 1983)."""
    return min(1.0, 3.0 / n)


def wald_se(share: float, n: float) -> float:
    """Return sqrt(p (1 - p) / n), which takes every unit to be independent."""
    return float(np.sqrt(share * (1 - share) / n))


def ratio_se(numerators: Floats, denominators: Floats) -> float:
    """Return the linearised standard error of sum(y) / sum(x) over clusters, nan for fewer than two.

    SE^2 = C / (C - 1) * sum of (y - R x)^2 / (sum x)^2 (Cochran 1977, section 6.3).
    """
    n_clusters = len(numerators)
    if n_clusters < 2:
        return float("nan")
    ratio = numerators.sum() / denominators.sum()
    residuals = ((numerators - ratio * denominators) ** 2).sum()
    return float(np.sqrt(n_clusters / (n_clusters - 1) * residuals) / denominators.sum())


def design_effect(numerators: Floats, denominators: Floats) -> float:
    """Return how much larger the variance of a share over clusters is than over independent units; nan if unknown."""
    naive = wald_se(float(numerators.sum() / denominators.sum()), float(denominators.sum()))
    return (ratio_se(numerators, denominators) / naive) ** 2 if naive > 0 else float("nan")


def _draws(sums: GroupedSums, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield how often each row is drawn, in chunks of (b, K): multinomial over rows by their copies."""
    random = np.random.default_rng(seed)
    n_rows, n_features = sums.features.shape
    chunk = max(1, _CHUNK_BYTES // (8 * max(n_rows, n_features, 1)))
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        if sums.n_clusters == n_rows:
            # Counting equal chances is five times as fast as drawing a binomial for each.
            chosen = random.integers(n_rows, size=(size, n_rows)) + np.arange(size)[:, np.newaxis] * n_rows
            drawn = np.bincount(chosen.ravel(), minlength=size * n_rows).reshape(size, n_rows)
        else:
            drawn = random.multinomial(sums.n_clusters, sums.copies / sums.n_clusters, size=size)
        yield drawn.astype(np.float64)
