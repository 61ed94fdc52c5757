"""The parts of a report of agreement: all raters together, each pair, both folds, and what single ratings change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.agreement.confusion import Confusion
from annotation.agreement.estimating import Resampling, estimates
from annotation.agreement.measure import Measure
from annotation.agreement.measures import pair_measures, unit_measures
from annotation.agreement.ratings import Fold, Ratings, RatingsError, number_in
from annotation.agreement.score_measures import (
    icc_groups,
    icc_measures,
    moment_groups,
    moment_measures,
    rank_correlations,
    score_measures,
)
from annotation.agreement.significance import McNemar, mcnemar
from annotation.agreement.sums import GroupedSums, PairSums, UnitSums, pair_sums, unit_sums
from annotation.agreement.values import Flag, Method, Reason, Statistic, Undefined, Value
from annotation.agreement.weights import Floats

MOST_LABELS = 128
_SENSITIVE = ("po", "fleiss", "conger", "gwet", "brennan_prediger")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairReport:
    """Two raters; the gold rater, where there is one, comes first and is the table's rows."""

    raters: tuple[str, str]
    positive: str
    n: int
    n_clusters: int
    table: NDArray[np.int64]
    confusion: Confusion | None
    statistics: Mapping[str, Statistic]

    @property
    def key(self) -> str:
        return "|".join(self.raters)

    def document(self) -> dict[str, object]:
        """As JSON."""
        shown: dict[str, object] = {
            "raters": list(self.raters),
            "positive": self.positive,
            "n": self.n,
            "n_clusters": self.n_clusters,
            "table": self.table.tolist(),
        }
        if self.confusion is not None:
            counts = self.confusion
            shown["confusion"] = {
                name: round(float(getattr(counts, name))) for name in ("tp", "fp", "fn", "tn")
            }
        return shown | {"statistics": documents(self.statistics)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportParts:
    """The parts of one report, which share ratings, gold rater, positive label and resampling."""

    ratings: Ratings
    gold: str | None
    positive: int
    resampling: Resampling

    @property
    def cluster_of(self) -> NDArray[np.int32] | None:
        return self.ratings.cluster_of if self.ratings.is_clustered else None

    @property
    def places(self) -> Floats | None:
        """The values that labels have as numbers, for the metrics of alpha that are about numbers."""
        if self.ratings.numbers is not None:
            return self.ratings.numbers
        try:
            return np.array([number_in(label) for label in self.ratings.labels])
        except RatingsError:
            return None

    def statistics(self) -> dict[str, Statistic]:
        """Of all raters together."""
        found = self._of_units(self.ratings.codes)
        if self.ratings.numbers is not None:
            scores = self.ratings.scores
            grouped, units = icc_groups(scores, self.cluster_of), icc_groups(scores, None)
            n, flags = units.n_clusters, ((Flag.LISTWISE,) if np.isnan(scores).any() else ())
            found |= estimates(
                icc_measures(self.ratings.n_raters),
                grouped,
                units=units,
                unpacked=_as_is,
                n=n,
                resampling=self.resampling,
                flags=flags,
            )
        return found

    def sensitivity(self) -> dict[str, Statistic]:
        """The same coefficients over units with two or more ratings, where others exist."""
        counts = self.ratings.counts
        if not ((counts == 1).any() and (counts >= 2).any()):
            return {}
        codes = np.where((counts >= 2)[:, np.newaxis], self.ratings.codes, np.int16(-1))
        found = self._of_units(codes)
        return {name: each for name, each in found.items() if name.startswith(_SENSITIVE)}

    def pairs(self) -> tuple[PairReport, ...]:
        """Each two raters, gold first."""
        return tuple(self._pair(first, second) for first, second in pairs_of(self.ratings.raters, self.gold))

    def folds(self) -> dict[Fold, tuple[PairReport, ...]]:
        """Every pair with the labels between lowest and highest made the one or the other."""
        if self.ratings.n_labels <= 2 or self.ratings.numbers is not None:
            return {}
        # Of two labels the lowest is positive only where it is so without folding.
        positive = 0 if self.positive == 0 else 1
        return {
            fold: ReportParts(
                ratings=self.ratings.fold(fold), gold=self.gold, positive=positive, resampling=self.resampling
            ).pairs()
            for fold in Fold
        }

    def _of_units(self, codes: NDArray[np.int16]) -> dict[str, Statistic]:
        q, n_raters = self.ratings.n_labels, self.ratings.n_raters
        measures = unit_measures(n_labels=q, numbers=self.ratings.numbers, places=self.places)
        if q > MOST_LABELS:
            return _too_many(measures)
        units = unit_sums(codes, n_labels=q)
        grouped = (
            units if self.cluster_of is None else unit_sums(codes, n_labels=q, cluster_of=self.cluster_of)
        )
        return estimates(
            measures,
            grouped,
            units=units,
            unpacked=lambda features: UnitSums.unpacked(features, n_labels=q, n_raters=n_raters),
            n=int(((codes >= 0).sum(axis=1) >= 2).sum()),
            resampling=self.resampling,
        )

    def _pair(self, first: str, second: str) -> PairReport:
        ratings, q = self.ratings, self.ratings.n_labels
        if q > MOST_LABELS:
            return self._pair_of_scores(first, second)
        codes = ratings.codes[:, [ratings.rater_index(first), ratings.rater_index(second)]]
        has_gold = first == self.gold
        units = pair_sums(codes, n_labels=q)
        grouped = (
            units if self.cluster_of is None else pair_sums(codes, n_labels=q, cluster_of=self.cluster_of)
        )
        total = PairSums.unpacked(grouped.total(), n_labels=q)
        rows = PairSums.unpacked(grouped.rows(), n_labels=q)
        is_shared = rows.tables.sum(axis=(-1, -2)) > 0
        n = round(float(total.tables.sum()))
        measures = pair_measures(
            n_labels=q,
            positive=self.positive,
            numbers=ratings.numbers,
            places=self.places,
            has_gold=has_gold,
        )
        if ratings.numbers is not None:
            measures += score_measures(ratings.numbers, table=total.tables)
        counts = Confusion.of_tables(total.tables, positive=self.positive)
        # Clusters that one of the two never saw say nothing about how they agree, but count for prevalence.
        shared = grouped.only(is_shared) if 0 < is_shared.sum() < len(is_shared) else grouped
        found: dict[str, Statistic] = {}
        for sums, chosen in _by_sums(measures, grouped=grouped, shared=shared):
            found |= estimates(
                chosen,
                sums,
                units=units,
                unpacked=lambda features: PairSums.unpacked(features, n_labels=q),
                n=n,
                resampling=self.resampling,
                flags=_constant_rater(total.tables),
            )
        statistics = {measure.name: found[measure.name] for measure in measures}
        return PairReport(
            raters=(first, second),
            positive=self.ratings.labels[self.positive],
            n=n,
            n_clusters=int(grouped.copies[is_shared].sum()),
            table=np.rint(total.tables).astype(np.int64),
            confusion=counts if has_gold else None,
            statistics=statistics | self._tests(rows, grouped, counts=counts, n=n),
        )

    def _pair_of_scores(self, first: str, second: str) -> PairReport:
        """Two raters with so many labels that their table would be empty nearly everywhere."""
        ratings = self.ratings
        columns = [ratings.rater_index(first), ratings.rater_index(second)]
        both = (ratings.codes[:, columns] >= 0).all(axis=1)
        clusters = ratings.cluster_of[both]
        two = pair_measures(n_labels=2, positive=1, numbers=None, places=None, has_gold=first == self.gold)
        statistics = _too_many(two)
        if ratings.numbers is not None:
            scores = ratings.scores[both][:, columns]
            units = moment_groups(scores, None)
            grouped = units if self.cluster_of is None else moment_groups(scores, clusters)
            statistics |= estimates(
                moment_measures(),
                grouped,
                units=units,
                unpacked=_as_is,
                n=int(both.sum()),
                resampling=self.resampling,
            )
            statistics |= rank_correlations(
                scores, None if self.cluster_of is None else clusters, resampling=self.resampling
            )
        return PairReport(
            raters=(first, second),
            positive=self.ratings.labels[self.positive],
            n=int(both.sum()),
            n_clusters=len(np.unique(clusters)),
            table=np.zeros((0, 0), dtype=np.int64),
            confusion=None,
            statistics=statistics,
        )

    def _tests(
        self, rows: PairSums, grouped: GroupedSums, *, counts: Confusion, n: int
    ) -> dict[str, Statistic]:
        each = Confusion.of_tables(rows.tables, positive=self.positive)
        # A cluster that one of the two never saw could lean to neither side.
        shared = np.where(each.n > 0, grouped.copies, 0)
        lean = np.repeat(each.fn - each.fp, shared) if self.resampling.is_clustered else None
        test = mcnemar(round(float(counts.fn)), round(float(counts.fp)), differences=lean)
        return _p_values(test, n=n, flags=(Flag.FOLDED,) if self.ratings.n_labels > 2 else ())


def pairs_of(raters: tuple[str, ...], gold: str | None) -> list[tuple[str, str]]:
    """Return each two raters once, the gold rater before all others."""
    ordered = sorted(raters, key=lambda rater: rater != gold)
    return [(first, second) for index, first in enumerate(ordered) for second in ordered[index + 1 :]]


def _p_values(test: McNemar, *, n: int, flags: tuple[Flag, ...]) -> dict[str, Statistic]:
    if n == 0:
        return dict.fromkeys(("mcnemar_exact_p", "mcnemar_midp"), Undefined(Reason.NO_OVERLAP))
    marked = flags if test.is_valid else (*flags, Flag.INVALID_UNDER_CLUSTERING)
    found: dict[str, Statistic] = {
        "mcnemar_exact_p": Value(value=test.exact_p, n=n, method=Method.EXACT_TEST, flags=marked),
        "mcnemar_midp": Value(value=test.mid_p, n=n, method=Method.EXACT_TEST, flags=marked),
    }
    if test.clustered is not None:
        found["mcnemar_clustered_p"] = Value(
            value=test.clustered.p, n=n, method=Method.CLUSTERED_TEST, flags=flags
        )
    return found


def _constant_rater(table: Floats) -> tuple[Flag, ...]:
    margins = (table.sum(axis=0), table.sum(axis=1))
    is_constant = any(np.count_nonzero(margin) == 1 for margin in margins)
    return (Flag.CONSTANT_RATER,) if is_constant else ()


def documents(statistics: Mapping[str, Statistic]) -> dict[str, object]:
    """Each statistic as JSON."""
    return {name: statistic.document() for name, statistic in statistics.items()}


def _by_sums(
    measures: Sequence[Measure[PairSums]], *, grouped: GroupedSums, shared: GroupedSums
) -> list[tuple[GroupedSums, list[Measure[PairSums]]]]:
    if grouped is shared:
        return [(grouped, list(measures))]
    return [
        (shared, [measure for measure in measures if not measure.counts_lone]),
        (grouped, [measure for measure in measures if measure.counts_lone]),
    ]


def _too_many(measures: Sequence[Measure[Any]]) -> dict[str, Statistic]:
    return {measure.name: Undefined(Reason.TOO_MANY_LABELS) for measure in measures}


def _as_is(features: Floats) -> Floats:
    return features
