"""Krippendorff's alpha: disagreement observed within units over that of all pairable values together."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotation.agreement.chance_corrected import chance_corrected_reason, linearised_se
from annotation.agreement.sums import UnitSums, quotient
from annotation.agreement.values import Reason
from annotation.agreement.weights import Floats, ratio_distances


class Metric(StrEnum):
    """How far two labels are apart."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


def krippendorff_alpha(sums: UnitSums, metric: Metric, *, numbers: Floats | None = None) -> Floats:
    """Return alpha over pairable values only (Krippendorff 2011, sections A to F): (...), nan where undefined.

    `numbers` (q,) places the labels for the interval and ratio metrics; ranks from 0 where there are none.
    """
    observed = observed_disagreement(sums, metric, numbers=numbers)
    return 1.0 - quotient(observed, expected_disagreement(sums, metric, numbers=numbers))


def observed_disagreement(sums: UnitSums, metric: Metric, *, numbers: Floats | None = None) -> Floats:
    """Return D_o, the mean squared distance of coincident values: (...)."""
    distances = squared_distances(sums, metric, numbers=numbers)
    return quotient((sums.coincidences * distances).sum(axis=(-1, -2)), _values(sums).sum(axis=-1))


def expected_disagreement(sums: UnitSums, metric: Metric, *, numbers: Floats | None = None) -> Floats:
    """Return D_e, the same for all pairs of pairable values whatever their unit: (...), exactly 0 without variation."""
    values = _values(sums)
    n = values.sum(axis=-1)
    distances = squared_distances(sums, metric, numbers=numbers)
    return quotient(np.einsum("...k,...kl,...l->...", values, distances, values), n * (n - 1))


def squared_distances(sums: UnitSums, metric: Metric, *, numbers: Floats | None = None) -> Floats:
    """Return delta^2 of each two labels: (q, q), or (..., q, q) for ordinal, which depends on the values."""
    n_labels = sums.n_labels
    if metric is Metric.NOMINAL:
        return 1.0 - np.eye(n_labels)
    if metric is Metric.ORDINAL:
        values = _values(sums)
        # The values between two labels, with half of each end, are the distance of their mid-ranks.
        middles = np.cumsum(values, axis=-1) - values / 2
        return np.asarray((middles[..., :, None] - middles[..., None, :]) ** 2)
    places = np.arange(n_labels, dtype=np.float64) if numbers is None else numbers
    if metric is Metric.INTERVAL:
        return np.subtract.outer(places, places) ** 2
    return ratio_distances(places)


def krippendorff_reason(sums: UnitSums, metric: Metric, *, numbers: Floats | None = None) -> Reason:
    """Say why alpha of one set of sums is undefined."""
    if metric is Metric.RATIO and numbers is None:
        return Reason.NOT_NUMERIC
    if metric is Metric.RATIO and numbers is not None and (numbers < 0).any():
        return Reason.NOT_A_RATIO_SCALE
    return chance_corrected_reason(sums)


def krippendorff_se(units: UnitSums, copies: NDArray[np.int64], weights: Floats) -> float | None:
    """Return the standard error of alpha for independent units and agreement weights that do not depend on the data.

    `units` holds the sums of single units (batch shape (K,)), `copies` (K,) how often each occurs; units with
    one rating play no part. (Gwet 2014, chapter 5, as the irrCAC package for Python has it.)
    """
    pairable = units.paired > 0
    counts = copies[pairable]
    coincidences = units.coincidences[pairable]
    n = float(counts.sum())
    if n < 2:
        return None
    values = coincidences.sum(axis=-1)
    ratings = values.sum(axis=-1)
    mean = float(counts @ ratings) / n
    prevalence = (counts @ values) / (n * mean)
    expected = float(prevalence @ weights @ prevalence)
    if not 1.0 - expected > 0:
        return None
    agreed = (coincidences * weights).sum(axis=(-1, -2)) / mean
    plain = float(counts @ agreed) / n
    small_sample = 1.0 / (n * mean)
    corrected = (1.0 - small_sample) * plain + small_sample
    excess = (ratings - mean) / mean
    estimate = (plain - expected) / (1.0 - expected)
    own = (agreed - corrected * excess - expected) / (1.0 - expected)
    chance = values @ ((weights + weights.T) / 2) @ prevalence / mean - expected * excess
    return linearised_se(
        own - 2 * (1.0 - estimate) * (chance - expected) / (1.0 - expected), counts, estimate
    )


def _values(sums: UnitSums) -> Floats:
    return np.asarray(sums.coincidences.sum(axis=-1))
