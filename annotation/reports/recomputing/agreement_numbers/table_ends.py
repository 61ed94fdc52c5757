"""Intervals by formula, which take every unit to be independent of the others."""

from __future__ import annotations

import numpy as np

from . import scores
from .data import Data, Floats
from .estimates import Ends
from .formulas import Found, Scale, of_raters
from .patterns import Patterns
from .quantiles import Z, t_quantile, wilson
from .standard_errors import alpha_error, kappa_errors, linearised_errors

_BINOMIAL = frozenset(
    [
        "accuracy",
        "precision",
        "recall",
        "specificity",
        "npv",
        "always_pass_accuracy",
        "always_fail_accuracy",
        "pass_rate_gold",
        "pass_rate_judge",
    ]
)
_NO_SPREAD = 1e-7


def ends_of_raters(patterns: Patterns, scale: Scale) -> dict[str, Ends]:
    whole = of_raters(patterns.blocks.total[None, :], patterns, scale)
    errors = linearised_errors(patterns, scale)
    alpha = alpha_error(patterns)
    if alpha is not None:
        errors["krippendorff_nominal"] = alpha
    found: dict[str, Ends] = {}
    for name, (error, n) in errors.items():
        value = float(whole.values[name][0])
        if error > _NO_SPREAD and not np.isnan(value):
            reach = t_quantile(0.975, n - 1) * error
            found[name] = value - reach, min(1.0, value + reach)
    paired = float(whole.below["po"][0])
    if paired >= 1:
        found["po"] = wilson(float(whole.values["po"][0]), paired)
        # With two labels both weightings are one.
        if patterns.n_labels <= 2:
            found["linear_weighted_agreement"] = found["po"]
    return found


def ends_of_table(table: Floats, whole: Found, scale: Scale, *, data: Data) -> dict[str, Ends]:
    found: dict[str, Ends] = {}
    for name, error in kappa_errors(table, scale).items():
        value = float(whole.values[name][0])
        if error > _NO_SPREAD:
            found[name] = value - Z * error, value + Z * error
    for name in _BINOMIAL:
        below = float(whole.below[name][0])
        if below >= 1:
            found[name] = wilson(float(whole.values[name][0]), below)
    if data.numbers is None or "pearson" not in whole.values:
        return found
    for name in ("pearson", "spearman", "kendall_tau_b"):
        ends = scores.fisher_ends(name, float(whole.values[name][0]), round(float(table.sum())))
        if ends is not None:
            found[name] = ends
    one, other = data.numbers[:, None], data.numbers[None, :]
    middle = scores.middle_of(table, data.numbers)
    columns = [(table * each).sum() for each in (one * 0 + 1, one - middle, other - middle)]
    squares = [(table * (one + other - 2 * middle) ** 2).sum()]
    squares.append((table * ((one - middle) ** 2 + (other - middle) ** 2)).sum())
    return found | scores.intraclass_ends(np.array([*columns, *squares]), raters=2)
