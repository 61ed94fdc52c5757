"""Every statistic of a report by name: how it is computed from sums, and why it may not exist."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from annotation.agreement import alpha, chance_corrected, kappa
from annotation.agreement.alpha import Metric
from annotation.agreement.intervals import normal, student, wilson
from annotation.agreement.measure import Measure
from annotation.agreement.rates import rate_measures
from annotation.agreement.sums import PairSums, UnitSums
from annotation.agreement.values import Flag, Interval, Method
from annotation.agreement.weights import Floats, Weighting, weight_matrix

_NO_SPREAD = 1e-7


def unit_measures(*, n_labels: int, numbers: Floats | None, places: Floats | None) -> list[Measure[UnitSums]]:
    """Return the statistics of any number of raters.

    `numbers` (q,) weight labels where they were declared to be scores; `places` (q,) are the values that their
    names have, for the metrics of alpha that need them.
    """
    weights = {each: weight_matrix(each, n_labels=n_labels, numbers=numbers) for each in _WEIGHTINGS}
    plain, linear = weights[Weighting.IDENTITY], weights[Weighting.LINEAR]
    measures = [_agreement("po", plain), _agreement("linear_weighted_agreement", linear)]
    for weighting, weight in weights.items():
        suffix = "" if weighting is Weighting.IDENTITY else f"_{weighting}"
        names = {
            "fleiss": f"fleiss_kappa{suffix}",
            "conger": f"conger_kappa{suffix}",
            "gwet": f"gwet_ac2{suffix}" if suffix else "gwet_ac1",
            "brennan_prediger": f"brennan_prediger{suffix or '_pabak'}",
        }
        measures += [_chance_corrected(names[key], key, weight) for key in names]
    return measures + [_alpha(metric, n_labels=n_labels, places=places) for metric in Metric]


def pair_measures(
    *, n_labels: int, positive: int, numbers: Floats | None, places: Floats | None, has_gold: bool
) -> list[Measure[PairSums]]:
    """Return the categorical statistics of two raters, with those against gold where the first one is gold."""
    weights = {each: weight_matrix(each, n_labels=n_labels, numbers=numbers) for each in _WEIGHTINGS}
    kappas = [
        _kappa("cohen_kappa", weights[Weighting.IDENTITY]),
        _kappa("cohen_kappa_linear", weights[Weighting.LINEAR]),
        _kappa("cohen_kappa_quadratic", weights[Weighting.QUADRATIC]),
    ]
    plain = weights[Weighting.IDENTITY]
    kappas += [
        Measure(
            name="scott_pi_fleiss",
            of=lambda sums: kappa.scott_pi(sums.tables, plain),
            reason=lambda sums: kappa.kappa_reason(sums.tables),
            expected=lambda sums: kappa.scott_expected_disagreement(sums.tables, plain),
            compared=(_units_of_pair,),
        ),
        Measure(
            name="pe_cohen",
            of=lambda sums: kappa.cohen_expected(sums.tables, plain),
            reason=lambda sums: kappa.kappa_reason(sums.tables),
        ),
        Measure(
            name="cohen_kappa_max",
            of=lambda sums: kappa.cohen_kappa_max(sums.tables),
            reason=lambda sums: kappa.kappa_reason(sums.tables),
        ),
    ]
    many = [_of_pair(each) for each in unit_measures(n_labels=n_labels, numbers=numbers, places=places)]
    folded = (Flag.FOLDED,) if n_labels > 2 else ()
    return [
        *many[:2],
        *kappas,
        *many[2:],
        *rate_measures(positive=positive, has_gold=has_gold, flags=folded),
    ]


_WEIGHTINGS = (Weighting.IDENTITY, Weighting.LINEAR, Weighting.QUADRATIC, Weighting.ORDINAL)


def _agreement(name: str, weights: Floats) -> Measure[UnitSums]:
    is_exact = bool((weights == np.eye(len(weights))).all())

    def interval(total: UnitSums, _units: UnitSums, _copies: NDArray[np.int64]) -> Interval | None:
        share, n = float(chance_corrected.percent_agreement(total, weights)), float(total.paired)
        return wilson(share, n) if is_exact and n >= 1 else None

    return Measure(
        name=name,
        of=partial(chance_corrected.percent_agreement, weights=weights),
        reason=chance_corrected.chance_corrected_reason,
        denominator=_units_of_two,
        compared=(_units_of_two,),
        analytic=interval,
    )


_COEFFICIENTS = {
    "fleiss": (
        chance_corrected.fleiss_kappa,
        chance_corrected.fleiss_expected_disagreement,
        chance_corrected.fleiss_se,
    ),
    "conger": (
        chance_corrected.conger_kappa,
        chance_corrected.conger_expected_disagreement,
        chance_corrected.conger_se,
    ),
    "gwet": (
        chance_corrected.gwet_ac,
        chance_corrected.gwet_expected_disagreement,
        chance_corrected.gwet_se,
    ),
    "brennan_prediger": (
        chance_corrected.brennan_prediger,
        chance_corrected.brennan_prediger_expected_disagreement,
        chance_corrected.brennan_prediger_se,
    ),
}


def _chance_corrected(name: str, key: str, weights: Floats) -> Measure[UnitSums]:
    coefficient, expected, standard_error = _COEFFICIENTS[key]

    def interval(total: UnitSums, units: UnitSums, copies: NDArray[np.int64]) -> Interval | None:
        se = standard_error(units, copies, weights)
        return _student(float(coefficient(total, weights)), se, n=int(copies.sum()))

    return Measure(
        name=name,
        of=partial(coefficient, weights=weights),
        reason=chance_corrected.chance_corrected_reason,
        expected=partial(expected, weights=weights),
        compared=(_units_of_two,),
        analytic=interval,
        counts_lone=key != "brennan_prediger",
    )


def _alpha(metric: Metric, *, n_labels: int, places: Floats | None) -> Measure[UnitSums]:
    is_impossible = metric is Metric.RATIO and (places is None or bool((places < 0).any()))

    def value(sums: UnitSums) -> Floats:
        if is_impossible:
            return np.full(sums.units.shape, np.nan)
        return alpha.krippendorff_alpha(sums, metric, numbers=places)

    def expected(sums: UnitSums) -> Floats:
        worst = alpha.squared_distances(sums, metric, numbers=places).max(axis=(-1, -2))
        found = alpha.expected_disagreement(sums, metric, numbers=places)
        return np.asarray(found / np.where(worst > 0, worst, np.nan))

    def interval(total: UnitSums, units: UnitSums, copies: NDArray[np.int64]) -> Interval | None:
        # The formula takes the distances to be fixed, which those of the ordinal metric are not.
        if metric is not Metric.NOMINAL:
            return None
        se = alpha.krippendorff_se(units, copies, np.eye(n_labels))
        return _student(float(value(total)), se, n=int(copies[units.paired > 0].sum()))

    return Measure(
        name=f"krippendorff_{metric}",
        of=value,
        reason=partial(alpha.krippendorff_reason, metric=metric, numbers=places),
        expected=None if is_impossible else expected,
        compared=(_units_of_two,),
        analytic=interval,
    )


def _kappa(name: str, weights: Floats) -> Measure[PairSums]:
    def interval(total: PairSums, _units: PairSums, _copies: NDArray[np.int64]) -> Interval | None:
        se = float(kappa.cohen_kappa_se(total.tables, weights))
        value = float(kappa.cohen_kappa(total.tables, weights))
        return normal(value, se, method=Method.KAPPA_NORMAL) if se > _NO_SPREAD else None

    return Measure(
        name=name,
        of=lambda sums: kappa.cohen_kappa(sums.tables, weights),
        reason=lambda sums: kappa.kappa_reason(sums.tables),
        expected=lambda sums: kappa.cohen_expected_disagreement(sums.tables, weights),
        compared=(_units_of_pair,),
        analytic=interval,
    )


def _of_pair(measure: Measure[UnitSums]) -> Measure[PairSums]:
    """A statistic of any number of raters, of two."""
    denominator, expected, analytic = measure.denominator, measure.expected, measure.analytic
    return Measure(
        name=measure.name,
        of=lambda sums: measure.of(sums.as_units()),
        reason=lambda sums: measure.reason(sums.as_units()),
        denominator=None if denominator is None else lambda sums: denominator(sums.as_units()),
        expected=None if expected is None else lambda sums: expected(sums.as_units()),
        compared=(_units_of_pair,) if measure.compared else (),
        analytic=None
        if analytic is None
        else lambda total, units, copies: analytic(total.as_units(), units.as_units(), copies),
        flags=measure.flags,
        counts_lone=measure.counts_lone,
    )


def _units_of_two(sums: UnitSums) -> Floats:
    return sums.paired


def _units_of_pair(sums: PairSums) -> Floats:
    return sums.as_units().paired


def _student(value: float, se: float | None, *, n: int) -> Interval | None:
    if se is None or se <= _NO_SPREAD or np.isnan(value):
        return None
    return student(value, se, df=n - 1, method=Method.LINEARISED_T)
