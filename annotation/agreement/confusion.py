"""What a judge says against what the gold rater says, for one label that counts as positive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.agreement.sums import quotient
from annotation.agreement.values import Reason
from annotation.agreement.weights import Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Confusion:
    """Counts of any batch shape: rows are gold (or the first rater), positive is one label, negative all others."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats

    @classmethod
    def of_tables(cls, tables: Floats, *, positive: int) -> Confusion:
        """Take one label against the rest: (..., q, q) -> (...)."""
        tp = tables[..., positive, positive]
        gold, judge = tables[..., positive, :].sum(axis=-1), tables[..., :, positive].sum(axis=-1)
        n = tables.sum(axis=(-1, -2))
        return cls(tp=tp, fp=judge - tp, fn=gold - tp, tn=n - gold - judge + tp)

    @property
    def n(self) -> Floats:
        return self.tp + self.fp + self.fn + self.tn

    @property
    def swapped(self) -> Confusion:
        """The same with the other class as positive."""
        return Confusion(tp=self.tn, fp=self.fn, fn=self.fp, tn=self.tp)

    @property
    def tables(self) -> Floats:
        """The 2x2 tables, negative first: (..., 2, 2)."""
        rows = [np.stack([self.tn, self.fp], axis=-1), np.stack([self.fn, self.tp], axis=-1)]
        return np.stack(rows, axis=-2)


def accuracy(counts: Confusion) -> Floats:
    """Return the share of right verdicts: (...)."""
    return quotient(counts.tp + counts.tn, counts.n)


def precision(counts: Confusion) -> Floats:
    """Return tp / (tp + fp): nan where the judge never says positive."""
    return quotient(counts.tp, counts.tp + counts.fp)


def recall(counts: Confusion) -> Floats:
    """Return tp / (tp + fn): nan where gold has no positive."""
    return quotient(counts.tp, counts.tp + counts.fn)


def f1(counts: Confusion) -> Floats:
    """Return 2 tp / (2 tp + fp + fn), which is also the positive agreement of two raters (Cicchetti, Feinstein 1990)."""
    return quotient(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn)


def specificity(counts: Confusion) -> Floats:
    """Return tn / (tn + fp): nan where gold has no negative."""
    return recall(counts.swapped)


def npv(counts: Confusion) -> Floats:
    """Return tn / (tn + fn): nan where the judge never says negative."""
    return precision(counts.swapped)


def f1_negative(counts: Confusion) -> Floats:
    """Return F1 of the negative class, which is also the negative agreement of two raters."""
    return f1(counts.swapped)


def macro_f1(counts: Confusion) -> Floats:
    """Return the mean of both F1: nan where one of them is undefined."""
    return (f1(counts) + f1_negative(counts)) / 2


def balanced_accuracy(counts: Confusion) -> Floats:
    """Return the mean of recall and specificity: nan where gold has one class."""
    return (recall(counts) + specificity(counts)) / 2


def mcc(counts: Confusion) -> Floats:
    """Return Matthews' correlation coefficient (Matthews 1975): nan where either side has one class."""
    said, meant = counts.tp + counts.fp, counts.tp + counts.fn
    said_not, meant_not = counts.tn + counts.fn, counts.tn + counts.fp
    # The root of each factor: their product overflows no float, but loses digits for large tables.
    scale = np.sqrt(said) * np.sqrt(meant) * np.sqrt(said_not) * np.sqrt(meant_not)
    return quotient(counts.tp * counts.tn - counts.fp * counts.fn, scale)


def always_positive_accuracy(counts: Confusion) -> Floats:
    """Return the accuracy of a judge that always says the positive label."""
    return quotient(counts.tp + counts.fn, counts.n)


def always_negative_accuracy(counts: Confusion) -> Floats:
    """Return the accuracy of a judge that never says the positive label."""
    return quotient(counts.tn + counts.fp, counts.n)


def positive_rate(counts: Confusion) -> Floats:
    """Return the share of units that the judge (or second rater) calls positive."""
    return quotient(counts.tp + counts.fp, counts.n)


def prevalence_index(counts: Confusion) -> Floats:
    """Return (both positive - both negative) / n, signed (Byrt, Bishop and Carlin 1993)."""
    return quotient(counts.tp - counts.tn, counts.n)


def bias_index(counts: Confusion) -> Floats:
    """Return (only the first says positive - only the second does) / n, signed (Byrt, Bishop and Carlin 1993)."""
    return quotient(counts.fn - counts.fp, counts.n)


def gold_reason(counts: Confusion) -> Reason:
    """Say why a rate over gold's classes (recall, specificity, balanced accuracy) is undefined for one table."""
    if counts.n == 0:
        return Reason.NO_OVERLAP
    if counts.tp + counts.fn == 0:
        return Reason.NO_POSITIVE_IN_GOLD
    return Reason.NO_NEGATIVE_IN_GOLD


def judge_reason(counts: Confusion) -> Reason:
    """Say why a rate over the judge's classes (precision, npv) or an F1 is undefined for one table."""
    if counts.n == 0:
        return Reason.NO_OVERLAP
    return Reason.NOBODY_SAID_POSITIVE if counts.tp + counts.fp == 0 else Reason.NOBODY_SAID_NEGATIVE


def mcc_reason(counts: Confusion) -> Reason:
    """Say why Matthews' coefficient is undefined for one table."""
    if counts.n == 0:
        return Reason.NO_OVERLAP
    if counts.tp + counts.fn == 0 or counts.tn + counts.fp == 0:
        return Reason.ONE_CLASS_IN_GOLD
    return Reason.ONE_CLASS_IN_RATER
