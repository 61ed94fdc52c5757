"""What a report says in words: its methods, and what a reader must not overlook."""

from __future__ import annotations

from collections.abc import Mapping

from annotation.agreement.estimating import Resampling
from annotation.agreement.intervals import FEW_CLUSTERS
from annotation.agreement.ratings import Ratings
from annotation.agreement.values import Statistic, Value

_RARE = 0.9


def methods_of(ratings: Ratings, *, resampling: Resampling) -> dict[str, str]:
    """Return one sentence for each choice behind the numbers."""
    unit = "clusters" if resampling.is_clustered else "units"
    places = "the labels' numbers" if ratings.numbers is not None else "the labels' ranks"
    return {
        "interval": f"95% percentile bootstrap: {resampling.resamples} resamples of {unit}, "
        f"seed {resampling.seed}; undefined resamples are left out and counted.",
        "few_clusters": f"With fewer than {FEW_CLUSTERS} {unit} a delete-one jackknife interval stands beside it.",
        "no_spread": "Where every resample is 0 or 1, a Wilson interval with clusters as n stands in.",
        "analytic": "Analytic intervals take every unit to be independent.",
        "weights": f"Linear and quadratic weights use {places}; ordinal weights use ranks.",
        "prevalence": "Labels' prevalence in Fleiss' kappa, Conger's kappa and Gwet's AC is taken over all rated "
        "units, observed agreement over units with two or more ratings; `sensitivity` has both over the latter.",
        "alpha": "Krippendorff's alpha uses pairable values only.",
        "missing": "A missing rating is never a label.",
        "domain": f"All {ratings.n_labels} declared labels count, used or not."
        if ratings.are_labels_declared
        else f"No labels were declared; the domain of {ratings.n_labels} was taken from the ratings.",
        "folded": "Rates of a positive label set it against all other labels together.",
    }


def warnings_of(
    ratings: Ratings, *, statistics: Mapping[str, Mapping[str, Statistic]], positive: str
) -> tuple[str, ...]:
    """Return one sentence for each thing that would mislead a reader who sees a single number.

    `statistics` holds those of each pair by its name.
    """
    found = []
    if not ratings.is_clustered:
        found.append("No clusters were given, so every unit is taken to be independent of the others.")
    elif ratings.n_clusters < FEW_CLUSTERS:
        found.append(
            f"There are only {ratings.n_clusters} clusters: bootstrap intervals are too narrow; "
            "see the jackknife beside them."
        )
    if not ratings.are_labels_declared:
        found.append(
            f"The labels were not declared; {', '.join(ratings.labels[:20])} were assumed, lowest first."
        )
    for pair, named in statistics.items():
        found += _pair_warnings(pair, named, positive=positive)
    return tuple(found)


def _pair_warnings(pair: str, named: Mapping[str, Statistic], *, positive: str) -> list[str]:
    accuracy, always = named.get("accuracy"), named.get("always_pass_accuracy")
    never = named.get("always_fail_accuracy")
    found = []
    for baseline, words in ((always, f"always says {positive}"), (never, f"never says {positive}")):
        if not (isinstance(accuracy, Value) and isinstance(baseline, Value)):
            continue
        if baseline.value >= accuracy.value:
            found.append(
                f"{pair}: a judge that {words} would be right in {baseline.value:.2%}, "
                f"this one is right in {accuracy.value:.2%}."
            )
    prevalence = named.get("prevalence_index_signed")
    if isinstance(prevalence, Value) and abs(prevalence.value) >= _RARE:
        found.append(
            f"{pair}: nearly all labels are of one class (prevalence index {prevalence.value:.2f}), "
            "so kappa is unstable; read AC1 and specificity with it."
        )
    return found
