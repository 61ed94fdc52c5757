"""The coefficients of labels, each as one minus observed by expected disagreement, and the shares of a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .data import Floats
from .patterns import Patterns, disagreement_weights

_SUFFIX = {"identity": "", "linear": "_linear", "quadratic": "_quadratic", "ordinal": "_ordinal"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """Statistics of a batch of samples by name, nan where undefined; all arrays are (B,).

    `below` is the number of units that a share is a share of, `chance` the expected disagreement of a coefficient
    where the worst disagreement of a unit is 1, `compared` how many units two raters rated, for each set of pairs
    that is compared.
    """

    values: dict[str, Floats] = field(default_factory=dict)
    below: dict[str, Floats] = field(default_factory=dict)
    chance: dict[str, Floats] = field(default_factory=dict)
    compared: dict[str, tuple[Floats, ...]] = field(default_factory=dict)

    def __or__(self, other: Found) -> Found:
        return Found(
            values=self.values | other.values,
            below=self.below | other.below,
            chance=self.chance | other.chance,
            compared=self.compared | other.compared,
        )

    def share(self, name: str, above: Floats, below: Floats) -> None:
        self.values[name], self.below[name] = ratio(above, below), below

    def coefficient(self, name: str, observed: Floats, expected: Floats) -> None:
        self.values[name], self.chance[name] = 1 - ratio(observed, expected), expected


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scale:
    """The disagreement weights of labels by name, and their places for alpha's metrics of numbers."""

    weights: Mapping[str, Floats]
    places: Floats | None

    @classmethod
    def of(cls, n_labels: int, *, numbers: Floats | None, places: Floats | None) -> Scale:
        ranks = np.arange(1.0, n_labels + 1)
        return cls(weights=disagreement_weights(ranks if numbers is None else numbers), places=places)


def ratio(above: Floats, below: Floats) -> Floats:
    """Divide, with nan where the divisor is not positive."""
    return np.asarray(above / np.where(below > 0, below, np.nan))


def of_raters(samples: Floats, patterns: Patterns, scale: Scale) -> Found:
    """Return the coefficients of any number of raters; samples (B, P) say how often each pattern occurs."""
    counts = patterns.label_counts
    ratings = counts.sum(axis=1)
    is_paired = ratings >= 2
    pairs = np.where(is_paired, ratings * (ratings - 1), 1.0)
    units, paired = samples.sum(axis=1), samples @ is_paired
    prevalence = ratio(samples @ (counts / ratings[:, None]), units[:, None])
    margins = margins_of(samples, patterns)
    q, found = patterns.n_labels, Found()
    for name, weights in scale.weights.items():
        # The mean disagreement of two ratings of one unit.
        own = np.einsum("pk,kl,pl->p", counts, weights, counts) * is_paired / pairs
        observed = ratio(samples @ own, paired)
        if name in ("identity", "linear"):
            found.share(
                "po" if name == "identity" else "linear_weighted_agreement", paired - samples @ own, paired
            )
        suffix = _SUFFIX[name]
        found.coefficient(f"fleiss_kappa{suffix}", observed, _crossed(prevalence, weights, prevalence))
        found.coefficient(f"conger_kappa{suffix}", observed, _between_raters(margins, weights))
        gwet = f"gwet_ac2{suffix}" if suffix else "gwet_ac1"
        spread = (prevalence * (1 - prevalence)).sum(axis=1)
        chance = 1 - (1 - weights).sum() / (q * (q - 1)) * spread if q > 1 else np.full(len(units), np.nan)
        found.coefficient(gwet, observed, chance)
        found.coefficient(
            f"brennan_prediger{suffix or '_pabak'}", observed, np.full(len(units), weights.mean())
        )
    _add_alphas(found, samples, patterns, scale)
    found.compared.update(dict.fromkeys(found.values, (paired,)))
    return found


def of_pair(tables: Floats, scale: Scale, *, positive: int) -> Found:
    """Return what only a table of two raters gives: tables (B, q, q), rows of the first rater."""
    rows, columns, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    first, second = ratio(rows, n[:, None]), ratio(columns, n[:, None])
    found = Found()
    for name in ("identity", "linear", "quadratic"):
        weights = scale.weights[name]
        observed = ratio((tables * weights).sum(axis=(1, 2)), n)
        found.coefficient(f"cohen_kappa{_SUFFIX[name]}", observed, _crossed(first, weights, second))
    exact = scale.weights["identity"]
    observed = ratio((tables * exact).sum(axis=(1, 2)), n)
    mean = (first + second) / 2
    found.coefficient("scott_pi_fleiss", observed, _crossed(mean, exact, mean))
    chance = _crossed(first, exact, second)
    found.values["pe_cohen"] = 1 - chance
    least = 1 - np.minimum(first, second).sum(axis=1)
    found.values["cohen_kappa_max"] = 1 - ratio(least, chance)
    found.compared.update(dict.fromkeys(found.chance, (n,)))
    tp = tables[:, positive, positive]
    _add_rates(found, tp=tp, fp=columns[:, positive] - tp, fn=rows[:, positive] - tp, n=n)
    return found


def margins_of(samples: Floats, patterns: Patterns) -> list[Floats]:
    """Return how often each rater gave each label: for each rater (B, labels)."""
    labels = np.arange(patterns.n_labels)
    return [samples @ (column[:, None] == labels).astype(np.float64) for column in patterns.codes.T]


def tables_of(samples: Floats, patterns: Patterns, first: int = 0, second: int = 1) -> Floats:
    """Return the tables of two columns: (B, labels, labels)."""
    q = patterns.n_labels
    one, other = patterns.codes[:, first], patterns.codes[:, second]
    both = np.flatnonzero((one >= 0) & (other >= 0))
    cells, place = np.unique(one[both] * q + other[both], return_inverse=True)
    tables = np.zeros((len(samples), q * q))
    order = np.argsort(place, kind="stable")
    if len(both):
        starts = np.searchsorted(place[order], np.arange(len(cells)))
        tables[:, cells] = np.add.reduceat(samples[:, both[order]], starts, axis=1)
    return tables.reshape(-1, q, q)


def _add_rates(found: Found, *, tp: Floats, fp: Floats, fn: Floats, n: Floats) -> None:
    tn = n - tp - fp - fn
    found.share("p_pos", 2 * tp, 2 * tp + fp + fn)
    found.share("p_neg", 2 * tn, 2 * tn + fp + fn)
    found.share("f1", 2 * tp, 2 * tp + fp + fn)
    found.share("f1_negative", 2 * tn, 2 * tn + fp + fn)
    for name in ("p_pos", "f1"):
        found.below[name] = tp + fp + fn
    for name in ("p_neg", "f1_negative"):
        found.below[name] = tn + fp + fn
    found.share("accuracy", tp + tn, n)
    found.share("precision", tp, tp + fp)
    found.share("recall", tp, tp + fn)
    found.share("specificity", tn, tn + fp)
    found.share("npv", tn, tn + fn)
    found.share("always_pass_accuracy", tp + fn, n)
    found.share("always_fail_accuracy", tn + fp, n)
    found.share("pass_rate_gold", tp + fn, n)
    found.share("pass_rate_judge", tp + fp, n)
    values, below = found.values, found.below
    values["macro_f1"], below["macro_f1"] = (values["f1"] + values["f1_negative"]) / 2, n
    values["balanced_accuracy"], below["balanced_accuracy"] = (
        (values["recall"] + values["specificity"]) / 2,
        n,
    )
    values["prevalence_index_signed"] = ratio(tp - tn, n)
    values["bias_index_signed"] = ratio(fn - fp, n)
    scale = np.sqrt((tp + fp) * (tp + fn)) * np.sqrt((tn + fp) * (tn + fn))
    values["mcc"] = ratio(tp * tn - fp * fn, scale)


def _add_alphas(found: Found, samples: Floats, patterns: Patterns, scale: Scale) -> None:
    counts = patterns.label_counts
    ratings = counts.sum(axis=1)
    usable = samples * (ratings >= 2)
    values = usable @ counts
    n = values.sum(axis=1)
    other = np.maximum(ratings - 1, 1)
    q = patterns.n_labels
    places = np.arange(float(q)) if scale.places is None else scale.places
    apart = places[:, None] - places[None, :]
    distances = {"nominal": 1 - np.eye(q), "interval": apart**2}
    if scale.places is None or (places < 0).any():
        found.values["krippendorff_ratio"] = np.full(len(n), np.nan)
    else:
        sums = places[:, None] + places[None, :]
        distances["ratio"] = (apart / np.where(sums == 0, 1, sums)) ** 2
    for name, distance in distances.items():
        own = np.einsum("pk,kl,pl->p", counts, distance, counts) / other
        expected = ratio(_crossed(values, distance, values), n * (n - 1))
        found.coefficient(f"krippendorff_{name}", ratio(usable @ own, n), expected)
        found.chance[f"krippendorff_{name}"] = ratio(expected, np.asarray(distance.max()))
    # Ordinal: the distance of two labels is that of their mean ranks among all pairable values.
    ranks = np.cumsum(values, axis=1) - values / 2
    # Sum of n_k n_l (a_k - a_l)^2 in a unit = 2 (r sum n a^2 - (sum n a)^2).
    own = 2 * (ratings * (ranks**2 @ counts.T) - (ranks @ counts.T) ** 2) / other
    squares = (ranks[:, :, None] - ranks[:, None, :]) ** 2
    expected = ratio(np.einsum("bk,bkl,bl->b", values, squares, values), n * (n - 1))
    found.coefficient("krippendorff_ordinal", ratio((usable * own).sum(axis=1), n), expected)
    found.chance["krippendorff_ordinal"] = ratio(expected, squares.max(axis=(1, 2)))


def _between_raters(margins: list[Floats], weights: Floats) -> Floats:
    """The chance disagreement of each two raters who rated anything, averaged (Conger 1980)."""
    shares = [np.nan_to_num(ratio(each, each.sum(axis=1, keepdims=True))) for each in margins]
    raters = np.sum([each.sum(axis=1) > 0 for each in margins], axis=0)
    above = np.zeros(len(margins[0]))
    for place, one in enumerate(shares):
        for other in shares[place + 1 :]:
            above += _crossed(one, weights, other) + _crossed(other, weights, one)
    return ratio(above, raters * (raters - 1.0))


def _crossed(first: Floats, weights: Floats, second: Floats) -> Floats:
    return np.asarray(((first @ weights) * second).sum(axis=1))
