"""A judge against the gold rater in each of several groups of units, by the few statistics of a forest plot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.agreement.confusion import Confusion
from annotation.agreement.estimating import Resampling, estimates
from annotation.agreement.measures import pair_measures
from annotation.agreement.ratings import Ratings, RatingsError
from annotation.agreement.sums import PairSums, pair_sums
from annotation.agreement.values import Method, Statistic, Undefined

FOREST = ("accuracy", "po", "always_pass_accuracy", "cohen_kappa", "gwet_ac1", "specificity")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement:
    """One group: its units and clusters, what the judge passed or failed against gold, and its statistics.

    `too_kind` counts units that the judge marks higher than gold, `too_strict` those that it marks lower.
    """

    name: str
    n: int
    n_clusters: int
    too_kind: int
    too_strict: int
    gold_positive: int
    statistics: Mapping[str, Statistic]


def group_agreements(
    pair: Ratings,
    names: Sequence[str],
    *,
    positive: int,
    resampling: Resampling,
    wanted: Collection[str] = FOREST,
) -> tuple[GroupAgreement, ...]:
    """Return the agreement of a pair of raters, gold first, in each group of units, in the order of names.

    `names` has one entry a unit. Clusters are resampled within each group alone; a group that lies in one
    cluster has no interval. Raises RatingsError where there are not two raters or names do not fit.
    """
    if pair.n_raters != 2 or len(names) != pair.n_units:
        raise RatingsError(
            f"Groups are of two raters and one name a unit; here are {pair.n_raters} raters and "
            f"{len(names)} names for {pair.n_units} units."
        )
    found, group_of = np.unique(np.asarray(names, dtype=str), return_inverse=True)
    return tuple(
        _group(
            str(name), pair.only(group_of == index), positive=positive, resampling=resampling, wanted=wanted
        )
        for index, name in enumerate(found)
    )


def _group(
    name: str, pair: Ratings, *, positive: int, resampling: Resampling, wanted: Collection[str]
) -> GroupAgreement:
    q = pair.n_labels
    measures = [
        measure
        for measure in pair_measures(
            n_labels=q, positive=positive, numbers=pair.numbers, places=pair.numbers, has_gold=True
        )
        if measure.name in wanted
    ]
    units = pair_sums(pair.codes, n_labels=q)
    grouped = pair_sums(pair.codes, n_labels=q, cluster_of=pair.cluster_of) if pair.is_clustered else units
    table = PairSums.unpacked(grouped.total(), n_labels=q).tables
    found = estimates(
        measures,
        grouped,
        units=units,
        unpacked=lambda features: PairSums.unpacked(features, n_labels=q),
        n=round(float(table.sum())),
        resampling=resampling,
    )
    if pair.is_clustered and pair.n_clusters == 1:
        found = {key: _without_interval(statistic) for key, statistic in found.items()}
    return GroupAgreement(
        name=name,
        n=round(float(table.sum())),
        n_clusters=pair.n_clusters,
        too_kind=round(float(np.triu(table, 1).sum())),
        too_strict=round(float(np.tril(table, -1).sum())),
        gold_positive=round(float(_gold_positive(table, positive))),
        statistics=found,
    )


def _without_interval(statistic: Statistic) -> Statistic:
    """What is seen in one cluster tells nothing of how clusters differ, also where nothing disagrees."""
    if isinstance(statistic, Undefined):
        return statistic
    return replace(statistic, low=None, high=None, method=Method.NONE)


def _gold_positive(table: np.ndarray, positive: int) -> float:
    counts = Confusion.of_tables(table, positive=positive)
    return float(counts.tp + counts.fn)
