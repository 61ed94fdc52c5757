"""How well people agree among themselves beside how well the others agree with people, pooled over pairs."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np

from .data import Data, Floats, Settings
from .estimates import estimates
from .formulas import Found, Scale, of_pair, of_raters, ratio, tables_of
from .patterns import Patterns, patterns_of

NAMES = (
    "po",
    "linear_weighted_agreement",
    "cohen_kappa",
    "cohen_kappa_linear",
    "cohen_kappa_quadratic",
    "gwet_ac1",
    "brennan_prediger_pabak",
    "p_pos",
    "p_neg",
)

type Pairs = list[tuple[int, int]]


def ceiling(data: Data, settings: Settings, *, people: Collection[str]) -> dict[str, Any]:
    """Return the statistics of people with people, of the others with people, and the former minus the latter.

    Coefficients are one minus the summed observed by the summed expected disagreement of units; shares are summed
    parts by summed wholes.
    """
    raters = range(len(data.raters))
    is_person = [name in people for name in data.raters]
    among = [
        (one, other)
        for one in raters
        for other in raters
        if one < other and is_person[one] and is_person[other]
    ]
    between = [(one, other) for one in raters for other in raters if is_person[one] and not is_person[other]]
    patterns = patterns_of(data.codes, data.cluster_of, n_labels=len(data.labels))
    # Blocks in which none of the pairs rated anything are not drawn.
    rated = sorted({rater for pair in among + between or [(0, 0)] for rater in pair})
    mentions = (patterns.codes[:, rated] >= 0).any(axis=1)
    kept = np.concatenate([part @ mentions > 0 for part in patterns.blocks.each()])
    scale = Scale.of(len(data.labels), numbers=data.numbers, places=data.numbers)
    shown: dict[str, Any] = {}
    said = data.codes >= 0
    units = [
        int(np.any([said[:, one] & said[:, other] for one, other in pairs], axis=0).sum()) if pairs else 0
        for pairs in (among, between)
    ]
    for key, parts, n in (
        ("human_human", (among,), units[0]),
        ("judge_human", (between,), units[1]),
        ("gap", (among, between), min(units)),
    ):
        shown[key] = estimates(
            NAMES,
            patterns.blocks.only(kept),
            partial(_apart, patterns=patterns, scale=scale, parts=parts, positive=settings.positive),
            n=n,
            settings=settings,
            width=len(data.labels) ** 2,
        )
    return shown


def _apart(
    samples: Floats, *, patterns: Patterns, scale: Scale, parts: tuple[Pairs, ...], positive: int
) -> Found:
    pooled = [_pooled(samples, patterns, scale, pairs, positive=positive) for pairs in parts]
    units = tuple(
        np.sum([tables_of(samples, patterns, *pair).sum(axis=(1, 2)) for pair in pairs], axis=0)
        if pairs
        else np.zeros(len(samples))
        for pairs in parts
    )
    values = pooled[0] if len(pooled) == 1 else {name: pooled[0][name] - pooled[1][name] for name in NAMES}
    return Found(values=values, compared=dict.fromkeys(NAMES, units))


def _pooled(
    samples: Floats, patterns: Patterns, scale: Scale, pairs: Pairs, *, positive: int
) -> dict[str, Floats]:
    above = {name: np.zeros(len(samples)) for name in NAMES}
    below = {name: np.zeros(len(samples)) for name in NAMES}
    for one, other in pairs:
        found = _of_two(samples, patterns, scale, (one, other), positive=positive)
        n = tables_of(samples, patterns, one, other).sum(axis=(1, 2))
        for name in NAMES:
            if name in found.chance:
                weight = np.nan_to_num(found.chance[name]) * n
                above[name] += np.nan_to_num(1 - found.values[name]) * weight
            else:
                weight = np.where(np.isnan(found.values[name]), 0.0, found.below[name])
                above[name] += np.nan_to_num(found.values[name]) * weight
            below[name] += weight
    shares = {name: ratio(above[name], below[name]) for name in NAMES}
    return {name: shares[name] if name.startswith(("p", "linear")) else 1 - shares[name] for name in NAMES}


def _of_two(
    samples: Floats, patterns: Patterns, scale: Scale, columns: tuple[int, int], *, positive: int
) -> Found:
    """The statistics of two columns of patterns of many raters."""
    two = Patterns(
        codes=patterns.codes[:, list(columns)],
        blocks=patterns.blocks,
        units=patterns.units,
        n_labels=patterns.n_labels,
    )
    is_rated = (two.codes >= 0).any(axis=1)
    rated = Patterns(
        codes=two.codes[is_rated], blocks=two.blocks, units=two.units[is_rated], n_labels=two.n_labels
    )
    found = of_raters(samples[:, is_rated], rated, scale)
    of_table = of_pair(tables_of(samples, patterns, *columns), scale, positive=positive)
    return found | of_table
