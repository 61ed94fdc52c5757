"""Variances of weighted figures whose outcomes share projects, and the intervals made of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

type Floats = NDArray[np.float64]

CONFIDENCE = 0.95
_MULTIPLICITIES = 4_000_000


class Bounds(NamedTuple):
    """The two ends of intervals, each of the shape of the values; nan where there is none."""

    low: Floats
    high: Floats


def sums_by_group(values: Floats, group: NDArray[np.int64], *, n_groups: int) -> Floats:
    """Return the sums, (..., n_groups), of values, (..., N), over the groups, (N,), none of them empty."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_groups))
    if (order[1:] > order[:-1]).all():
        sorted_values = values
    else:
        sorted_values = values[..., order]
    sums: Floats = np.add.reduceat(sorted_values, starts, axis=-1)
    return sums


def variance_over_clusters(influence: Floats, share: Floats) -> Floats:
    """Return the variance, (...), of a figure to which clusters add `influence`, (..., C), which sums to 0.

    (C - 1) / C * sum (u_c / (1 - h_c))^2 with h_c = `share`, (..., C), of the cluster in the weights that
    the figure rests on: the sandwich whose small-sample correction makes it the jackknife over clusters
    for a weighted mean (CR3; Bell & McCaffrey 2002, Survey Methodology 28; Cameron & Miller 2015, Journal
    of Human Resources 50, section VI.B). nan where one cluster is everything.
    """
    n_clusters = influence.shape[-1]
    rest = 1.0 - share
    lifted = np.divide(influence, rest, out=np.full_like(influence, np.nan), where=rest > 1e-9)
    variance: Floats = (n_clusters - 1) / n_clusters * (lifted * lifted).sum(axis=-1)
    return np.where(n_clusters > 1, variance, np.nan)


def variance_of_draw(
    parts: Floats, labelled: Floats, probability: Floats, stratum: NDArray[np.int64]
) -> Floats:
    """Return the variance, (...), of a sum over what was drawn, from the drawing alone.

    `parts`, (..., N): what each adds, already divided by its chance, 0 where it was not drawn; `labelled`,
    (..., N): 1 where it was; `probability`, (..., N) or (N,): its chance; `stratum`, (N,).
    Sum over strata of n_h / (n_h - 1) * sum (1 - p_i) (c_i - mean_h)^2: exact for a simple random sample of
    each stratum, close to it for unequal chances (Cochran 1977, Sampling Techniques, section 5.3; Deville
    1999, Survey Methodology 25). A stratum that gave one is not centred, which can only widen. What is
    labelled for certain adds nothing.
    """
    n_strata = int(stratum.max()) + 1
    left = labelled * (1.0 - probability)

    def summed(values: Floats) -> Floats:
        return sums_by_group(np.broadcast_to(values, parts.shape), stratum, n_groups=n_strata)

    drawn = summed(labelled)
    several = drawn > 1
    mean = np.where(several, summed(parts) / np.maximum(drawn, 1.0), 0.0)
    squares = summed(left * parts * parts) - 2 * mean * summed(left * parts) + mean * mean * summed(left)
    lift = np.where(several, drawn / np.maximum(drawn - 1.0, 1.0), 1.0)
    variance: Floats = np.maximum((lift * squares).sum(axis=-1), 0.0)
    return variance


def plain_interval(value: Floats, se: Floats, df: Floats) -> Bounds:
    """Return value -+ t se, cut off at 0 and 1; nan where there are no degrees of freedom."""
    reach = t_quantile(df) * se
    return Bounds(np.clip(value - reach, 0.0, 1.0), np.clip(value + reach, 0.0, 1.0))


def logit_interval(value: Floats, se: Floats, df: Floats) -> Bounds:
    """Return the interval that is symmetric in log(value / (1 - value)), and the plain one outside (0, 1).

    Its ends lie in (0, 1), and near them it is as skewed as a share is. (Korn & Graubard 1998, Survey
    Methodology 24, for shares from clustered samples)
    """
    plain = plain_interval(value, se, df)
    inside = (value > 0) & (value < 1)
    share = np.where(inside, value, 0.5)
    middle = np.log(share / (1 - share))
    reach = t_quantile(df) * se / (share * (1 - share))
    return Bounds(
        np.where(inside, _expit(middle - reach), plain.low),
        np.where(inside, _expit(middle + reach), plain.high),
    )


def t_quantile(df: Floats) -> Floats:
    """Return the t quantile of the 95% interval, (...), for degrees of freedom, (...); nan below 1."""
    quantile: Floats = np.where(df >= 1, stats.t.ppf(0.5 + CONFIDENCE / 2, np.maximum(df, 1)), np.nan)
    return quantile


def resampled_totals(sums: Floats, *, resamples: int, seed: int) -> Floats:
    """Return the totals, (resamples, K), of clusters' sums, (C, K), over clusters drawn with replacement."""
    rng = np.random.default_rng(seed)
    n_clusters = len(sums)
    chances = np.full(n_clusters, 1 / n_clusters)
    # A few million multiplicities at a time: without projects every outcome is its own.
    at_once = max(1, _MULTIPLICITIES // n_clusters)
    pieces = [min(at_once, resamples - start) for start in range(0, resamples, at_once)]
    return np.concatenate([rng.multinomial(n_clusters, chances, size=size) @ sums for size in pieces])


def _expit(logits: Floats) -> Floats:
    shares: Floats = 0.5 * (1.0 + np.tanh(logits / 2))
    return shares
