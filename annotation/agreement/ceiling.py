"""How well people agree among themselves, beside how well the others agree with people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.agreement.estimating import Resampling, estimates
from annotation.agreement.measure import Measure
from annotation.agreement.measures import pair_measures
from annotation.agreement.ratings import Ratings
from annotation.agreement.sums import PairSums, pairs_sums
from annotation.agreement.values import Reason, Statistic
from annotation.agreement.weights import Floats

_NAMES = (
    "po",
    "linear_weighted_agreement",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "gwet_ac1",
    "brennan_prediger_pabak",
    "p_pos",
    "p_neg",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """Statistics pooled over all pairs of two people, over all pairs of a person and another rater, and the gap.

    The gap is people with people minus the others with people, from the same resamples.
    """

    people: tuple[str, ...]
    others: tuple[str, ...]
    human_human: Mapping[str, Statistic]
    judge_human: Mapping[str, Statistic]
    gap: Mapping[str, Statistic]

    def document(self) -> dict[str, object]:
        """As JSON."""
        parts = {"human_human": self.human_human, "judge_human": self.judge_human, "gap": self.gap}
        shown: dict[str, object] = {"people": list(self.people), "others": list(self.others)}
        return shown | {
            name: {key: statistic.document() for key, statistic in part.items()}
            for name, part in parts.items()
        }


def human_ceiling(
    ratings: Ratings, *, people: Collection[str], positive: int, resampling: Resampling
) -> Ceiling:
    """Return what people agree on among themselves beside what the others agree on with people.

    A coefficient is pooled as 1 - sum of n D_o / sum of n D_e over pairs with n units in common, a share by its
    denominators: so a pair that shares few units weighs little and is never undefined alone.
    """
    names = ratings.raters
    among = [
        (one, other)
        for one in range(len(names))
        for other in range(one + 1, len(names))
        if names[one] in people and names[other] in people
    ]
    between = [
        (one, other)
        for one in range(len(names))
        for other in range(len(names))
        if names[one] in people and names[other] not in people
    ]
    pairs, q = [*among, *between], ratings.n_labels
    measures = [
        measure
        for measure in pair_measures(
            n_labels=q, positive=positive, numbers=ratings.numbers, places=ratings.numbers, has_gold=False
        )
        if measure.name in _NAMES
    ]
    clusters = ratings.cluster_of if ratings.is_clustered else None
    grouped = pairs_sums(ratings.codes, pairs or [(0, 0)], n_labels=q, cluster_of=clusters)
    first, second = slice(0, len(among)), slice(len(among), len(pairs))

    def unpacked(features: Floats) -> PairSums:
        cells = features.reshape(*features.shape[:-1], max(1, len(pairs)), -1)
        return PairSums.unpacked(cells, n_labels=q)

    codes = ratings.codes >= 0

    def units(chosen: Sequence[tuple[int, int]]) -> int:
        return (
            int(np.any([codes[:, one] & codes[:, other] for one, other in chosen], axis=0).sum())
            if chosen
            else 0
        )

    n_among, n_between = units(among), units(between)
    found = [
        estimates(
            [_pooled(measure, parts=parts) for measure in measures],
            grouped,
            units=grouped,
            unpacked=unpacked,
            n=n,
            resampling=resampling,
        )
        for parts, n in (
            ((first,), n_among),
            ((second,), n_between),
            ((first, second), min(n_among, n_between)),
        )
    ]
    return Ceiling(
        people=tuple(name for name in names if name in people),
        others=tuple(name for name in names if name not in people),
        human_human=found[0],
        judge_human=found[1],
        gap=found[2],
    )


def _pooled(measure: Measure[PairSums], *, parts: tuple[slice, ...]) -> Measure[PairSums]:
    """The measure over the pairs of the first part, minus that over the second where there are two."""

    def of(sums: PairSums) -> Floats:
        values = [
            _over_pairs(
                measure, PairSums(tables=sums.tables[..., part, :, :], alone=sums.alone[..., part, :, :])
            )
            for part in parts
        ]
        return values[0] if len(values) == 1 else values[0] - values[1]

    def reason(sums: PairSums) -> Reason:
        shares = [sums.tables[..., part, :, :].sum() for part in parts]
        return Reason.NO_VARIATION if all(shares) else Reason.NO_OVERLAP

    def units_in(part: slice) -> Callable[[PairSums], Floats]:
        return lambda sums: np.asarray(sums.tables[..., part, :, :].sum(axis=(-1, -2, -3)))

    return Measure(name=measure.name, of=of, reason=reason, compared=tuple(map(units_in, parts)))


def _over_pairs(measure: Measure[PairSums], sums: PairSums) -> Floats:
    values = measure.of(sums)
    if measure.expected is not None:
        chance = np.nan_to_num(measure.expected(sums)) * sums.tables.sum(axis=(-1, -2))
        below = chance.sum(axis=-1)
        above = (np.nan_to_num(1.0 - values) * chance).sum(axis=-1)
        return np.asarray(1.0 - above / np.where(below > 0, below, np.nan))
    if measure.denominator is None:
        raise ValueError(f"{measure.name} is neither a share nor a coefficient, so it cannot be pooled.")
    weights = np.where(np.isnan(values), 0.0, measure.denominator(sums))
    below = weights.sum(axis=-1)
    return np.asarray((np.nan_to_num(values) * weights).sum(axis=-1) / np.where(below > 0, below, np.nan))
