"""Standard errors that take every unit to be independent of the others."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .data import Floats
from .formulas import Scale
from .patterns import Patterns

_NAMES = {
    "identity": ("fleiss_kappa", "conger_kappa", "gwet_ac1", "brennan_prediger_pabak"),
    "linear": ("fleiss_kappa_linear", "conger_kappa_linear", "gwet_ac2_linear", "brennan_prediger_linear"),
    "quadratic": (
        "fleiss_kappa_quadratic",
        "conger_kappa_quadratic",
        "gwet_ac2_quadratic",
        "brennan_prediger_quadratic",
    ),
    "ordinal": (
        "fleiss_kappa_ordinal",
        "conger_kappa_ordinal",
        "gwet_ac2_ordinal",
        "brennan_prediger_ordinal",
    ),
}


def kappa_errors(table: Floats, scale: Scale) -> dict[str, float]:
    """Return the standard errors of Cohen's kappas of one table (Fleiss, Cohen and Everitt 1969)."""
    n = float(table.sum())
    if n == 0:
        return {}
    shares = table / n
    first, second = shares.sum(axis=1), shares.sum(axis=0)
    found = {}
    for name in ("identity", "linear", "quadratic"):
        agreement = 1 - scale.weights[name]
        expected = float(first @ agreement @ second)
        if expected >= 1:
            continue
        kappa = (float((shares * agreement).sum()) - expected) / (1 - expected)
        near = (agreement @ second)[:, None] + (first @ agreement)[None, :]
        spread = float((shares * (agreement - near * (1 - kappa)) ** 2).sum())
        spread -= (kappa - expected * (1 - kappa)) ** 2
        if spread < 1e-12:
            continue
        suffix = "" if name == "identity" else f"_{name}"
        found[f"cohen_kappa{suffix}"] = sqrt(spread / n) / (1 - expected)
    return found


def linearised_errors(patterns: Patterns, scale: Scale) -> dict[str, tuple[float, int]]:
    """Return standard errors of coefficients of raters, and the number of units (Gwet 2014, chapter 5)."""
    counts, units = patterns.label_counts, patterns.units
    ratings, n = counts.sum(axis=1), int(units.sum())
    is_paired = ratings >= 2
    paired = int(units @ is_paired)
    found: dict[str, tuple[float, int]] = {}
    if n < 2 or paired == 0:
        return found
    own_shares = counts / ratings[:, None]
    prevalence = units @ own_shares / n
    q = patterns.n_labels
    for name, disagreement in scale.weights.items():
        weights = 1 - disagreement
        pairs = np.where(is_paired, ratings * (ratings - 1), 1)
        agreed = (np.einsum("pk,kl,pl->p", counts, weights, counts) - ratings) * is_paired / pairs
        observed = float(units @ agreed) / paired
        fleiss, conger, gwet, brennan = _NAMES[name]
        own_chances = {fleiss: (own_shares @ weights @ prevalence, float(prevalence @ weights @ prevalence))}
        if q > 1:
            lift = weights.sum() / (q * (q - 1))
            own_chances[gwet] = (
                lift * (own_shares @ (1 - prevalence)),
                float(lift * prevalence @ (1 - prevalence)),
            )
        own_chances[brennan] = (np.full(len(units), weights.mean()), float(weights.mean()))
        between = _chances_between_raters(patterns, weights)
        if between is not None:
            own_chances[conger] = between
        for coefficient, (own_chance, chance) in own_chances.items():
            if not 1 - chance > 0:
                continue
            value = (observed - chance) / (1 - chance)
            own = n / paired * (agreed - chance * is_paired) / (1 - chance)
            own = own - 2 * (1 - value) * (own_chance - chance) / (1 - chance)
            found[coefficient] = sqrt(float(units @ (own - value) ** 2) / (n * (n - 1))), n
    return found


def alpha_error(patterns: Patterns) -> tuple[float, int] | None:
    """Return the standard error of nominal alpha and the number of units with two or more ratings."""
    counts = patterns.label_counts
    is_paired = counts.sum(axis=1) >= 2
    counts, units = counts[is_paired], patterns.units[is_paired]
    ratings, n = counts.sum(axis=1), int(units.sum())
    if n < 2:
        return None
    mean = float(units @ ratings) / n
    prevalence = units @ counts / (n * mean)
    chance = float(prevalence @ prevalence)
    if not 1 - chance > 0:
        return None
    agreed = (counts * (counts - 1)).sum(axis=1) / (ratings - 1) / mean
    plain, share = float(units @ agreed) / n, 1 / (n * mean)
    value = (plain - chance) / (1 - chance)
    excess = ratings / mean - 1
    own = (agreed - (plain * (1 - share) + share) * excess - chance) / (1 - chance)
    own_chance = counts @ prevalence / mean - chance * excess
    own = own - 2 * (1 - value) * (own_chance - chance) / (1 - chance)
    return sqrt(float(units @ (own - value) ** 2) / (n * (n - 1))), n


def _chances_between_raters(patterns: Patterns, weights: Floats) -> tuple[Floats, float] | None:
    """What each pattern adds to the chance agreement of each two raters, and that; None if one rated nothing."""
    units, n, raters = patterns.units, int(patterns.units.sum()), patterns.codes.shape[1]
    if raters < 2:
        return None
    labels = np.arange(patterns.n_labels)
    given = [(column[:, None] == labels).astype(np.float64) for column in patterns.codes.T]
    margins = [units @ each for each in given]
    if not all(margin.sum() > 0 for margin in margins):
        return None
    shares = [margin / margin.sum() for margin in margins]
    own, chance = np.zeros(len(units)), 0.0
    for rater in range(raters):
        others = np.sum([shares[other] for other in range(raters) if other != rater], axis=0)
        credit = weights.T @ others
        usual = float(shares[rater] @ credit)
        rated = patterns.codes[:, rater] >= 0
        rarity = n / float(margins[rater].sum())
        # A unit that the rater did not rate stands for the usual: the share it is missing.
        own += rarity * (given[rater] @ credit - (rated - 1 / rarity) * usual)
        chance += usual
    pairs = raters * (raters - 1)
    return own / pairs, chance / pairs
