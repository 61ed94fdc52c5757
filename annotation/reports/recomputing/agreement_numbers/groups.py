"""One rater against the gold rater within kinds, code agents or clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data import Data, Floats, Settings
from .estimates import estimates
from .formulas import Found, Scale, of_pair, of_raters, tables_of
from .patterns import patterns_of
from .table_ends import ends_of_raters, ends_of_table

NAMES = ("accuracy", "po", "always_pass_accuracy", "cohen_kappa", "gwet_ac1", "specificity")


def groups_of(data: Data, settings: Settings, pair: str, by: str) -> dict[str, Any]:
    """Return each group of the units that both raters of a pair rated; a group resamples its own clusters."""
    first, second = next(
        (one, other) for one in data.raters for other in data.raters if f"{one}|{other}" == pair
    )
    codes = data.of_two(first, second)
    both = (codes >= 0).all(axis=1)
    names = np.array(data.columns[by])
    return {
        str(name): _group(
            data,
            codes[both & (names == name)],
            None if data.cluster_of is None else data.cluster_of[both & (names == name)],
            settings,
        )
        for name in np.unique(names[both])
    }


def _group(data: Data, codes: Any, clusters: Any, settings: Settings) -> dict[str, Any]:
    q = len(data.labels)
    scale = Scale.of(q, numbers=data.numbers, places=data.places)
    patterns = patterns_of(codes, clusters, n_labels=q)

    def statistics(samples: Floats) -> Found:
        many = of_raters(samples, patterns, scale)
        two = of_pair(tables_of(samples, patterns), scale, positive=settings.positive)
        return many | two

    total = patterns.blocks.total[None, :]
    table = tables_of(total, patterns)[0]
    n = int(table.sum())
    found = estimates(
        NAMES,
        patterns.blocks,
        statistics,
        n=n,
        settings=settings,
        width=2 * q * q,
        analytic=ends_of_raters(patterns, scale) | ends_of_table(table, statistics(total), scale, data=data),
    )
    n_clusters = n if clusters is None else len(np.unique(clusters))
    if clusters is not None and n_clusters == 1:
        # One cluster tells nothing of how clusters differ.
        found = {
            name: each if each["value"] is None else each | {"low": None, "high": None}
            for name, each in found.items()
        }
    return {
        "n": n,
        "n_clusters": n_clusters,
        "too_kind": int(np.triu(table, 1).sum()),
        "too_strict": int(np.tril(table, -1).sum()),
        "gold_positive": int(table[settings.positive].sum()),
        "statistics": found,
    }
