"""Two-by-two tables of counts within bounds on their shares, as runs in which one count moves to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

type Ints = NDArray[np.int64]
type Floats = NDArray[np.float64]

_PAIRS_AT_ONCE = 500_000
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """A closed interval of a share; it may reach beyond 0 and 1."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runs:
    """Tables of n units with `wrong` = fp + fn and tp, whose fp goes from `first` to `last`.

    All arrays have the shape (m,). Accuracy and F1 stay in a run, so that a million tables are few runs.
    """

    n: int
    wrong: Ints
    tp: Ints
    first: Ints
    last: Ints

    @property
    def total(self) -> int:
        """How many tables these are."""
        return int((self.last - self.first + 1).sum())

    def with_fp(self, fp: Ints) -> Ints:
        """Return the tables tp, fp, fn, tn with the shape (4, m), one a run."""
        return np.stack([self.tp, fp, self.wrong - fp, self.n - self.tp - self.wrong])

    def tables(self, *, most: int) -> Ints:
        """Return at most so many of the tables tp, fp, fn, tn, with the shape (4, m)."""
        lengths = self.last - self.first + 1
        ends = np.cumsum(lengths)
        place = np.arange(min(most, int(ends[-1])), dtype=np.int64)
        run = np.searchsorted(ends, place, side="right")
        fp = place + (self.first - (ends - lengths))[run]
        tp, wrong = self.tp[run], self.wrong[run]
        return np.stack([tp, fp, wrong - fp, self.n - tp - wrong])

    def spans(self) -> Mapping[str, tuple[float, float]]:
        """Return the lowest and the highest of each share over the tables, without those that none defines.

        In a run chance agreement is a parabola of fp with its top at fp = fn, so that the extremes of kappa
        lie at the ends or there; every other share goes one way.
        """
        middle = [np.clip(half, self.first, self.last) for half in (self.wrong // 2, (self.wrong + 1) // 2)]
        corners = np.concatenate([self.with_fp(fp) for fp in (self.first, self.last, *middle)], axis=1)
        known = {name: values[~np.isnan(values)] for name, values in shares_of(corners).items()}
        return {name: (float(each.min()), float(each.max())) for name, each in known.items() if each.size}


def runs_within(
    *, n: int, accuracy: Bounds | None, precision: Bounds | None, recall: Bounds | None, f1: Bounds | None
) -> Iterator[Runs]:
    """Yield all tables of n units within the bounds that are given, in parts that fit in memory.

    A share that a table leaves undefined (precision where nothing was called positive) is within no bounds.
    """
    fewest, most = 0, n
    if accuracy is not None:
        fewest = max(fewest, int(np.ceil(n * (1 - accuracy.high))))
        most = min(most, int(np.floor(n * (1 - accuracy.low))))
    wrong = np.arange(fewest, most + 1, dtype=np.int64)
    low, high = np.zeros_like(wrong), n - wrong
    for bounds in (f1, _f1_bounds(precision, recall)):
        if bounds is not None:
            least, greatest = _true_positives(wrong, bounds, n=n)
            low, high = np.maximum(low, least), np.minimum(high, greatest)
    lengths = np.maximum(high - low + 1, 0)
    wrong, low, lengths = wrong[lengths > 0], low[lengths > 0], lengths[lengths > 0]
    cuts = np.flatnonzero(np.diff(np.cumsum(lengths) // _PAIRS_AT_ONCE)) + 1
    for part in np.split(np.arange(wrong.size), cuts):
        sizes = lengths[part]
        before = np.cumsum(sizes) - sizes
        tp = np.repeat(low[part] - before, sizes) + np.arange(sizes.sum(), dtype=np.int64)
        runs = _narrowed(n, np.repeat(wrong[part], sizes), tp, precision=precision, recall=recall)
        if runs.tp.size:
            yield runs


def shares_of(tables: Ints) -> Mapping[str, Floats]:
    """Return what tables with the shape (4, m) imply, as arrays (m,), nan where undefined."""
    tp, fp, fn, tn = tables.astype(np.float64)
    n = tp + fp + fn + tn
    return {
        "accuracy": (tp + tn) / n,
        "precision": _share(tp, tp + fp),
        "recall": _share(tp, tp + fn),
        "f1": _share(2 * tp, 2 * tp + fp + fn),
        # (p_o - p_e) / (1 - p_e) in whole numbers, without the difference of two shares near 1.
        "kappa": _share(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)),
        "specificity": _share(tn, tn + fp),
        "always_pass": (tp + fn) / n,
    }


def _f1_bounds(precision: Bounds | None, recall: Bounds | None) -> Bounds | None:
    """What bounds on precision, recall or both say about F1, which is their harmonic mean."""
    if precision is None and recall is None:
        return None
    p, r = (each or Bounds(low=0.0, high=1.0) for each in (precision, recall))
    return Bounds(low=_harmonic(p.low, r.low) - _ROUNDING, high=_harmonic(p.high, r.high) + _ROUNDING)


def _harmonic(precision: float, recall: float) -> float:
    p, r = min(max(precision, 0.0), 1.0), min(max(recall, 0.0), 1.0)
    return 2 * p * r / (p + r) if p + r > 0 else 0.0


def _true_positives(wrong: Ints, f1: Bounds, *, n: int) -> tuple[Ints, Ints]:
    """The least and the greatest tp for each number of wrong answers: F1 = 2 tp / (2 tp + wrong)."""
    if f1.low <= 0:
        least = np.zeros_like(wrong)
    elif f1.low < 1:
        least = _whole(np.ceil(f1.low * wrong / (2 * (1 - f1.low))), n=n)
    else:
        least = np.where(wrong == 0, 0, n + 1)
    if f1.high >= 1:
        greatest = np.full_like(wrong, n)
    else:
        greatest = _whole(np.floor(max(f1.high, -1.0) * wrong / (2 * (1 - f1.high))), n=n)
    # Without any positive F1 is undefined.
    return np.where(wrong == 0, np.maximum(least, 1), least), greatest


def _narrowed(n: int, wrong: Ints, tp: Ints, *, precision: Bounds | None, recall: Bounds | None) -> Runs:
    first, last = np.zeros_like(wrong), wrong
    if precision is not None:
        fewest, most = _mistakes(tp, precision, n=n)
        first, last = np.maximum(first, fewest), np.minimum(last, most)
    if recall is not None:
        fewest, most = _mistakes(tp, recall, n=n)
        first, last = np.maximum(first, wrong - most), np.minimum(last, wrong - fewest)
    kept = first <= last
    return Runs(n=n, wrong=wrong[kept], tp=tp[kept], first=first[kept], last=last[kept])


def _mistakes(tp: Ints, share: Bounds, *, n: int) -> tuple[Ints, Ints]:
    """The fewest and the most other units such that tp of all of them is a share within bounds."""
    if share.high < 0:
        return np.full_like(tp, n + 1), np.zeros_like(tp)
    if share.high == 0:
        fewest = np.where(tp > 0, n + 1, 1)
    else:
        fewest = _whole(np.ceil(tp * (1 / share.high - 1)), n=n)
    most = np.full_like(tp, n) if share.low <= 0 else _whole(np.floor(tp * (1 / share.low - 1)), n=n)
    # 0 of 0 is no share.
    return np.where(tp == 0, np.maximum(fewest, 1), fewest), most


def _whole(counts: Floats, *, n: int) -> Ints:
    return np.clip(counts, -1, n + 1).astype(np.int64)


def _share(part: Floats, whole: Floats) -> Floats:
    ratio: Floats = part / np.where(whole > 0, whole, np.nan)
    return ratio
