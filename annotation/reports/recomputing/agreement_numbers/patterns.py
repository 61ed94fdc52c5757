"""Units with the same labels from the same raters are one pattern, and a sample says how often each occurs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from .data import Floats, Ints

_RULES = ("identity", "linear", "quadratic", "ordinal")
_MOST_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """What is drawn as a whole: clusters, or units where there are none.

    `copies` (K,) says how many blocks are the same. `contents` (K, columns) is what each holds; where it is None,
    block k is one unit of the pattern `pattern_of[k]`, of `width` patterns.
    """

    copies: Ints
    contents: Floats | None
    pattern_of: Ints
    width: int

    @property
    def n(self) -> int:
        return int(self.copies.sum())

    @property
    def total(self) -> Floats:
        return np.asarray(self.sums(self.copies[None, :].astype(np.float64))[0])

    def sums(self, drawn: Floats) -> Floats:
        """Return what blocks taken so often hold together: (B, K) -> (B, columns)."""
        if self.contents is not None:
            return np.asarray(drawn @ self.contents)
        sums = np.zeros((len(drawn), self.width))
        sums[:, self.pattern_of] = drawn
        return sums

    def each(self) -> Iterator[Floats]:
        """Yield what single blocks hold, in parts of bounded size: (b, columns)."""
        rows = len(self.copies)
        step = max(1, _MOST_CELLS // max(self.width, rows, 1))
        for start in range(0, rows, step):
            yield self.sums(np.eye(min(step, rows - start), rows, start))

    def only(self, is_kept: NDArray[np.bool_]) -> Blocks:
        """Return some of the blocks: (K,)."""
        return Blocks(
            copies=self.copies[is_kept],
            contents=None if self.contents is None else self.contents[is_kept],
            pattern_of=self.pattern_of[is_kept],
            width=self.width,
        )


def blocks_of(contents: Floats, copies: Ints | None = None) -> Blocks:
    """Return blocks of what each holds: (K, columns); each is there once unless `copies` (K,) are given."""
    rows = len(contents)
    return Blocks(
        copies=np.ones(rows, dtype=np.int64) if copies is None else copies,
        contents=contents,
        pattern_of=np.arange(rows),
        width=contents.shape[1],
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Patterns:
    """Distinct rows of codes (P, raters), the blocks they occur in, and how many units have each (P,)."""

    codes: Ints
    blocks: Blocks
    units: Ints
    n_labels: int

    @property
    def label_counts(self) -> Floats:
        """How many raters gave each label: (P, labels)."""
        return np.stack([(self.codes == label).sum(axis=1) for label in range(self.n_labels)], axis=1).astype(
            np.float64
        )


def patterns_of(codes: Ints, cluster_of: Ints | None, *, n_labels: int) -> Patterns:
    """Return the patterns of the units that anybody rated.

    Their order decides what a seed draws: by the last rater's code first, or for very many raters by the first's.
    """
    rated = (codes >= 0).any(axis=1)
    rows = codes[rated]
    backwards = rows.shape[1] * log2(n_labels + 1) < 62
    found, place, units = np.unique(
        rows[:, ::-1] if backwards else rows, axis=0, return_inverse=True, return_counts=True
    )
    if cluster_of is None:
        every = np.arange(len(found))
        blocks = Blocks(copies=units, contents=None, pattern_of=every, width=len(found))
    else:
        contents = np.zeros((int(cluster_of.max(initial=-1)) + 1, len(found)))
        np.add.at(contents, (cluster_of[rated], place.ravel()), 1.0)
        blocks = blocks_of(contents[contents.any(axis=1)])
    return Patterns(
        codes=found[:, ::-1] if backwards else found, blocks=blocks, units=units, n_labels=n_labels
    )


def disagreement_weights(places: Floats) -> dict[str, Floats]:
    """Return how much each two labels disagree, from 0 to 1, by the name of the weighting.

    `places` are the labels' numbers, or their ranks. Ordinal weights count the labels between (Gwet 2014).
    """
    q = len(places)
    apart = np.abs(places[:, None] - places[None, :])
    ranks = np.abs(np.arange(q)[:, None] - np.arange(q)[None, :])
    kinds = (1.0 - np.eye(q), apart, apart**2, ranks * (ranks + 1) / 2)
    return {
        name: kind / max(kind.max(), 1e-300) if name != "identity" else kind
        for name, kind in zip(_RULES, kinds, strict=True)
    }


def draws(blocks: Blocks, *, resamples: int, seed: int, width: int) -> Iterator[Floats]:
    """Yield what resamples hold of each column of the blocks, in parts of bounded size.

    Blocks are drawn with replacement, as many as there are, with numpy's default generator: each by a number of
    equal chance, or where equal blocks share a row by how often that row comes up.
    """
    generator = np.random.default_rng(seed)
    rows = len(blocks.copies)
    step = max(1, _MOST_CELLS // max(width, rows, blocks.width))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        if blocks.n == rows:
            chosen = generator.integers(rows, size=(size, rows))
            drawn = np.stack([np.bincount(each, minlength=rows) for each in chosen])
        else:
            drawn = generator.multinomial(blocks.n, blocks.copies / blocks.n, size=size)
        yield blocks.sums(drawn.astype(np.float64))
