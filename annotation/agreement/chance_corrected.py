"""Agreement of any number of raters beyond chance: Fleiss, Conger, Gwet's AC1 and AC2, Brennan-Prediger.

Observed agreement is taken over units with two or more ratings, the prevalence of labels over all rated units
(Gwet 2014, chapter 2, and the irrCAC packages).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annotation.agreement.sums import UnitSums, quotient
from annotation.agreement.values import Reason
from annotation.agreement.weights import Floats


def percent_agreement(sums: UnitSums, weights: Floats) -> Floats:
    """Return the weighted share of agreeing pairs of ratings, averaged over units: (...), nan without pairs."""
    return quotient((sums.agreements * weights).sum(axis=(-1, -2)), sums.paired)


def fleiss_kappa(sums: UnitSums, weights: Floats) -> Floats:
    """Return Fleiss' generalised kappa (Fleiss 1971): (...), nan where undefined."""
    return _coefficient(sums, weights, fleiss_expected_disagreement(sums, weights))


def fleiss_expected_disagreement(sums: UnitSums, weights: Floats) -> Floats:
    """Return the chance disagreement, sum of (1 - w) pi_k pi_l: (...)."""
    crossed = np.einsum("...k,kl,...l->...", sums.prevalence, 1.0 - weights, sums.prevalence)
    return quotient(crossed, sums.units**2)


def conger_kappa(sums: UnitSums, weights: Floats) -> Floats:
    """Return Conger's kappa, which for two raters without gaps is Cohen's (Conger 1980): (...)."""
    return _coefficient(sums, weights, conger_expected_disagreement(sums, weights))


def conger_expected_disagreement(sums: UnitSums, weights: Floats) -> Floats:
    """Return the chance disagreement averaged over all pairs of raters who rated anything: (...)."""
    ratings = sums.margins.sum(axis=-1, keepdims=True)
    shares = np.where(ratings > 0, sums.margins / np.where(ratings > 0, ratings, 1.0), 0.0)
    raters = (ratings[..., 0] > 0).sum(axis=-1)
    everyone = shares.sum(axis=-2)
    crossed = np.einsum("...k,kl,...l->...", everyone, 1.0 - weights, everyone)
    selves = np.einsum("...rk,kl,...rl->...", shares, 1.0 - weights, shares)
    # Rounding may leave a speck of either sign where every rater gave the same label.
    apart = np.where(crossed - selves > 1e-12, crossed - selves, 0.0)
    return quotient(apart, np.asarray(raters * (raters - 1), dtype=np.float64))


def gwet_ac(sums: UnitSums, weights: Floats) -> Floats:
    """Return Gwet's AC1 with identity weights, AC2 with others (Gwet 2008; 2014, chapter 5): (...)."""
    return _coefficient(sums, weights, gwet_expected_disagreement(sums, weights))


def gwet_expected_disagreement(sums: UnitSums, weights: Floats) -> Floats:
    """Return 1 - T_w / (q (q - 1)) * sum of pi_k (1 - pi_k): (...), nan with one declared label."""
    if sums.n_labels < 2:
        return np.full(sums.units.shape, np.nan)
    prevalence = quotient(sums.prevalence, sums.units[..., None])
    return 1.0 - _gwet_scale(weights) * (prevalence * (1.0 - prevalence)).sum(axis=-1)


def brennan_prediger(sums: UnitSums, weights: Floats) -> Floats:
    """Return Brennan and Prediger's coefficient; 2 po - 1, or PABAK, for two labels (1981): (...)."""
    return _coefficient(sums, weights, brennan_prediger_expected_disagreement(sums, weights))


def brennan_prediger_expected_disagreement(sums: UnitSums, weights: Floats) -> Floats:
    """Return the chance disagreement where every declared label is as likely: (...)."""
    return np.full(sums.units.shape, (1.0 - weights).mean())


def chance_corrected_reason(sums: UnitSums) -> Reason:
    """Say why a coefficient of one set of sums is undefined."""
    if sums.units == 0:
        return Reason.NO_RATINGS
    if sums.paired == 0:
        return Reason.NO_OVERLAP
    return Reason.ONE_LABEL if sums.n_labels < 2 else Reason.NO_VARIATION


def fleiss_se(units: UnitSums, copies: NDArray[np.int64], weights: Floats) -> float | None:
    """Return the standard error of Fleiss' kappa for independent units, None where there is none.

    `units` holds the sums of single units (batch shape (K,)) and `copies` (K,) how often each occurs. (Gwet 2014,
    chapter 5: linearised variance with n - 1.)
    """
    total = _total(units, copies)
    prevalence = quotient(total.prevalence, total.units)
    chance = units.prevalence @ ((weights + weights.T) / 2) @ prevalence
    expected = 1.0 - fleiss_expected_disagreement(total, weights)
    return _linearised_se(units, copies, weights, expected=expected, chance=chance)


def conger_se(units: UnitSums, copies: NDArray[np.int64], weights: Floats) -> float | None:
    """As `fleiss_se`, for Conger's kappa; None where a rater rated nothing."""
    total = _total(units, copies)
    ratings = total.margins.sum(axis=-1)
    n_raters = len(ratings)
    if n_raters < 2 or not ratings.all():
        return None
    shares = total.margins / ratings[:, None]
    others = shares.sum(axis=0) - shares
    rated = units.margins.sum(axis=-1)
    given = np.einsum("nrl,rk,kl->nr", units.margins, others, weights)
    usual = np.einsum("rl,rk,kl->r", shares, others, weights)
    influence = given - (rated - ratings / total.units) * usual
    chance = (influence * (total.units / ratings)).sum(axis=-1) / (n_raters * (n_raters - 1))
    expected = 1.0 - conger_expected_disagreement(total, weights)
    return _linearised_se(units, copies, weights, expected=expected, chance=chance)


def gwet_se(units: UnitSums, copies: NDArray[np.int64], weights: Floats) -> float | None:
    """As `fleiss_se`, for AC1 and AC2."""
    if units.n_labels < 2:
        return None
    total = _total(units, copies)
    prevalence = quotient(total.prevalence, total.units)
    chance = _gwet_scale(weights) * (units.prevalence @ (1.0 - prevalence))
    expected = 1.0 - gwet_expected_disagreement(total, weights)
    return _linearised_se(units, copies, weights, expected=expected, chance=chance)


def brennan_prediger_se(units: UnitSums, copies: NDArray[np.int64], weights: Floats) -> float | None:
    """As `fleiss_se`, for Brennan and Prediger's coefficient."""
    expected = np.asarray(weights.mean())
    return _linearised_se(units, copies, weights, expected=expected, chance=np.full(len(copies), expected))


def linearised_se(influences: Floats, copies: NDArray[np.int64], estimate: float) -> float | None:
    """Return sqrt(sum of (x_i - estimate)^2 / (n (n - 1))) over units, None for fewer than two."""
    n = int(copies.sum())
    if n < 2:
        return None
    return float(np.sqrt((copies * (influences - estimate) ** 2).sum() / (n * (n - 1))))


def _coefficient(sums: UnitSums, weights: Floats, expected_disagreement: Floats) -> Floats:
    return 1.0 - quotient(1.0 - percent_agreement(sums, weights), expected_disagreement)


def _gwet_scale(weights: Floats) -> float:
    n_labels = weights.shape[0]
    return float(weights.sum() / (n_labels * (n_labels - 1)))


def _total(units: UnitSums, copies: NDArray[np.int64]) -> UnitSums:
    return UnitSums(
        units=np.asarray((copies * units.units).sum()),
        paired=np.asarray((copies * units.paired).sum()),
        agreements=np.tensordot(copies, units.agreements, axes=1),
        coincidences=np.tensordot(copies, units.coincidences, axes=1),
        prevalence=copies @ units.prevalence,
        margins=np.tensordot(copies, units.margins, axes=1),
    )


def _linearised_se(
    units: UnitSums, copies: NDArray[np.int64], weights: Floats, *, expected: Floats, chance: Floats
) -> float | None:
    n, paired = float(copies.sum()), float((copies * units.paired).sum())
    beyond = 1.0 - float(expected)
    if paired == 0 or not beyond > 0:
        return None
    agreed = (units.agreements * weights).sum(axis=(-1, -2))
    estimate = 1.0 - (1.0 - float(copies @ agreed) / paired) / beyond
    own = (n / paired) * (agreed - expected * units.paired) / beyond
    return linearised_se(own - 2 * (1.0 - estimate) * (chance - expected) / beyond, copies, estimate)
