"""Published figures of a judge, and the tables of counts that could have given them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from math import ceil

import numpy as np
from numpy.typing import NDArray

from annotation.agreement.table_runs import Bounds, Ints, Runs, runs_within, shares_of

MOST_UNITS = 100_000
_NEAR = 2.0
_LAID_OUT_AT_MOST = 200_000
_MOST_RUNS = 4_000_000
_FAR = 0.05
_ROUNDING = 1e-12
_MOST_DECIMALS = 12


class PublishedError(ValueError):
    """Published figures that cannot be examined; its text is one sentence with the way out."""


class Figure(StrEnum):
    """What papers print about a judge; precision, recall and F1 are those of the positive class."""

    ACCURACY = "accuracy"
    PRECISION = "precision"
    RECALL = "recall"
    F1 = "f1"

    @property
    def words(self) -> str:
        """As a sentence has it."""
        return "F1" if self is Figure.F1 else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A figure as it was printed: a share in [0, 1], and half a unit of its last decimal."""

    share: float
    half_unit: float

    @classmethod
    def parse(cls, text: str) -> Printed:
        """Read "93.35", "93.35%" or "0.9335": above 1 or with its sign it is a percentage.

        A bare 0 or 1 is one too, 0% or 100%. Raises PublishedError.
        """
        bare = text.strip().removesuffix("%").strip()
        if not (number := _decimal(bare)).is_finite():
            number = Decimal(-1)
        is_percent = text.strip().endswith("%") or number > 1
        limit = 100 if is_percent else 1
        if not 0 <= number <= limit:
            raise PublishedError(f"{text!r} is no share; print it as 93.35, 93.35% or 0.9335.")
        exponent = number.as_tuple().exponent
        assert isinstance(exponent, int)
        if exponent < -_MOST_DECIMALS:
            raise PublishedError(
                f"{text!r} has more than {_MOST_DECIMALS} decimals; give it as it was printed."
            )
        unit = Decimal(1).scaleb(min(exponent, 0)) / limit
        is_bare = exponent >= 0 and not is_percent
        return cls(share=float(number / limit), half_unit=0.005 if is_bare else float(unit / 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The lowest and the highest value over some tables."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableSet:
    """Tables of counts, and what they imply.

    `tables` has the shape (m, 4): tp, fp, fn, tn, the closest first; m is at most what was asked for, `n_tables`
    how many there are. Each figure lies within `deviation` of what was printed (a share). A span is None where
    none of the tables defines it. `always_pass` is the accuracy of a judge that always says the positive label.
    """

    n_tables: int
    tables: Ints
    deviation: float
    kappa: Span | None
    specificity: Span | None
    always_pass: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What published figures allow: tables `consistent` with them, or else the `nearest` ones."""

    n: int
    printed: Mapping[Figure, Printed]
    tolerance: float
    consistent: TableSet | None
    nearest: TableSet | None

    @property
    def always_pass_wins(self) -> bool | None:
        """Whether always saying the positive label beats the printed accuracy in every table found.

        None where no accuracy was printed or no table was found.
        """
        found, accuracy = self.consistent or self.nearest, self.printed.get(Figure.ACCURACY)
        return None if found is None or accuracy is None else found.always_pass.low > accuracy.share

    def sentence(self) -> str:
        """Say it to a person."""
        said = ", ".join(f"{figure.words} {100 * each.share:g}%" for figure, each in self.printed.items())
        found = self.consistent or self.nearest
        if found is None:
            return f"No table of {self.n:,} outcomes comes near {said}: these figures exclude each other."
        one = found.n_tables == 1
        tables = "table" if one else "tables"
        if self.consistent is not None:
            opening = f"{found.n_tables:,} {tables} of {self.n:,} outcomes {'has' if one else 'have'} {said}"
        else:
            opening = (
                f"No table of {self.n:,} outcomes has {said} at the printed rounding; the nearest "
                f"({found.n_tables:,} {tables}, each figure within {_upwards(100 * found.deviation)} points)"
            )
        return (
            f"{opening}{' and' if self.consistent else ''} {'implies' if one else 'imply'} {_implied(found)}."
        )


def examine(
    printed: Mapping[Figure, Printed], *, n: int, tolerance: float = 0.0, most_tables: int = 1000
) -> Examination:
    """Return every integer table (tp, fp, fn, tn) of n outcomes that has the printed figures.

    A table is consistent if each figure lies within half a unit of the last printed decimal, ends included,
    plus `tolerance` (a share). Where none is, `nearest` holds the tables within twice the smallest widening of
    all these half units at which there is one: a single table would feign to know which figure slipped.

    Raises PublishedError where n is not in 1..100,000, or too little is printed to enumerate anything.
    """
    if not 1 <= n <= MOST_UNITS:
        raise PublishedError(f"n is {n:,}; tables can be enumerated for 1 to {MOST_UNITS:,} outcomes.")
    given = printed.keys()
    if not (Figure.ACCURACY in given or Figure.F1 in given or {Figure.PRECISION, Figure.RECALL} <= given):
        raise PublishedError(
            "Too little is printed; give the accuracy, the F1, or both precision and recall (more is better)."
        )
    question = _Question(printed=printed, n=n, tolerance=tolerance)
    if question.has_tables(1.0):
        return _answer(question, consistent=question.tables(1.0, most_tables=most_tables))
    smallest = question.smallest_widening()
    if smallest is None:
        return _answer(question)
    return _answer(question, nearest=question.tables(_NEAR * smallest, most_tables=most_tables))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    printed: Mapping[Figure, Printed]
    n: int
    tolerance: float

    def margin(self, figure: Figure) -> float:
        return self.printed[figure].half_unit + self.tolerance

    def runs(self, widening: float) -> Iterator[Runs]:
        def bounds(figure: Figure) -> Bounds | None:
            if figure not in self.printed:
                return None
            margin = self.margin(figure) * widening + _ROUNDING
            return Bounds(low=self.printed[figure].share - margin, high=self.printed[figure].share + margin)

        return runs_within(
            n=self.n,
            accuracy=bounds(Figure.ACCURACY),
            precision=bounds(Figure.PRECISION),
            recall=bounds(Figure.RECALL),
            f1=bounds(Figure.F1),
        )

    def has_tables(self, widening: float) -> bool:
        return any(runs.total for runs in self.runs(widening))

    def smallest_widening(self) -> float | None:
        """By doubling, then by halving; None where figures would have to be off by more than `_FAR`."""
        high = 2.0
        while not self.has_tables(high):
            if high * max(map(self.margin, self.printed)) > _FAR:
                return None
            high *= 2
        low = high / 2
        while high - low > 1e-6 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.has_tables(middle) else (middle, high)
        return high

    def tables(self, widening: float, *, most_tables: int) -> TableSet:
        n_tables, n_runs, laid_out, ends = 0, 0, [np.zeros((4, 0), dtype=np.int64)], dict[str, Span]()
        for runs in self.runs(widening):
            n_runs += runs.tp.size
            if n_runs > _MOST_RUNS:
                raise PublishedError(
                    f"Too many tables of {self.n:,} outcomes have these figures to go through; give more figures "
                    "or more decimals."
                )
            room = max(0, _LAID_OUT_AT_MOST - n_tables)
            n_tables += runs.total
            laid_out.append(runs.tables(most=room))
            for name, (low, high) in runs.spans().items():
                so_far = ends.get(name, Span(low=low, high=high))
                ends[name] = Span(low=min(low, so_far.low), high=max(high, so_far.high))
        tables = np.concatenate(laid_out, axis=1)
        order = np.argsort(self._distance(tables), kind="stable")[:most_tables]
        return TableSet(
            n_tables=n_tables,
            tables=tables[:, order].T,
            deviation=max(
                max(abs(ends[figure].low - each.share), abs(ends[figure].high - each.share))
                for figure, each in self.printed.items()
            ),
            kappa=ends.get("kappa"),
            specificity=ends.get("specificity"),
            always_pass=ends["always_pass"],
        )

    def _distance(self, tables: Ints) -> NDArray[np.float64]:
        """The greatest distance from a printed figure, in its own margins."""
        shares = shares_of(tables)
        off = [np.abs(shares[name] - each.share) / self.margin(name) for name, each in self.printed.items()]
        greatest: NDArray[np.float64] = np.max(off, axis=0)
        return greatest


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("NaN")


def _answer(
    question: _Question, *, consistent: TableSet | None = None, nearest: TableSet | None = None
) -> Examination:
    return Examination(
        n=question.n,
        printed=question.printed,
        tolerance=question.tolerance,
        consistent=consistent,
        nearest=nearest,
    )


def _implied(found: TableSet) -> str:
    parts = [
        f"{name} {_ends(span, '.2f')}"
        for name, span in (("kappa", found.kappa), ("specificity", found.specificity))
        if span is not None
    ]
    share = Span(low=100 * found.always_pass.low, high=100 * found.always_pass.high)
    parts.append(f"an accuracy of {_ends(share, '.1f')}% for a judge that always says pass")
    return ", ".join(parts[:-1]) + (" and " if parts[:-1] else "") + parts[-1]


def _upwards(points: float) -> str:
    """A bound that is still true after rounding."""
    return f"{ceil(1000 * points - 1e-6) / 1000:g}"


def _ends(span: Span, shown: str) -> str:
    low, high = format(span.low, shown), format(span.high, shown)
    return low if low == high else f"{low} to {high}"
