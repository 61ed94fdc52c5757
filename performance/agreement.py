"""How long a whole report on a million ratings takes, and other people's libraries on the same ratings.

Run it with `make bench`, or: python -m performance.agreement
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from annotation.agreement import chance_corrected, kappa
from annotation.agreement.alpha import Metric, krippendorff_alpha
from annotation.agreement.ratings import Ratings
from annotation.agreement.report import report
from annotation.agreement.sums import PairSums, UnitSums, pair_sums, unit_sums

UNITS, RATERS, LABELS, CLUSTERS, RESAMPLES = 333_334, 3, 3, 1_000, 2_000
PEER_UNITS = 20_000
LIMIT_SECONDS, LIMIT_MIB = 60, 1024


def main() -> int:
    """Measure and print; 0 when the report took less than a minute and less than a gigabyte."""
    codes, cluster_of = _ratings()
    ratings = Ratings.from_codes(
        codes, labels=("fail", "partial", "pass"), raters=("gold", "person", "judge"), clusters=cluster_of
    )
    took, made = _timed(lambda: report(ratings, gold="gold", people=("gold", "person"), resamples=RESAMPLES))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    n_values = len(made.statistics) + sum(len(pair.statistics) for pair in made.pairs)
    n_values += sum(len(pair.statistics) for pairs in made.folds.values() for pair in pairs)
    print(f"{codes.size} ratings, {CLUSTERS} clusters, {RESAMPLES} resamples of {n_values} statistics:")
    print(f"  {took:.2f} s, at most {memory:.0f} MiB of memory")
    _compare(codes, codes[:PEER_UNITS])
    return 0 if took < LIMIT_SECONDS and memory < LIMIT_MIB else 1


def _ratings() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Ratings whose prevalence differs by cluster, with one in ten made at random."""
    random = np.random.default_rng(4)
    cluster_of = random.integers(CLUSTERS, size=UNITS)
    passes = random.random(UNITS) < random.beta(6, 2, size=CLUSTERS)[cluster_of]
    truth = np.where(random.random(UNITS) < 0.1, 1, 2 * passes)[:, np.newaxis]
    noise = random.integers(LABELS, size=(UNITS, RATERS))
    return np.where(random.random((UNITS, RATERS)) < 0.1, noise, truth), cluster_of


def _compare(codes: np.ndarray[Any, Any], fewer: np.ndarray[Any, Any]) -> None:
    """One value of one coefficient from the ratings, without any interval, by us and by each peer."""
    import krippendorff
    import pandas as pd
    from irrCAC.raw import CAC
    from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa, to_table

    plain = np.eye(LABELS)
    frame = pd.DataFrame(fewer.astype(float))

    def gwet_of_irrcac() -> float:
        cac = CAC(frame, categories=[0.0, 1.0, 2.0], digits=12)
        return float(cac.gwet()["est"]["coefficient_value"])

    def conger_of_irrcac() -> float:
        cac = CAC(frame, categories=[0.0, 1.0, 2.0], digits=12)
        return float(cac.conger()["est"]["coefficient_value"])

    domain = [0.0, 1.0, 2.0]
    values = codes.T.astype(float)
    rows: list[tuple[str, np.ndarray[Any, Any], Callable[[UnitSums], Any], Callable[[], Any]]] = [
        (
            "krippendorff, nominal alpha",
            codes,
            lambda sums: krippendorff_alpha(sums, Metric.NOMINAL),
            lambda: krippendorff.alpha(values, value_domain=domain, level_of_measurement="nominal"),
        ),
        (
            "krippendorff, ordinal alpha",
            codes,
            lambda sums: krippendorff_alpha(sums, Metric.ORDINAL),
            lambda: krippendorff.alpha(values, value_domain=domain, level_of_measurement="ordinal"),
        ),
        (
            "statsmodels, Fleiss",
            codes,
            lambda sums: chance_corrected.fleiss_kappa(sums, plain),
            lambda: fleiss_kappa(aggregate_raters(codes, n_cat=LABELS)[0]),
        ),
        ("irrCAC, AC1", fewer, lambda sums: chance_corrected.gwet_ac(sums, plain), gwet_of_irrcac),
        ("irrCAC, Conger", fewer, lambda sums: chance_corrected.conger_kappa(sums, plain), conger_of_irrcac),
    ]
    print("the same ratings, one value without interval, ours from the codes each time:")
    for name, data, ours, theirs in rows:
        _print_row(name, len(data), partial(_ours, ours, data), theirs)
    _print_row(
        "statsmodels, Cohen",
        len(codes),
        lambda: kappa.cohen_kappa(_table(codes), plain),
        lambda: cohens_kappa(
            to_table(codes[:, :2], bins=np.arange(LABELS + 1) - 0.5)[0], return_results=False
        ),
    )
    print(f"irrCAC keeps several copies of its data frame: it was given {PEER_UNITS} units, and so were we.")


def _print_row(name: str, n_units: int, ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    own, value = min((_timed(ours) for _ in range(3)), key=lambda each: each[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other, peer = _timed(theirs)
    difference = abs(float(value) - float(peer))
    print(f"  {name}, {n_units} units: {other / own:.1f} times our time ({own * 1000:.1f} ms), ", end="")
    print(f"difference {difference:.1e}")


def _ours(coefficient: Callable[[UnitSums], Any], codes: np.ndarray[Any, Any]) -> Any:
    return coefficient(_sums(codes))


def _sums(codes: np.ndarray[Any, Any]) -> UnitSums:
    total = unit_sums(codes, n_labels=LABELS).total()
    return UnitSums.unpacked(total, n_labels=LABELS, n_raters=RATERS)


def _table(codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return PairSums.unpacked(pair_sums(codes[:, :2], n_labels=LABELS).total(), n_labels=LABELS).tables


def _timed[T](call: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    made = call()
    return time.perf_counter() - began, made


if __name__ == "__main__":
    sys.exit(main())
