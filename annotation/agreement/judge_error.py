"""How often the judge errs on what people labelled, over projects."""

from __future__ import annotations

import numpy as np

from annotation.agreement.cluster_variance import Bounds, logit_interval, t_quantile
from annotation.agreement.corrected_basis import Basis, value_of
from annotation.agreement.corrected_estimates import Column, separation_variance, share_variance
from annotation.agreement.values import Reason, Statistic, Undefined


def error_rate(basis: Basis, *, of_passed: bool) -> Statistic:
    """Return the sensitivity, or the specificity: the mean credit given to what people passed, or kept from the rest.

    Undefined where people gave graded marks or nothing of that class.
    """
    if basis.cannot is not None:
        return basis.cannot
    if not basis.sample.is_gold_binary:
        return Undefined(Reason.NOT_TWO_LABELS)
    v, passed, seen, both = (basis.sums[:, each] for each in (Column.V, Column.VY, Column.VF, Column.VYF))
    whole = passed if of_passed else v - passed
    part = both if of_passed else whole - (seen - both)
    n = int(np.count_nonzero(basis.sample.gold[basis.sample.seen] == (1.0 if of_passed else 0.0)))
    if not n or not whole.sum() > 0:
        return Undefined(Reason.NO_POSITIVE_IN_GOLD if of_passed else Reason.NO_NEGATIVE_IN_GOLD)
    se = np.sqrt(share_variance(part, whole))
    value = np.asarray(np.clip(part.sum() / whole.sum(), 0.0, 1.0))
    df = np.asarray(np.count_nonzero(whole > 1e-9) - 1.0)
    method = "cluster-robust (CR3) over projects, logit"
    return value_of(value, se, logit_interval(value, se, df), n=n, method=method)


def separation(basis: Basis) -> Statistic:
    """Return sensitivity + specificity - 1 (Youden's J), or the calibration line's slope for graded marks."""
    if basis.cannot is not None:
        return basis.cannot
    value = basis.found.separation
    if np.isnan(value):
        return Undefined(Reason.ONE_CLASS_IN_GOLD)
    se = np.sqrt(separation_variance(basis.sums, basis.found))
    reach = t_quantile(np.asarray(basis.n_labelled_clusters - 1.0)) * se
    bounds = Bounds(np.clip(value - reach, -1.0, 1.0), np.clip(value + reach, -1.0, 1.0))
    return value_of(value, se, bounds, n=basis.n_labelled, method="cluster-robust (CR3) over projects")


def bias(basis: Basis) -> Statistic:
    """Return the judge's mean credit less people's on the same outcomes: above 0 it is too kind."""
    if basis.cannot is not None:
        return basis.cannot
    v, people, seen = (basis.sums[:, each] for each in (Column.V, Column.VY, Column.VF))
    value = basis.found.judge_seen - basis.found.people
    se = np.sqrt(share_variance(seen - people, v))
    reach = t_quantile(np.asarray(basis.n_labelled_clusters - 1.0)) * se
    bounds = Bounds(np.clip(value - reach, -1.0, 1.0), np.clip(value + reach, -1.0, 1.0))
    return value_of(value, se, bounds, n=basis.n_labelled, method="cluster-robust (CR3) over projects")
