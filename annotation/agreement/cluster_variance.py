"""Variances of weighted figures whose outcomes share projects, and the intervals made of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

type Floats = NDArray[np.float64]
type Indices = NDArray[np.int64]

CONFIDENCE = 0.95
_MULTIPLICITIES = 4_000_000


class Bounds(NamedTuple):
    """The two ends of intervals, each of the shape of the values; nan where there is none."""

    low: Floats
    high: Floats


def sums_by_group(values: Floats, group: Indices, *, n_groups: int) -> Floats:
    """Return the sums, (..., n_groups), of values, (..., N), over groups, (N,) or (..., N)."""
    shape = values.shape[:-1]
    # Each sample of a batch has its own range of groups, so that one count serves all.
    first = n_groups * np.arange(int(np.prod(shape)), dtype=np.int64).reshape(*shape, 1)
    places = np.broadcast_to(group + first, values.shape).ravel()
    sums = np.bincount(places, weights=values.ravel(), minlength=n_groups * first.size)
    return sums.reshape(*shape, n_groups)


def of_group(values: Floats, group: Indices) -> Floats:
    """Return for each outcome, (..., N), the value, (..., n_groups), of its group, (N,) or (..., N)."""
    if group.ndim == 1:
        return values[..., group]
    return np.take_along_axis(values, group, axis=-1)


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


def variance_of_draw(parts: Floats, labelled: Floats, probability: Floats, stratum: Indices) -> Floats:
    """Return the variance, (...), of a sum over what was drawn, from the drawing alone.

    `parts`, (..., N): what each adds, already divided by its chance, 0 where it was not drawn; `labelled`,
    (..., N): 1 where it was; `probability`, (..., N): its chance; `stratum`, (N,) or (..., N).
    Sum over strata of n_h / (n_h - 1) * sum (1 - p_i) (c_i - mean_h)^2: exact for a simple random sample of
    each stratum, close to it for unequal chances (Cochran 1977, Sampling Techniques, section 5.3; Deville
    1999, Survey Methodology 25). A stratum that gave one is not centred, which can only widen. What is
    labelled for certain adds nothing.
    """
    centred = labelled * (parts - of_group(_stratum_means(parts, labelled, stratum), stratum))
    lift = of_group(_lift(labelled, stratum), stratum)
    variance: Floats = (lift * (1.0 - probability) * centred * centred).sum(axis=-1)
    return variance


def within_strata(parts: Floats, counts: Floats, labelled: Floats, stratum: Indices) -> Floats:
    """Return what outcomes add, (..., N), to a sum over what was drawn when strata give fixed numbers.

    `parts` as in `variance_of_draw`; `counts`, (..., N): 1 over the chance of what was drawn, else 0. Since
    a stratum stands for as many outcomes as it has, what was drawn adds only its departure from the mean
    of its stratum, and every outcome, drawn or not, adds that mean. (Deville 1999, Survey Methodology 25)
    """
    n_strata = int(stratum.max()) + 1
    size = sums_by_group(counts, stratum, n_groups=n_strata)
    several = sums_by_group(labelled, stratum, n_groups=n_strata) > 1
    means = np.where(several, sums_by_group(parts, stratum, n_groups=n_strata) / np.maximum(size, 1.0), 0.0)
    mean = of_group(means, stratum)
    drawn = labelled.sum(axis=-1, keepdims=True)
    # One mean is that of the estimate itself, which the variance over clusters allows for.
    lift = np.sqrt(of_group(_lift(labelled, stratum), stratum) * (drawn - 1.0) / drawn)
    lift = np.where(several.any(axis=-1, keepdims=True), lift, 1.0)
    added: Floats = lift * (parts - counts * mean) + mean
    return added


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
    # Clusters with the same sums are drawn as one kind: without projects, every outcome is a cluster and there
    # are few kinds.
    kinds, counts = np.unique(sums, axis=0, return_counts=True)
    at_once = max(1, _MULTIPLICITIES // len(kinds))
    pieces = [min(at_once, resamples - start) for start in range(0, resamples, at_once)]
    chances = counts / len(sums)
    return np.concatenate([rng.multinomial(len(sums), chances, size=size) @ kinds for size in pieces])


def _stratum_means(parts: Floats, labelled: Floats, stratum: Indices) -> Floats:
    """Return the mean of what was drawn in each stratum, (..., H); 0 where that was one or none."""
    n_strata = int(stratum.max()) + 1
    drawn = sums_by_group(labelled, stratum, n_groups=n_strata)
    sums = sums_by_group(labelled * parts, stratum, n_groups=n_strata)
    means: Floats = np.where(drawn > 1, sums / np.maximum(drawn, 1.0), 0.0)
    return means


def _lift(labelled: Floats, stratum: Indices) -> Floats:
    """Return n / (n - 1) of each stratum, (..., H), and 1 where it gave one or none."""
    drawn = sums_by_group(labelled, stratum, n_groups=int(stratum.max()) + 1)
    lift: Floats = np.where(drawn > 1, drawn / np.maximum(drawn - 1.0, 1.0), 1.0)
    return lift


def _expit(logits: Floats) -> Floats:
    shares: Floats = 0.5 * (1.0 + np.tanh(logits / 2))
    return shares
