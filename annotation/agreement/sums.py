"""The additive sums that every coefficient is a function of, for each cluster and for any sum of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from annotation.agreement.weights import Floats

MISSING = -1

# Above this the sums of all clusters stay sparse: with many labels most cells of most tables are empty.
_MOST_DENSE_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitSums:
    """What coefficients of any number of raters need; every array has the same leading batch shape.

    With r_ik raters who gave label k to unit i, and r_i raters in all: `units` (...) counts units with r_i >= 1,
    `paired` (...) those with r_i >= 2. Over the latter, `agreements` (..., q, q) sums r_ik (r_il - [k = l]) /
    (r_i (r_i - 1)), and `coincidences` (..., q, q) the same over r_i - 1 (Krippendorff 2011). Over all rated units,
    `prevalence` (..., q) sums r_ik / r_i and `margins` (..., R, q) counts the labels that each rater gave.
    """

    units: Floats
    paired: Floats
    agreements: Floats
    coincidences: Floats
    prevalence: Floats
    margins: Floats

    @property
    def n_labels(self) -> int:
        return int(self.prevalence.shape[-1])

    @classmethod
    def unpacked(cls, features: Floats, *, n_labels: int, n_raters: int) -> Self:
        """Read the rows of `GroupedSums.features`, shape (..., F), as sums."""
        square = n_labels * n_labels
        ends = np.cumsum([1, 1, square, square, n_labels])
        units, paired, agreements, coincidences, prevalence, margins = np.split(features, ends, axis=-1)
        batch = features.shape[:-1]
        return cls(
            units=units[..., 0],
            paired=paired[..., 0],
            agreements=agreements.reshape(*batch, n_labels, n_labels),
            coincidences=coincidences.reshape(*batch, n_labels, n_labels),
            prevalence=prevalence,
            margins=margins.reshape(*batch, n_raters, n_labels),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PairSums:
    """What two raters said: `tables` (..., q, q) counts units by the first rater's label (rows) and the second's.

    `alone` (..., 2, q) counts the labels of units that only the first, or only the second rater rated.
    """

    tables: Floats
    alone: Floats

    @property
    def n_labels(self) -> int:
        return int(self.tables.shape[-1])

    @classmethod
    def of_tables(cls, tables: NDArray[Any]) -> Self:
        """Take contingency tables of shape (..., q, q), of units that both rated."""
        counts = np.asarray(tables, dtype=np.float64)
        return cls(tables=counts, alone=np.zeros((*counts.shape[:-2], 2, counts.shape[-1])))

    @classmethod
    def unpacked(cls, features: Floats, *, n_labels: int) -> Self:
        """Read the rows of `GroupedSums.features`, shape (..., F), as sums."""
        batch = features.shape[:-1]
        tables, alone = np.split(features, [n_labels * n_labels], axis=-1)
        return cls(
            tables=tables.reshape(*batch, n_labels, n_labels), alone=alone.reshape(*batch, 2, n_labels)
        )

    def as_units(self) -> UnitSums:
        """The same two raters for the coefficients of any number of raters."""
        return self._as_units

    @cached_property
    def _as_units(self) -> UnitSums:
        # Kept, because some twenty statistics of one resample ask for it.
        rows, columns = self.tables.sum(axis=-1), self.tables.sum(axis=-2)
        both = self.tables + np.swapaxes(self.tables, -1, -2)
        paired = rows.sum(axis=-1)
        return UnitSums(
            units=paired + self.alone.sum(axis=(-1, -2)),
            paired=paired,
            agreements=both / 2,
            coincidences=both,
            prevalence=(rows + columns) / 2 + self.alone.sum(axis=-2),
            margins=np.stack([rows, columns], axis=-2) + self.alone,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupedSums:
    """One row of sums for each cluster; clusters with equal sums may share a row.

    `features` has the shape (K, F), dense or sparse; `copies` (K,) says how many clusters have each row.
    """

    features: Floats | sparse.csr_array
    copies: NDArray[np.int64]

    @property
    def n_clusters(self) -> int:
        return int(self.copies.sum())

    def total(self) -> Floats:
        """The sums over all clusters: shape (F,)."""
        return np.asarray(self.weighted(self.copies[np.newaxis, :].astype(np.float64))[0])

    def weighted(self, multiplicities: Floats) -> Floats:
        """Return sums of clusters taken so many times: (B, K) -> (B, F)."""
        if isinstance(self.features, np.ndarray):
            return np.asarray(multiplicities @ self.features)
        return np.asarray((self.features.T @ multiplicities.T).T)

    def rows(self) -> Floats:
        """The sums of each row: shape (K, F)."""
        if isinstance(self.features, np.ndarray):
            return np.asarray(self.features)
        return np.asarray(self.features.toarray())

    def only(self, kept: NDArray[np.bool_]) -> GroupedSums:
        """Return some of the rows: a mask of shape (K,)."""
        return GroupedSums(features=self.features[kept], copies=self.copies[kept])

    def without_empty(self) -> GroupedSums:
        """Leave out the clusters in which nothing was counted."""
        kept = np.asarray(abs(self.features).sum(axis=1)).ravel() > 0
        return self if kept.all() else self.only(kept)


def unit_sums(
    codes: NDArray[np.integer], *, n_labels: int, cluster_of: NDArray[np.integer] | None = None
) -> GroupedSums:
    """Return the rows of `UnitSums` by cluster, or by unit where there are no clusters.

    `codes` (n_units, n_raters) holds label indices, `MISSING` where nothing was said; `cluster_of` (n_units,)
    holds cluster indices.
    """
    patterns = _Patterns.of(codes, n_labels=n_labels, cluster_of=cluster_of)
    return patterns.grouped(_unit_features(patterns.codes, n_labels=n_labels))


def pair_sums(
    codes: NDArray[np.integer], *, n_labels: int, cluster_of: NDArray[np.integer] | None = None
) -> GroupedSums:
    """Return the rows of `PairSums` by cluster, or by unit where there are no clusters.

    As `unit_sums`, but `codes` has two columns: the gold or first rater's and the second's.
    """
    return pairs_sums(codes, [(0, 1)], n_labels=n_labels, cluster_of=cluster_of)


def pairs_sums(
    codes: NDArray[np.integer],
    pairs: Sequence[tuple[int, int]],
    *,
    n_labels: int,
    cluster_of: NDArray[np.integer] | None = None,
) -> GroupedSums:
    """Return the rows of `PairSums` of several pairs of columns side by side, drawn together in a resample."""
    patterns = _Patterns.of(codes, n_labels=n_labels, cluster_of=cluster_of)
    features = [_pair_features(patterns.codes[:, list(pair)], n_labels=n_labels) for pair in pairs]
    return patterns.grouped(sparse.hstack(features).tocsr())


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """Divide where the denominator is positive; nan elsewhere, which never leaves this package."""
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    return np.asarray(np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Patterns:
    """The distinct rows of a matrix of codes: a million ratings of three labels have 64 at most."""

    codes: NDArray[np.int64]
    by_cluster: sparse.csr_array | None
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls, codes: NDArray[np.integer], *, n_labels: int, cluster_of: NDArray[np.integer] | None
    ) -> _Patterns:
        rated = (codes != MISSING).any(axis=1)
        rows = codes[rated].astype(np.int64)
        first, inverse, counts = _distinct_rows(rows, n_labels=n_labels)
        if cluster_of is None:
            return cls(codes=rows[first], by_cluster=None, counts=counts)
        clusters = cluster_of[rated]
        shape = (int(clusters.max(initial=-1)) + 1, len(first))
        ones = np.ones(len(rows))
        by_cluster = sparse.coo_array((ones, (clusters, inverse)), shape=shape).tocsr()
        return cls(codes=rows[first], by_cluster=by_cluster, counts=counts)

    def grouped(self, features: sparse.csr_array) -> GroupedSums:
        sums = features if self.by_cluster is None else self.by_cluster @ features
        size = sums.shape[0] * sums.shape[1] * 8
        copies = self.counts if self.by_cluster is None else np.ones(sums.shape[0], dtype=np.int64)
        grouped = GroupedSums(features=sums.toarray() if size <= _MOST_DENSE_BYTES else sums, copies=copies)
        return grouped.without_empty()


def _distinct_rows(
    rows: NDArray[np.int64], *, n_labels: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
    base, n_raters = n_labels + 1, rows.shape[1]
    if n_raters * np.log2(base) < 62:
        # One number a row sorts far faster than the row itself.
        keys = (rows + 1) @ (base ** np.arange(n_raters, dtype=np.int64))
        _, first, inverse, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
    else:
        _, first, inverse, counts = np.unique(
            rows, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
    return first, inverse.ravel(), counts.astype(np.int64)


def _unit_features(codes: NDArray[np.int64], *, n_labels: int) -> sparse.csr_array:
    """One row of packed `UnitSums` for each row of codes; built from the filled slots, not from all raters."""
    n_units, n_raters = codes.shape
    square = n_labels * n_labels
    starts = np.cumsum([0, 1, 1, square, square, n_labels])
    unit, rater = np.nonzero(codes != MISSING)
    label = codes[unit, rater]
    ratings = np.bincount(unit, minlength=n_units)
    most = int(ratings.max(initial=0))
    slots = np.full((n_units, most), MISSING, dtype=np.int64)
    slots[unit, np.arange(len(unit)) - np.repeat(np.cumsum(ratings) - ratings, ratings)] = label
    every = np.arange(n_units)
    paired = np.flatnonzero(ratings >= 2)
    entries = [
        (every, np.full(n_units, starts[0]), np.ones(n_units)),
        (paired, np.full(len(paired), starts[1]), np.ones(len(paired))),
        (unit, starts[4] + label, 1 / ratings[unit]),
        (unit, starts[5] + rater * n_labels + label, np.ones(len(unit))),
    ]
    for one in range(most):
        for other in range(most):
            if one == other:
                continue
            met = np.flatnonzero((slots[:, one] != MISSING) & (slots[:, other] != MISSING))
            cell = slots[met, one] * n_labels + slots[met, other]
            entries.append((met, starts[2] + cell, 1 / (ratings[met] * (ratings[met] - 1))))
            entries.append((met, starts[3] + cell, 1 / (ratings[met] - 1)))
    return _sparse(entries, shape=(n_units, int(starts[5]) + n_raters * n_labels))


def _pair_features(codes: NDArray[np.int64], *, n_labels: int) -> sparse.csr_array:
    first, second = codes[:, 0], codes[:, 1]
    square = n_labels * n_labels
    both = np.flatnonzero((first != MISSING) & (second != MISSING))
    only_first = np.flatnonzero((first != MISSING) & (second == MISSING))
    only_second = np.flatnonzero((first == MISSING) & (second != MISSING))
    entries = [
        (both, first[both] * n_labels + second[both], np.ones(len(both))),
        (only_first, square + first[only_first], np.ones(len(only_first))),
        (only_second, square + n_labels + second[only_second], np.ones(len(only_second))),
    ]
    return _sparse(entries, shape=(len(codes), square + 2 * n_labels))


def _sparse(
    entries: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]], *, shape: tuple[int, int]
) -> sparse.csr_array:
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    return sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
