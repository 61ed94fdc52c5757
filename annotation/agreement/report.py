"""One report of agreement: every statistic, every pair, both folds, the human ceiling and the warnings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from annotation.agreement.ceiling import Ceiling, human_ceiling
from annotation.agreement.estimating import Resampling
from annotation.agreement.intervals import RESAMPLES
from annotation.agreement.ratings import Excluded, Fold, Ratings, RatingsError
from annotation.agreement.report_parts import MOST_LABELS, PairReport, ReportParts, documents
from annotation.agreement.report_words import methods_of, warnings_of
from annotation.agreement.values import Statistic

SEED = 20250101


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Report:
    """The agreement of some ratings. `document()` is the form that leaves the program."""

    labels: tuple[str, ...]
    positive: str
    gold: str | None
    raters: tuple[str, ...]
    n_units: int
    n_clusters: int
    n_ratings: int
    is_clustered: bool
    excluded: tuple[Excluded, ...]
    statistics: Mapping[str, Statistic]
    pairs: tuple[PairReport, ...]
    sensitivity: Mapping[str, Statistic]
    folds: Mapping[Fold, tuple[PairReport, ...]]
    ceiling: Ceiling | None
    methods: Mapping[str, str]
    warnings: tuple[str, ...]
    seed: int
    resamples: int

    def document(self) -> dict[str, object]:
        """As JSON, with the keys that outsiders rely on and some more."""
        shown: dict[str, object] = {
            "labels": list(self.labels),
            "positive": self.positive,
            "gold": self.gold,
            "n_units": self.n_units,
            "n_raters": len(self.raters),
            "n_clusters": self.n_clusters,
            "excluded": [{"reason": each.reason, "n": each.n} for each in self.excluded],
            "statistics": documents(self.statistics),
            "pairs": {pair.key: pair.document() for pair in self.pairs},
            "raters": list(self.raters),
            "n_ratings": self.n_ratings,
            "n_missing": self.n_units * len(self.raters) - self.n_ratings,
            "clustered": self.is_clustered,
            "sensitivity": documents(self.sensitivity),
            "folds": {
                fold.value: {pair.key: pair.document() for pair in pairs}
                for fold, pairs in self.folds.items()
            },
            "methods": dict(self.methods),
            "warnings": list(self.warnings),
            "seed": self.seed,
            "resamples": self.resamples,
        }
        if self.ceiling is not None:
            shown["human_ceiling"] = self.ceiling.document()
        return shown


def report(
    ratings: Ratings,
    *,
    gold: str | None = None,
    positive: str | None = None,
    people: Collection[str] = (),
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Report:
    """Return the agreement of ratings; `positive` is the highest label unless given.

    `gold` is the rater whom others are compared with. `people` are the raters who are human: their agreement
    among themselves is the ceiling for the others'. Where labels have numbers, statistics of scores are added.

    Raises RatingsError where a named rater or label does not exist.
    """
    if not ratings.labels:
        raise RatingsError("There is no label; give ratings, or declare the labels.")
    chosen = ratings.labels[-1] if positive is None else ratings.labels[ratings.label_index(positive)]
    for rater in {*people, *([gold] if gold is not None else [])}:
        ratings.rater_index(rater)
    parts = ReportParts(
        ratings=ratings,
        gold=gold,
        positive=ratings.labels.index(chosen),
        resampling=Resampling(resamples=resamples, seed=seed, is_clustered=ratings.is_clustered),
    )
    pairs = parts.pairs()
    statistics = pairs[0].statistics if len(pairs) == 1 else parts.statistics()
    folds = parts.folds()
    return Report(
        labels=ratings.labels,
        positive=chosen,
        gold=gold,
        raters=ratings.raters,
        n_units=ratings.n_units,
        n_clusters=ratings.n_clusters,
        n_ratings=int(ratings.counts.sum()),
        is_clustered=ratings.is_clustered,
        excluded=ratings.excluded,
        statistics=statistics,
        pairs=pairs,
        sensitivity=parts.sensitivity(),
        folds=folds,
        ceiling=human_ceiling(ratings, people=people, positive=parts.positive, resampling=parts.resampling)
        if people and len(ratings.labels) <= MOST_LABELS
        else None,
        methods=methods_of(ratings, resampling=parts.resampling),
        warnings=warnings_of(
            ratings, statistics={pair.key: pair.statistics for pair in pairs}, positive=chosen
        ),
        seed=seed,
        resamples=resamples,
    )
