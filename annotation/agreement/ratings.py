"""Who said what about which unit, as one matrix of codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MISSING = -1
MOST_LABELS = int(np.iinfo(np.int16).max)


class RatingsError(ValueError):
    """Ratings that cannot be used; its text is one sentence with the way out."""


class Fold(StrEnum):
    """What a label between the lowest and the highest becomes when only two are left."""

    FAIL = "partial_as_fail"
    PASS = "partial_as_pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """How many ratings were left out for one reason."""

    reason: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """The labels that raters gave to units, grouped in clusters.

    `labels` is the domain, lowest first, whether all of it was used or not. `codes` has the shape
    (n_units, n_raters) and holds indices into `labels`, `MISSING` where a rater said nothing.
    `cluster_of` has the shape (n_units,) and holds indices into `clusters`. `numbers`, with the shape
    (n_labels,), is the value of each label where labels are scores. Without clusters every unit is its own
    and `is_clustered` is false. `are_labels_declared` is false where the domain is what was assumed.

    Raises RatingsError where the parts do not fit each other.
    """

    labels: tuple[str, ...]
    units: tuple[str, ...]
    raters: tuple[str, ...]
    clusters: tuple[str, ...]
    codes: NDArray[np.int16]
    cluster_of: NDArray[np.int32]
    kinds: tuple[str | None, ...] | None = None
    numbers: NDArray[np.float64] | None = None
    excluded: tuple[Excluded, ...] = ()
    is_clustered: bool = True
    are_labels_declared: bool = True

    def __post_init__(self) -> None:
        _refuse_repeated(self.labels, noun="label")
        _refuse_repeated(self.raters, noun="rater")
        n_units = len(self.units)
        if self.codes.shape != (n_units, len(self.raters)):
            raise RatingsError(
                f"Codes of shape {self.codes.shape} do not fit {n_units} units and {len(self.raters)} raters; "
                "give one row a unit and one column a rater."
            )
        if self.cluster_of.shape != (n_units,) or (self.kinds is not None and len(self.kinds) != n_units):
            raise RatingsError(f"Each of {n_units} units needs exactly one cluster and at most one kind.")
        if self.numbers is not None and self.numbers.shape != (len(self.labels),):
            raise RatingsError(
                f"{len(self.labels)} labels need as many numbers, not {self.numbers.size}; give one each."
            )
        if self.codes.size and not MISSING <= self.codes.min() <= self.codes.max() < len(self.labels):
            raise RatingsError(
                f"Codes go from 0 to {len(self.labels) - 1} for {len(self.labels)} labels; "
                f"{MISSING} says that nothing was said."
            )

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike,
        *,
        labels: Sequence[str],
        raters: Sequence[str] | None = None,
        units: Sequence[str] | None = None,
        clusters: Sequence[Any] | NDArray[Any] | None = None,
        kinds: Sequence[str | None] | None = None,
        is_numeric: bool = False,
        excluded: Sequence[Excluded] = (),
    ) -> Ratings:
        """Return ratings of a matrix of codes with the shape (n_units, n_raters).

        `clusters` names the cluster of each unit; raters and units without names are numbered from 1.
        Raises RatingsError.
        """
        matrix = np.asarray(codes, dtype=np.int16)
        if matrix.ndim != 2:
            raise RatingsError(
                f"Codes have {matrix.ndim} dimensions; give one row a unit, one column a rater."
            )
        n_units, n_raters = matrix.shape
        names = tuple(units) if units is not None else tuple(map(str, range(1, n_units + 1)))
        if clusters is None:
            cluster_names, cluster_of = names, np.arange(n_units, dtype=np.int32)
        else:
            found, inverse = np.unique(np.asarray(clusters), return_inverse=True)
            cluster_names = tuple(map(str, found.tolist()))
            cluster_of = inverse.astype(np.int32)
        return cls(
            labels=tuple(labels),
            units=names,
            raters=tuple(raters) if raters is not None else tuple(map(str, range(1, n_raters + 1))),
            clusters=cluster_names,
            codes=matrix,
            cluster_of=cluster_of,
            kinds=None if kinds is None else tuple(kinds),
            numbers=numbers_of(labels) if is_numeric else None,
            excluded=tuple(excluded),
            is_clustered=clusters is not None,
        )

    @property
    def n_units(self) -> int:
        return len(self.units)

    @property
    def n_raters(self) -> int:
        return len(self.raters)

    @property
    def n_clusters(self) -> int:
        return len(self.clusters)

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many raters said something about each unit: shape (n_units,)."""
        said: NDArray[np.int64] = (self.codes != MISSING).sum(axis=1, dtype=np.int64)
        return said

    @property
    def scores(self) -> NDArray[np.float64]:
        """The numbers that raters gave, nan where missing: shape (n_units, n_raters).

        Raises RatingsError where labels are not numbers.
        """
        if self.numbers is None:
            raise RatingsError("These labels are categories; ask for numeric ratings to have their scores.")
        return np.append(self.numbers, np.nan)[self.codes]

    def rater_index(self, rater: str) -> int:
        """Raises RatingsError where nobody of this name rated."""
        try:
            return self.raters.index(rater)
        except ValueError:
            known = ", ".join(self.raters[:20])
            raise RatingsError(f"No rater is called {rater!r}; known are {known}.") from None

    def label_index(self, label: str) -> int:
        """Raises RatingsError where the domain has no such label."""
        try:
            return self.labels.index(label)
        except ValueError:
            known = ", ".join(self.labels[:20])
            raise RatingsError(f"There is no label {label!r}; known are {known}.") from None

    def pair(self, first: str, second: str) -> Ratings:
        """Return what two raters said about the units that both of them rated.

        Raises RatingsError where one of them did not rate.
        """
        columns = [self.rater_index(first), self.rater_index(second)]
        two = replace(self, raters=(first, second), codes=self.codes[:, columns])
        return two.only((two.codes != MISSING).all(axis=1))

    def among(self, raters: Sequence[str]) -> Ratings:
        """Return what some raters said about the units that at least one of them rated.

        Raises RatingsError where one of them did not rate.
        """
        columns = [self.rater_index(rater) for rater in raters]
        fewer = replace(self, raters=tuple(raters), codes=self.codes[:, columns])
        return fewer.only(fewer.counts > 0)

    def only(self, mask: NDArray[np.bool_]) -> Ratings:
        """Return the units where the mask, with the shape (n_units,), is true; and only their clusters."""
        if mask.all():
            return self
        used, cluster_of = np.unique(self.cluster_of[mask], return_inverse=True)
        chosen = np.flatnonzero(mask).tolist()
        return replace(
            self,
            units=tuple(self.units[index] for index in chosen),
            codes=self.codes[mask],
            clusters=tuple(self.clusters[index] for index in used.tolist()),
            cluster_of=cluster_of.astype(np.int32),
            kinds=None if self.kinds is None else tuple(self.kinds[index] for index in chosen),
        )

    def fold(self, partial_as: Fold) -> Ratings:
        """Return the ratings with two labels, the lowest and the highest.

        Every label between them becomes the lowest or the highest one, as asked (EvoWeb D.3 reports both).
        """
        if self.n_labels <= 2:
            return self
        highest = self.n_labels - 1
        is_high = self.codes == highest if partial_as is Fold.FAIL else self.codes > 0
        codes = np.where(self.codes == MISSING, MISSING, is_high).astype(np.int16)
        return replace(
            self,
            labels=(self.labels[0], self.labels[highest]),
            codes=codes,
            numbers=None if self.numbers is None else self.numbers[[0, highest]],
        )


def numbers_of(labels: Iterable[str]) -> NDArray[np.float64]:
    """Return the value of each label.

    Raises RatingsError where one is no finite number, or where two have one value.
    """
    values = np.array([number_in(label) for label in labels], dtype=np.float64)
    if np.unique(values).size < values.size:
        raise RatingsError(
            "Two labels have the same number, such as 1 and 1.0; write each number in one way."
        )
    return values


def number_in(label: str) -> float:
    """Return the finite number that a label is. Raises RatingsError."""
    try:
        value = float(label)
    except ValueError:
        value = np.nan
    # Squares of scores are summed; beyond these they would not be numbers any more.
    if np.isfinite(value) and value != 0 and not 1e-100 < abs(value) < 1e100:
        raise RatingsError(f"Label {label!r} is too large or too small a score; give it in another unit.")
    if not np.isfinite(value):
        raise RatingsError(f"Label {label!r} is no number; correct it, or have labels read as categories.")
    return value


def _refuse_repeated(names: Sequence[str], *, noun: str) -> None:
    if len(set(names)) == len(names):
        return
    twice = next(name for index, name in enumerate(names) if name in names[:index])
    raise RatingsError(f"The {noun} {twice!r} is named twice; name each {noun} once.")
