"""How much credit two different labels get for being near each other."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


class Weighting(StrEnum):
    """A rule for the agreement weight of two labels."""

    IDENTITY = "identity"
    LINEAR = "linear"
    QUADRATIC = "quadratic"
    ORDINAL = "ordinal"
    RATIO = "ratio"


def weight_matrix(weighting: Weighting, *, n_labels: int, numbers: Floats | None = None) -> Floats:
    """Return agreement weights of shape (n_labels, n_labels): 1 on the diagonal, 0 for the farthest labels.

    Labels lie at `numbers` (shape (n_labels,)), or at their ranks 1..n_labels where there are none. Ordinal
    weights always go by rank. (Gwet 2014, chapter 3: 1 - |k - l| / range, its square, 1 - C(|k - l| + 1, 2) / C(q, 2),
    and 1 - ((k - l) / (k + l))^2 over its largest value.)
    """
    ranks = np.arange(1, n_labels + 1, dtype=np.float64)
    if weighting is Weighting.IDENTITY:
        return np.eye(n_labels)
    places = ranks if numbers is None or weighting is Weighting.ORDINAL else numbers
    apart = np.abs(np.subtract.outer(places, places))
    if weighting is Weighting.ORDINAL:
        disagreement = apart * (apart + 1) / 2
    elif weighting is Weighting.QUADRATIC:
        disagreement = apart**2
    elif weighting is Weighting.RATIO:
        disagreement = ratio_distances(places)
    else:
        disagreement = apart
    return agreement_of(disagreement)


def agreement_of(disagreement: Floats) -> Floats:
    """Turn disagreement weights (0 on the diagonal) into agreement weights, 1 - v / max v (Cohen 1968)."""
    most = disagreement.max(initial=0.0)
    return 1.0 - disagreement / most if most > 0 else np.ones_like(disagreement)


def ratio_distances(numbers: Floats) -> Floats:
    """Return ((a - b) / (a + b))^2 for each two numbers, 0 where both are 0 (Krippendorff 2011, ratio metric)."""
    sums = np.add.outer(numbers, numbers)
    apart = np.subtract.outer(numbers, numbers)
    return np.square(np.divide(apart, sums, out=np.zeros_like(apart), where=sums != 0))
