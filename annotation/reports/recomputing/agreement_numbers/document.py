"""Build what agreement.json holds, number by number, from ratings and settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import scores
from .ceiling import ceiling
from .data import MOST_LABELS, Data, Floats, Ints, Settings
from .estimates import estimates
from .formulas import Found, Scale, of_pair, of_raters, tables_of
from .groups import groups_of
from .patterns import Patterns, blocks_of, patterns_of
from .quantiles import chi2_tail, half_binomial
from .table_ends import ends_of_raters, ends_of_table

_COUNT_LONE = ("fleiss", "conger", "gwet")
_SENSITIVE = ("po", "fleiss", "conger", "gwet", "brennan_prediger")
_GOLD_ONLY = frozenset(
    [
        "accuracy",
        "precision",
        "recall",
        "f1",
        "specificity",
        "npv",
        "f1_negative",
        "macro_f1",
        "balanced_accuracy",
        "mcc",
        "always_pass_accuracy",
        "always_fail_accuracy",
        "pass_rate_gold",
        "pass_rate_judge",
    ]
)
# Beyond these sizes rank correlations of many levels have Fisher's interval alone.
MOST_RANKED, MOST_IN_PAIRS = 20_000, 1500


def document(data: Data, settings: Settings, *, people: Data | None) -> dict[str, Any]:
    """Return the numbers of a whole report, in its shape; `people` are the ratings that its ceiling is made of."""
    pairs = pairs_of(data, settings)
    said = (data.codes >= 0).sum(axis=1)
    shown: dict[str, Any] = {
        "n_units": len(data.codes),
        "n_raters": len(data.raters),
        "n_clusters": data.n_clusters,
        "n_ratings": int(said.sum()),
        "n_missing": int(data.codes.size - said.sum()),
        "statistics": next(iter(pairs.values()))["statistics"]
        if len(pairs) == 1
        else _everybody(data, settings),
        "pairs": pairs,
        "sensitivity": {},
        "folds": {},
    }
    if (said == 1).any() and (said >= 2).any():
        codes = np.where(said[:, None] >= 2, data.codes, -1)
        shown["sensitivity"] = {
            name: each
            for name, each in _of_units(data, codes, settings).items()
            if name.startswith(_SENSITIVE)
        }
    if len(data.labels) > 2 and data.numbers is None:
        shown["folds"] = {
            f"partial_as_{'pass' if as_pass else 'fail'}": pairs_of(
                data.folded(partial_as_pass=as_pass), settings, positive=0 if settings.positive == 0 else 1
            )
            for as_pass in (False, True)
        }
    if settings.people is not None and people is not None:
        shown["human_ceiling"] = ceiling(people, settings, people=settings.people)
    shown["groups"] = {
        pair: {by: groups_of(data, settings, pair, by) for by in names}
        for pair, names in settings.grouped.items()
    }
    return shown


def pairs_of(data: Data, settings: Settings, *, positive: int | None = None) -> dict[str, Any]:
    """Return each two raters by their names, the gold rater before all others."""
    raters = sorted(data.raters, key=lambda rater: rater != settings.gold)
    chosen = settings.positive if positive is None else positive
    of_two = _two_raters if len(data.labels) <= MOST_LABELS else _two_raters_of_many_scores
    return {
        f"{first}|{second}": of_two(data, settings, first, second, chosen)
        for place, first in enumerate(raters)
        for second in raters[place + 1 :]
    }


def _everybody(data: Data, settings: Settings) -> dict[str, Any]:
    found = _of_units(data, data.codes, settings)
    if data.numbers is None:
        return found
    matrix = np.append(data.numbers, np.nan)[data.codes]
    blocks, raters = scores.score_blocks(matrix, data.cluster_of), len(data.raters)
    return found | estimates(
        scores.FORMS,
        blocks,
        lambda sums: Found(values=scores.intraclass(sums, raters=raters)),
        n=int((~np.isnan(matrix).any(axis=1)).sum()),
        settings=settings,
        width=raters,
        analytic=scores.intraclass_ends(blocks.total, raters=raters) if blocks.n else None,
    )


def _of_units(data: Data, codes: Ints, settings: Settings) -> dict[str, Any]:
    q, scale = len(data.labels), _scale(data)
    patterns = patterns_of(codes, data.cluster_of, n_labels=q)
    if q > MOST_LABELS:
        return {
            name: {"value": None}
            for name in _names_of_raters(patterns_of(np.zeros((1, 2), int), None, n_labels=2))
        }
    analytic = ends_of_raters(patterns, scale)
    return estimates(
        _names_of_raters(patterns),
        patterns.blocks,
        lambda samples: of_raters(samples, patterns, scale),
        n=int(((codes >= 0).sum(axis=1) >= 2).sum()),
        settings=settings,
        width=q * q,
        analytic=analytic,
    )


def _two_raters(data: Data, settings: Settings, first: str, second: str, positive: int) -> dict[str, Any]:
    q, scale, codes = len(data.labels), _scale(data), data.of_two(first, second)
    patterns = patterns_of(codes, data.cluster_of, n_labels=q)
    blocks, has_gold = patterns.blocks, first == settings.gold
    table = tables_of(blocks.total[None, :], patterns)[0]
    n = int(table.sum())
    middle = 0.0 if data.numbers is None else scores.middle_of(table, data.numbers)

    def statistics(samples: Floats) -> Found:
        found, tables = of_raters(samples, patterns, scale), tables_of(samples, patterns)
        of_tables = of_pair(tables, scale, positive=positive)
        of_scores = {} if data.numbers is None else scores.of_tables(tables, data.numbers, middle=middle)
        return found | of_tables | Found(values=of_scores)

    per_block = np.concatenate([np.zeros((0, q, q)), *(tables_of(part, patterns) for part in blocks.each())])
    is_shared = per_block.sum(axis=(1, 2)) > 0
    whole = statistics(blocks.total[None, :])
    names = [name for name in whole.values if has_gold or name not in _GOLD_ONLY]
    analytic = ends_of_raters(patterns, scale) | ends_of_table(table, whole, scale, data=data)
    found: dict[str, Any] = {}
    for chosen, drawn in (
        ([name for name in names if not name.startswith(_COUNT_LONE)], blocks.only(is_shared)),
        ([name for name in names if name.startswith(_COUNT_LONE)], blocks),
    ):
        # All are drawn together where every block holds a unit that both rated.
        found |= estimates(
            chosen, drawn, statistics, n=n, settings=settings, width=2 * q * q, analytic=analytic
        )
    shown: dict[str, Any] = {
        "n": n,
        "n_clusters": int(blocks.copies[is_shared].sum()),
        "table": np.rint(table).astype(int).tolist(),
    }
    tp = table[positive, positive]
    fp, fn = table[:, positive].sum() - tp, table[positive].sum() - tp
    if has_gold:
        counts = {"tp": tp, "fp": fp, "fn": fn, "tn": n - tp - fp - fn}
        shown["confusion"] = {name: round(float(count)) for name, count in counts.items()}
    lean = per_block[:, positive].sum(axis=1) - per_block[:, :, positive].sum(axis=1)
    found |= _mcnemar(
        round(float(fn)), round(float(fp)), lean[is_shared], n=n, is_clustered=data.cluster_of is not None
    )
    return shown | {"statistics": found}


def _two_raters_of_many_scores(
    data: Data, settings: Settings, first: str, second: str, positive: int
) -> dict[str, Any]:
    codes = data.of_two(first, second)
    both = (codes >= 0).all(axis=1)
    clusters = None if data.cluster_of is None else data.cluster_of[both]
    tiny = patterns_of(np.zeros((1, 2), dtype=np.int64), None, n_labels=2)
    of_labels = of_pair(np.zeros((1, 2, 2)), Scale.of(2, numbers=None, places=None), positive=1).values
    names = [name for name in of_labels if first == settings.gold or name not in _GOLD_ONLY]
    found: dict[str, Any] = {name: {"value": None} for name in [*_names_of_raters(tiny), *names]}
    n = int(both.sum())
    if data.numbers is not None:
        matrix = data.numbers[codes[both]]
        blocks = scores.moment_blocks(matrix, clusters)
        found |= estimates(
            ["pearson", "mae", "rmse", "bias", "limit_low", "limit_high", "ccc", *scores.FORMS],
            blocks,
            lambda sums: Found(values=scores.of_moments(sums)),
            n=n,
            settings=settings,
            width=blocks.width,
        )
        found |= _ranks(matrix, clusters, settings)
    n_clusters = n if clusters is None else len(np.unique(clusters))
    return {"n": n, "n_clusters": n_clusters, "table": [], "statistics": found}


def _ranks(matrix: Floats, clusters: Ints | None, settings: Settings) -> dict[str, Any]:
    """Rank correlations, resampled as long as that is quick, else with Fisher's interval alone."""
    n = len(matrix)
    used, place = np.unique(np.arange(n) if clusters is None else clusters, return_inverse=True)
    once = np.ones((1, len(used)))
    found: dict[str, Any] = {}
    resampled = ["spearman"] if 0 < n <= MOST_RANKED and len(used) <= MOST_IN_PAIRS else []
    resampled += ["kendall_tau_b"] if 0 < n <= MOST_IN_PAIRS else []
    points = scores.rank_correlations(matrix, once, place) if n else {}
    ends = {name: scores.fisher_ends(name, float(value[0]), n) for name, value in points.items()}
    if resampled:
        found |= estimates(
            resampled,
            blocks_of(np.eye(len(used))),
            lambda drawn: Found(values=scores.rank_correlations(matrix, drawn, place)),
            n=n,
            settings=settings,
            width=n,
            analytic={name: each for name, each in ends.items() if each is not None},
        )
    for name in ("spearman", "kendall_tau_b"):
        if name in found:
            continue
        if n < 2 or np.isnan(points[name][0]):
            found[name] = {"value": None}
            continue
        low, high = ends[name] or (None, None)
        found[name] = {"value": float(points[name][0]), "low": low, "high": high, "n": n}
    return found


def _mcnemar(b: int, c: int, lean: Floats, *, n: int, is_clustered: bool) -> dict[str, Any]:
    """Whether one rater says positive more often: b only the first does, c only the second (McNemar 1947)."""
    if n == 0:
        return {name: {"value": None} for name in ("mcnemar_exact_p", "mcnemar_midp")}
    at_most, exactly = half_binomial(min(b, c), b + c)
    found: dict[str, Any] = {
        "mcnemar_exact_p": _p_value(min(1.0, 2 * at_most), n),
        "mcnemar_midp": _p_value(1.0 if b == c else 2 * at_most - exactly, n),
    }
    squares, blocks = float((lean**2).sum()), len(lean)
    if is_clustered and blocks >= 2 and squares > 0:
        chi2 = (b - c) ** 2 * (blocks - 1) / (blocks * squares)
        found["mcnemar_clustered_p"] = _p_value(chi2_tail(chi2), n)
    return found


def _p_value(p: float, n: int) -> dict[str, Any]:
    return {"value": p, "low": None, "high": None, "n": n}


def _scale(data: Data) -> Scale:
    return Scale.of(len(data.labels), numbers=data.numbers, places=data.places)


def _names_of_raters(patterns: Patterns) -> list[str]:
    scale = Scale.of(patterns.n_labels, numbers=None, places=None)
    return list(of_raters(patterns.blocks.total[None, :], patterns, scale).values)
