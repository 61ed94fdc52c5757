"""Gather ratings from rows in the long form: one row says what one rater said about one unit."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.agreement.ratings import (
    MISSING,
    MOST_LABELS,
    Excluded,
    Ratings,
    RatingsError,
    number_in,
    numbers_of,
)

ASSUMED = ("fail", "partial", "pass")
NO_CATEGORY = frozenset({"none", "null", "nan", "na", "n/a", "skip", "skipped", "error"})
_UNSET = -1


class Row(NamedTuple):
    """One rating; `label` empty or None where nothing was said, `line` is where a person finds it."""

    unit: str
    rater: str
    label: str | None
    cluster: str | None = None
    kind: str | None = None
    line: int = 0


def ratings_of(
    rows: Iterable[Row],
    *,
    labels: Sequence[str] | None = None,
    is_numeric: bool = False,
    excluded: Sequence[Excluded] = (),
    place: str = "line",
) -> Ratings:
    """Return the ratings that rows hold; rows are read once, so that they may be a stream.

    `labels`, lowest first, declares the domain. Without it the domain is fail < partial < pass where all
    labels are among these, else the labels seen in their order (numbers by value). A label outside the
    domain, and without a declared one whatever says that nothing was judged (`NO_CATEGORY`), is left out and
    counted in `excluded`. Blanks around names do not count. Units that nobody rated are left out.

    Raises RatingsError where a rater rated a unit twice, a unit is in two clusters or of two kinds, a row
    lacks its unit or rater, or nothing is left.
    """
    table = _Table(place)
    table.fill(rows)
    if not table.units_of:
        raise RatingsError("There are no ratings; give at least one row with unit, rater and label.")
    table.refuse_duplicates()
    if joined := next((rater for rater in table.raters if "|" in rater), None):
        raise RatingsError(
            f"Rater {joined!r} has a | in its name, which parts the two raters of a pair; write it otherwise."
        )
    declared = None if labels is None else [label.strip() for label in labels]
    domain = _domain(table.labels, declared, is_numeric=is_numeric)
    cluster_names, cluster_of = table.clusters_of()
    ratings = Ratings(
        labels=domain.labels,
        units=tuple(table.units),
        raters=tuple(table.raters),
        clusters=cluster_names,
        codes=table.matrix(domain),
        cluster_of=cluster_of,
        kinds=table.kind_names(),
        numbers=numbers_of(domain.labels) if is_numeric else None,
        excluded=(*excluded, *table.left_out(domain)),
        is_clustered=bool(table.clusters),
        are_labels_declared=declared is not None,
    )
    rated = ratings.counts > 0
    if not rated.any():
        raise RatingsError(
            "No row has a label of the domain "
            f"({', '.join(domain.labels) or 'which is empty'}); declare the labels that the rows use."
        )
    return ratings.only(rated)


class _Table:
    """Rows as numbers: three arrays with one entry a row, and the names they stand for."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.units: dict[str, int] = {}
        self.raters: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        self.clusters: dict[str, int] = {}
        self.kinds: dict[str, int] = {}
        self.units_of, self.raters_of, self.labels_of, self.lines = (array(code) for code in "iiiq")
        self.cluster_of, self.kind_of = array("i"), array("i")

    def fill(self, rows: Iterable[Row]) -> None:
        # Written for a million rows: names of this loop are local, and `_put` is for what is new.
        units, raters, labels, clusters, kinds = (
            self.units,
            self.raters,
            self.labels,
            self.clusters,
            self.kinds,
        )
        cluster_of, kind_of = self.cluster_of, self.kind_of
        for unit_name, rater_name, label, cluster, kind, line in rows:
            unit_name, rater_name = unit_name.strip(), rater_name.strip()
            if not unit_name or not rater_name:
                lacking = "rater" if unit_name else "unit"
                raise RatingsError(f"The {lacking} is empty in {self.place} {line}; name it there.")
            unit = units.setdefault(unit_name, len(units))
            if unit == len(cluster_of):
                cluster_of.append(_UNSET)
                kind_of.append(_UNSET)
            if cluster and clusters.get(cluster) != cluster_of[unit]:
                self._put(cluster_of, clusters, unit, cluster, line=line, noun="cluster")
            if kind and kinds.get(kind) != kind_of[unit]:
                self._put(kind_of, kinds, unit, kind, line=line, noun="kind")
            label = label.strip() if label else ""
            self.units_of.append(unit)
            self.raters_of.append(raters.setdefault(rater_name, len(raters)))
            self.labels_of.append(labels.setdefault(label, len(labels)) if label else _UNSET)
            self.lines.append(line)

    def _put(
        self, column: array[int], names: dict[str, int], unit: int, name: str, *, line: int, noun: str
    ) -> None:
        name = name.strip()
        if not name:
            return
        index = names.setdefault(name, len(names))
        if column[unit] not in (_UNSET, index):
            other, whose = list(names)[column[unit]], list(self.units)[unit]
            raise RatingsError(
                f"Unit {whose!r} has {noun} {name!r} in {self.place} {line} but {other!r} before; "
                f"a unit has one {noun}, so make them alike or the units' names different."
            )
        column[unit] = index

    def refuse_duplicates(self) -> None:
        units, raters = _numpy(self.units_of), _numpy(self.raters_of)
        keys = units.astype(np.int64) * len(self.raters) + raters
        order = np.argsort(keys, kind="stable")
        repeated = np.flatnonzero(np.diff(keys[order]) == 0)
        if not repeated.size:
            return
        first, second = order[repeated[0]], order[repeated[0] + 1]
        lines = f"{self.place}s {self.lines[first]} and {self.lines[second]}"
        more = f" (and {repeated.size - 1} more such rows)" if repeated.size > 1 else ""
        raise RatingsError(
            f"Rater {list(self.raters)[raters[first]]!r} rated unit {list(self.units)[units[first]]!r} twice, "
            f"in {lines}{more}; keep one of them, or name the units or raters apart."
        )

    def matrix(self, domain: _Domain) -> NDArray[np.int16]:
        translated = [domain.codes.get(label, MISSING) for label in self.labels]
        codes = np.full((len(self.units), len(self.raters)), MISSING, dtype=np.int16)
        codes[_numpy(self.units_of), _numpy(self.raters_of)] = np.array(
            [*translated, MISSING], dtype=np.int16
        )[_numpy(self.labels_of)]
        return codes

    def left_out(self, domain: _Domain) -> list[Excluded]:
        labels_of = _numpy(self.labels_of)
        counts = np.bincount(labels_of[labels_of != _UNSET], minlength=len(self.labels))
        empty = int((labels_of == _UNSET).sum())
        found = [
            Excluded(reason=reason, n=int(counts[self.labels[name]]))
            for name, reason in domain.left_out.items()
        ]
        return [*([Excluded(reason="the label is empty", n=empty)] if empty else []), *found]

    def clusters_of(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """A unit without a cluster is one of its own."""
        cluster_of = _numpy(self.cluster_of).astype(np.int32)
        alone = np.flatnonzero(cluster_of == _UNSET)
        cluster_of[alone] = np.arange(alone.size, dtype=np.int32) + len(self.clusters)
        if not self.clusters:
            return tuple(self.units), cluster_of
        names = list(self.units)
        return (*self.clusters, *(f"unit {names[index]}" for index in alone.tolist())), cluster_of

    def kind_names(self) -> tuple[str | None, ...] | None:
        names = [*self.kinds, None]
        return tuple(names[index] for index in self.kind_of) if self.kinds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Domain:
    """The labels, the code of every spelling of them, and why each other label is left out."""

    labels: tuple[str, ...]
    codes: Mapping[str, int]
    left_out: Mapping[str, str]


def _domain(seen: Iterable[str], declared: Sequence[str] | None, *, is_numeric: bool) -> _Domain:
    if declared is not None and is_numeric:
        # 1 and 1.0 are one score, however it was declared.
        value_of = {number_in(label): label for label in declared}
        spelt = {label: value_of[_number(label)] for label in seen if _number(label) in value_of}
    else:
        spelt = {}
    known = None if declared is None else {*declared, *spelt}
    left_out = {
        label: f"label {label!r} is not among the declared labels"
        if known is not None
        else f"label {label!r} says that nothing was judged (declare the labels to count it)"
        for label in seen
        if (label.casefold() in NO_CATEGORY if known is None else label not in known)
    }
    categories = [label for label in seen if label not in left_out]
    if len(categories) > MOST_LABELS:
        raise RatingsError(
            f"{len(categories)} different labels are more than {MOST_LABELS}; have them read as scores, or join some."
        )
    if declared is not None:
        labels = list(declared)
    elif categories and set(categories) <= set(ASSUMED):
        labels = list(ASSUMED)
    elif is_numeric:
        return _scores(categories, left_out)
    else:
        labels = _in_order(categories)
    codes = {label: code for code, label in enumerate(labels)}
    codes |= {label: codes[same] for label, same in spelt.items()}
    return _Domain(labels=tuple(labels), codes=codes, left_out=left_out)


def _number(label: str) -> float:
    try:
        return number_in(label)
    except RatingsError:
        return math.nan


def _scores(spellings: Sequence[str], left_out: Mapping[str, str]) -> _Domain:
    """Return the domain of the numbers seen: 4 and 4.0 are one score, spelt as it was first."""
    first_spelling: dict[float, str] = {}
    for spelling in spellings:
        first_spelling.setdefault(number_in(spelling), spelling)
    place_of = {value: place for place, value in enumerate(sorted(first_spelling))}
    return _Domain(
        labels=tuple(first_spelling[value] for value in place_of),
        codes={spelling: place_of[number_in(spelling)] for spelling in spellings},
        left_out=left_out,
    )


def _in_order(labels: list[str]) -> list[str]:
    """Labels that all are numbers by their value, others by their text."""
    try:
        return sorted(labels, key=number_in)
    except RatingsError:
        return sorted(labels)


def _numpy(column: array[int]) -> NDArray[np.int64]:
    return np.frombuffer(column, dtype=f"{column.typecode}") if len(column) else np.zeros(0, dtype=np.int64)
