"""Put intervals around statistics: resampled, left one out, and what stands in where all resamples are alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from .data import Floats, Ints, Settings
from .formulas import Found
from .patterns import Blocks, draws
from .quantiles import t_quantile, wilson

FEW_BLOCKS = 20
_ALIKE = 1e-12

type Statistics = Callable[[Floats], Found]
type Ends = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One statistic of all the ratings; the report's numbers of it come from `document`."""

    value: float
    n: int
    n_telling: int
    below: float | None
    chance: float | None


def estimates(
    names: Iterable[str],
    blocks: Blocks,
    statistics: Statistics,
    *,
    n: int,
    settings: Settings,
    width: int,
    analytic: Mapping[str, Ends] | None = None,
) -> dict[str, Any]:
    """Return what a report says of each named statistic; `width` is the size of what one sample needs."""
    chosen = list(names)
    total = statistics(blocks.total[None, :])
    telling = _telling(chosen, blocks, statistics)
    points = {
        name: Point(
            value=float(total.values[name][0]),
            n=n,
            n_telling=telling[name],
            below=float(total.below[name][0]) if name in total.below else None,
            chance=float(total.chance[name][0]) if name in total.chance else None,
        )
        for name in chosen
    }
    if blocks.n >= 2 and not all(np.isnan(point.value) for point in points.values()):
        drawn = draws(blocks, resamples=settings.resamples, seed=settings.seed, width=width)
        parts = [statistics(part).values for part in drawn]
        samples = {name: np.concatenate([part[name] for part in parts]) for name in chosen}
    else:
        samples = {name: np.zeros(0) for name in chosen}
    few = [name for name in chosen if 2 <= telling[name] < FEW_BLOCKS]
    jackknife = _jackknife(few, blocks, statistics) if few else {}
    found: dict[str, Any] = {}
    for name, point in points.items():
        if np.isnan(point.value):
            found[name] = {"value": None}
            continue
        shown = _with_ends(
            point, name, samples[name] if point.n_telling >= 2 else np.zeros(0), blocks, statistics
        )
        if point.below is not None:
            shown["denominator"] = round(point.below)
        error = jackknife.get(name, np.nan)
        if error > _ALIKE:
            reach = t_quantile(0.975, point.n_telling - 1) * error
            shown["jackknife"] = {"low": point.value - reach, "high": point.value + reach}
        if analytic and name in analytic:
            low, high = analytic[name]
            shown["analytic"] = {"low": low, "high": high}
        found[name] = shown
    return found


def _with_ends(
    point: Point, name: str, samples: Floats, blocks: Blocks, statistics: Statistics
) -> dict[str, Any]:
    shown: dict[str, Any] = {"value": point.value, "low": None, "high": None, "n": point.n}
    defined = samples[~np.isnan(samples)]
    if len(samples):
        shown["resamples"] = len(samples)
        shown["undefined_resamples"] = len(samples) - len(defined)
    if len(defined):
        shown["low"], shown["high"] = (float(end) for end in np.quantile(defined, (0.025, 0.975)))
        if shown["high"] - shown["low"] >= _ALIKE:
            return shown
        shown["low"] = shown["high"] = None
    is_perfect = abs(point.value - 1) < _ALIKE
    if point.below is not None and (is_perfect or abs(point.value) < _ALIKE):
        used = sum(int(copies @ (part > 0)) for copies, part in _blocks_below(name, blocks, statistics))
        shown["low"], shown["high"] = wilson(round(point.value), max(1, used))
    elif point.chance is not None and is_perfect:
        worst = 1 - wilson(1.0, max(1, point.n_telling))[0]
        shown["low"], shown["high"] = max(-1.0, 1 - worst / point.chance), 1.0
    return shown


def _telling(names: list[str], blocks: Blocks, statistics: Statistics) -> dict[str, int]:
    """How many blocks hold a unit that two raters rated, of the set of pairs that has the fewest."""
    counts: dict[str, list[int]] = {}
    start = 0
    for part in blocks.each():
        copies = blocks.copies[start : start + len(part)]
        start += len(part)
        for name, compared in statistics(part).compared.items():
            here = [int(copies @ (units > 0)) for units in compared]
            counts[name] = [sum(both) for both in zip(counts.get(name, [0] * len(here)), here, strict=True)]
    return {name: min(counts.get(name, [blocks.n])) for name in names}


def _blocks_below(name: str, blocks: Blocks, statistics: Statistics) -> Iterable[tuple[Ints, Floats]]:
    """How many units of each block the share is a share of, with how many such blocks there are."""
    start = 0
    for part in blocks.each():
        yield blocks.copies[start : start + len(part)], statistics(part).below[name]
        start += len(part)


def _jackknife(names: list[str], blocks: Blocks, statistics: Statistics) -> dict[str, float]:
    """The standard error from leaving each block out once (Efron and Tibshirani 1993, formula 11.5)."""
    total = blocks.total
    parts = [statistics(total - part).values for part in blocks.each()]
    found = {}
    for name in names:
        each = np.repeat(np.concatenate([part[name] for part in parts]), blocks.copies)
        found[name] = sqrt((blocks.n - 1) / blocks.n * float(((each - each.mean()) ** 2).sum()))
    return found
