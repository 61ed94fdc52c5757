"""Agreement of two raters beyond chance: Cohen's kappa, weighted or not, and Scott's pi."""

from __future__ import annotations

import numpy as np

from annotation.agreement.sums import quotient
from annotation.agreement.values import Reason
from annotation.agreement.weights import Floats


def agreement_share(tables: Floats, weights: Floats) -> Floats:
    """Return the weighted share of agreement, sum of w p: (..., q, q), (q, q) -> (...).

    With identity weights the exact agreement, with linear ones the mean of 1 - |a - b| over credits (EvoWeb D.3).
    """
    return quotient((tables * weights).sum(axis=(-1, -2)), tables.sum(axis=(-1, -2)))


def cohen_expected(tables: Floats, weights: Floats) -> Floats:
    """Return the agreement that the two raters' own margins give by chance (Cohen 1960, 1968): (...)."""
    return 1.0 - cohen_expected_disagreement(tables, weights)


def cohen_kappa(tables: Floats, weights: Floats) -> Floats:
    """Return Cohen's kappa (Cohen 1960; 1968 with weights): (..., q, q), (q, q) -> (...), nan where undefined."""
    return 1.0 - quotient(
        1.0 - agreement_share(tables, weights), cohen_expected_disagreement(tables, weights)
    )


def cohen_expected_disagreement(tables: Floats, weights: Floats) -> Floats:
    """Return the chance disagreement, sum of (1 - w) p_k. p_.l: exactly 0 where one label was given only."""
    n = tables.sum(axis=(-1, -2))
    crossed = np.einsum("...k,kl,...l->...", tables.sum(axis=-1), 1.0 - weights, tables.sum(axis=-2))
    return quotient(crossed, n * n)


def scott_pi(tables: Floats, weights: Floats) -> Floats:
    """Return Scott's pi: chance by the mean of the two margins (Scott 1955): (..., q, q) -> (...)."""
    return 1.0 - quotient(
        1.0 - agreement_share(tables, weights), scott_expected_disagreement(tables, weights)
    )


def scott_expected_disagreement(tables: Floats, weights: Floats) -> Floats:
    """Return the chance disagreement of Scott's pi: (...)."""
    n = tables.sum(axis=(-1, -2))
    mean = tables.sum(axis=-1) + tables.sum(axis=-2)
    return quotient(np.einsum("...k,kl,...l->...", mean, 1.0 - weights, mean), 4 * n * n)


def cohen_kappa_max(tables: Floats) -> Floats:
    """Return the largest kappa that these margins allow (Cohen 1960, p. 42): (...)."""
    n = tables.sum(axis=(-1, -2))
    most = quotient(np.minimum(tables.sum(axis=-1), tables.sum(axis=-2)).sum(axis=-1), n)
    return 1.0 - quotient(1.0 - most, cohen_expected_disagreement(tables, np.eye(tables.shape[-1])))


def cohen_kappa_se(tables: Floats, weights: Floats) -> Floats:
    """Return the large-sample standard error of kappa for independent units: (..., q, q) -> (...).

    (Fleiss, Cohen and Everitt 1969, formula 13, for any agreement weights.)
    """
    n, shares, near = _shares_and_near_weights(tables, weights)
    kappa = cohen_kappa(tables, weights)
    expected = cohen_expected(tables, weights)
    left = (1.0 - kappa)[..., None, None] * near
    spread = (shares * (weights - left) ** 2).sum(axis=(-1, -2)) - (kappa - expected * (1.0 - kappa)) ** 2
    # What rounding leaves of no spread would look like a spread after its root is taken.
    return np.sqrt(quotient(np.where(spread > 1e-12, spread, 0.0), n * (1.0 - expected) ** 2))


def cohen_kappa_se_if_zero(tables: Floats, weights: Floats) -> Floats:
    """Return the standard error that kappa would have if it were 0 (Fleiss, Cohen and Everitt 1969, 14): (...)."""
    n, shares, near = _shares_and_near_weights(tables, weights)
    expected = cohen_expected(tables, weights)
    crossed = shares.sum(axis=-1)[..., :, None] * shares.sum(axis=-2)[..., None, :]
    spread = (crossed * (weights - near) ** 2).sum(axis=(-1, -2)) - expected**2
    return np.sqrt(quotient(np.maximum(spread, 0.0), n * (1.0 - expected) ** 2))


def kappa_reason(table: Floats) -> Reason:
    """Say why a coefficient of one table (q, q) is undefined."""
    if table.sum() == 0:
        return Reason.NO_OVERLAP
    return Reason.ONE_LABEL if table.shape[-1] == 1 else Reason.NO_VARIATION


def _shares_and_near_weights(tables: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return n, cell shares, and the mean weight of each row label plus that of each column label."""
    n = tables.sum(axis=(-1, -2))
    shares = quotient(tables, n[..., None, None])
    of_rows = shares.sum(axis=-2) @ weights.T
    of_columns = shares.sum(axis=-1) @ weights
    return n, shares, of_rows[..., :, None] + of_columns[..., None, :]
