"""A number with its interval and what it rests on, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a statistic does not exist; `sentence` says it to a person."""

    NO_RATINGS = "no_ratings"
    NO_OVERLAP = "no_overlap"
    NO_VARIATION = "no_variation"
    ONE_LABEL = "one_label"
    ONE_CLASS_IN_GOLD = "one_class_in_gold"
    ONE_CLASS_IN_RATER = "one_class_in_rater"
    NO_POSITIVE_IN_GOLD = "no_positive_in_gold"
    NO_NEGATIVE_IN_GOLD = "no_negative_in_gold"
    NOBODY_SAID_POSITIVE = "nobody_said_positive"
    NOBODY_SAID_NEGATIVE = "nobody_said_negative"
    CONSTANT = "constant"
    TOO_FEW = "too_few"
    NOT_NUMERIC = "not_numeric"
    NOT_A_RATIO_SCALE = "not_a_ratio_scale"
    NOT_TWO_LABELS = "not_two_labels"
    TOO_MANY_LABELS = "too_many_labels"
    INCOMPLETE = "incomplete"
    NOT_LABELLED = "not_labelled"
    NOT_LABELLED_WHOLE = "not_labelled_whole"
    NEVER_DRAWN = "never_drawn"
    NO_BETTER_THAN_CHANCE = "no_better_than_chance"

    @property
    def sentence(self) -> str:
        """The reason in words."""
        return _SENTENCES[self]


_SENTENCES = {
    Reason.NO_RATINGS: "There is no rating.",
    Reason.NO_OVERLAP: "No unit was rated by two raters.",
    Reason.NO_VARIATION: "Only one label was ever given, so agreement cannot be told from chance.",
    Reason.ONE_LABEL: "Only one label is declared.",
    Reason.ONE_CLASS_IN_GOLD: "The gold rater gave one class only.",
    Reason.ONE_CLASS_IN_RATER: "The rater who is compared gave one class only.",
    Reason.NO_POSITIVE_IN_GOLD: "The gold rater never gave the positive label.",
    Reason.NO_NEGATIVE_IN_GOLD: "The gold rater gave the positive label only.",
    Reason.NOBODY_SAID_POSITIVE: "The positive label was never given where it would count.",
    Reason.NOBODY_SAID_NEGATIVE: "No other label than the positive one was given where it would count.",
    Reason.CONSTANT: "One side never changes.",
    Reason.TOO_FEW: "There are too few units.",
    Reason.NOT_NUMERIC: "The labels are not numbers, or were not declared to be.",
    Reason.NOT_A_RATIO_SCALE: "A ratio scale has no negative number.",
    Reason.NOT_TWO_LABELS: "It is defined for two labels only.",
    Reason.TOO_MANY_LABELS: "There are too many labels for a table; have them read as scores.",
    Reason.INCOMPLETE: "No unit was rated by every rater.",
    Reason.NOT_LABELLED: "No outcome was labelled by a person.",
    Reason.NOT_LABELLED_WHOLE: "Too few were labelled whole: one counts only where people marked all of its outcomes.",
    Reason.NEVER_DRAWN: "A part of the outcomes was never drawn to be labelled, so nothing is known of the judge there.",
    Reason.NO_BETTER_THAN_CHANCE: "The judge is no better than chance on the labelled outcomes.",
}


class Flag(StrEnum):
    """What a reader must know beside a value; `sentence` says it."""

    CONSTANT_RATER = "constant_rater"
    FEW_CLUSTERS = "few_clusters"
    ONE_CLUSTER = "one_cluster"
    UNDEFINED_RESAMPLES = "undefined_resamples"
    COLLAPSED = "collapsed"
    FOLDED = "folded"
    LISTWISE = "listwise"
    INVALID_UNDER_CLUSTERING = "invalid_under_clustering"
    CLUSTERING_IGNORED = "clustering_ignored"
    FEW_LABELLED_PROJECTS = "few_labelled_projects"
    FEW_LABELLED = "few_labelled"
    RARE_CLASS = "rare_class"
    WEAK_JUDGE = "weak_judge"
    CLIPPED = "clipped"
    NO_ERROR_SEEN = "no_error_seen"

    @property
    def sentence(self) -> str:
        """The flag in words."""
        return _FLAG_SENTENCES[self]


_FLAG_SENTENCES = {
    Flag.CONSTANT_RATER: "One rater gave the same label to every unit.",
    Flag.FEW_CLUSTERS: "There are few clusters, so look at the jackknife interval too.",
    Flag.ONE_CLUSTER: "Everything lies in one cluster, so no interval over clusters exists.",
    Flag.UNDEFINED_RESAMPLES: "It was undefined in some resamples, which the interval leaves out.",
    Flag.COLLAPSED: "Every resample gave the same value, so the bootstrap says nothing about its spread.",
    Flag.FOLDED: "The positive label stands against all others together.",
    Flag.LISTWISE: "Units that lack a rating were left out.",
    Flag.INVALID_UNDER_CLUSTERING: "It takes every unit to be independent, and here they are clustered.",
    Flag.CLUSTERING_IGNORED: "This interval takes every unit to be independent.",
    Flag.FEW_LABELLED_PROJECTS: "Few projects hold labels, so the interval may be too narrow.",
    Flag.FEW_LABELLED: "Few outcomes are labelled, or a few of them stand for many, so the interval may be too narrow.",
    Flag.RARE_CLASS: "Nearly everything passes, or nearly nothing, so the interval may be too narrow.",
    Flag.WEAK_JUDGE: "The judge is hardly better than chance, so dividing by its error rates is not to be trusted.",
    Flag.CLIPPED: "It was cut off at 0 or 1.",
    Flag.NO_ERROR_SEEN: "No labelled outcome shows an error of the judge, which does not mean that it makes none.",
}


class Method(StrEnum):
    """How an interval was made."""

    NONE = "none"
    BOOTSTRAP_CLUSTERS = "percentile bootstrap over clusters"
    BOOTSTRAP_UNITS = "percentile bootstrap over units"
    JACKKNIFE = "jackknife over clusters, t"
    WILSON = "Wilson score"
    WILSON_CLUSTERS = "Wilson score with clusters as n, as the bootstrap collapsed"
    WILSON_THROUGH_CHANCE = "Wilson score of agreement with clusters as n, at the observed chance agreement"
    KAPPA_NORMAL = "Fleiss, Cohen and Everitt 1969, normal"
    LINEARISED_T = "Gwet 2014 linearised variance with n - 1, t"
    FISHER_Z = "Fisher z"
    ICC_F = "McGraw and Wong 1996, F"
    CLUSTERED_TEST = "two-sided p-value of the test adjusted for clusters, no interval"
    EXACT_TEST = "two-sided p-value, no interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95% interval beside the main one, and how it was made."""

    low: float
    high: float
    method: str
    flags: tuple[Flag, ...] = ()

    def document(self) -> dict[str, object]:
        """As JSON."""
        shown: dict[str, object] = {"low": self.low, "high": self.high, "method": str(self.method)}
        return shown | ({"flags": [flag.value for flag in self.flags]} if self.flags else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A statistic that exists.

    `low` and `high` are its 95% interval, both None where none can be given; `method` says how it was made.
    `n` is the number of units compared, `denominator` that of units a share is of. `resamples` were drawn, of
    which `undefined_resamples` gave no value.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None
    method: str = Method.NONE
    flags: tuple[Flag, ...] = ()
    resamples: int = 0
    undefined_resamples: int = 0
    denominator: int | None = None
    se: float | None = None
    analytic: Interval | None = None
    jackknife: Interval | None = None
    bootstrap: Interval | None = None

    def document(self) -> dict[str, object]:
        """As JSON, without what was not computed."""
        shown: dict[str, object] = {"value": self.value, "low": self.low, "high": self.high, "n": self.n}
        shown["method"] = str(self.method)
        if self.resamples:
            shown |= {"resamples": self.resamples, "undefined_resamples": self.undefined_resamples}
        if self.denominator is not None:
            shown["denominator"] = self.denominator
        if self.se is not None:
            shown["se"] = self.se
        if self.analytic is not None:
            shown["analytic"] = self.analytic.document()
        if self.jackknife is not None:
            shown["jackknife"] = self.jackknife.document()
        if self.bootstrap is not None:
            shown["bootstrap"] = self.bootstrap.document()
        if self.flags:
            shown["flags"] = [flag.value for flag in self.flags]
        return shown


@dataclass(frozen=True, slots=True)
class Undefined:
    """A statistic that does not exist here, and why."""

    reason: Reason

    def document(self) -> dict[str, object]:
        """As JSON: null with the reason as a word and as a sentence."""
        return {"value": None, "reason": self.reason.value, "because": self.reason.sentence}


type Statistic = Value | Undefined
