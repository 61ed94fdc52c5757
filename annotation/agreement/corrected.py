"""A run's pass rate as people would have found it: corrected for the judge's errors, with cluster-aware intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.agreement.cluster_variance import logit_interval, plain_interval, resampled_totals
from annotation.agreement.corrected_basis import Basis, Target, value_of
from annotation.agreement.corrected_estimates import Estimates, Estimator, estimates, raw_variance
from annotation.agreement.judge_error import bias, error_rate, separation
from annotation.agreement.judged_sample import JudgedSample
from annotation.agreement.values import Flag, Reason, Statistic, Undefined, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """The judge's figure and what it becomes.

    `raw` is the judge's own, with an interval over projects whatever the target is. `people` is the labelled
    outcomes' mean alone. `bias` is the judge's credit less people's on labelled outcomes. `separation` is
    sensitivity + specificity - 1. `power` is how much weight the judge has in `prediction_powered`: 0 where
    it tells nothing, 1 at most. `flags` are those of any figure; each carries its own.
    """

    target: Target
    raw: Statistic
    rogan_gladen: Statistic
    prediction_powered: Statistic
    people: Statistic
    sensitivity: Statistic
    specificity: Statistic
    separation: Statistic
    bias: Statistic
    power: float | None
    n: int
    n_labelled: int
    n_clusters: int
    n_labelled_clusters: int
    flags: tuple[Flag, ...] = ()

    def document(self) -> dict[str, object]:
        """As JSON."""
        figures = ("raw", "rogan_gladen", "prediction_powered", "people")
        errors = ("sensitivity", "specificity", "separation", "bias")
        return {
            "target": self.target.value,
            **{name: getattr(self, name).document() for name in (*figures, *errors)},
            "power": self.power,
            "n": self.n,
            "n_labelled": self.n_labelled,
            "n_clusters": self.n_clusters,
            "n_labelled_clusters": self.n_labelled_clusters,
            "warnings": [{"flag": flag.value, "because": flag.sentence} for flag in self.flags],
        }


def corrected(
    sample: JudgedSample, *, target: Target = Target.RUN, resamples: int = 2000, seed: int = 0
) -> Corrected:
    """Return the run's figure corrected for the judge's errors, beside the judge's own.

    The figure is the weighted mean of credits: a pass rate with equal weights, a mean over projects with
    weights from `shares_within`, a Task Pass Rate or Project Completion Rate of a sample from `all_passed`.
    Rogan-Gladen's interval is the delta method's, -+ t se cut off at 0 and 1; the others' are symmetric on
    the logit scale. Target PROJECTS also gets a percentile bootstrap over projects, with `resamples` of them;
    a bootstrap of projects does not estimate the spread of RUN, which has none.
    (Rogan & Gladen 1978, American Journal of Epidemiology 107; Lang & Reiczigel 2014, Preventive Veterinary
    Medicine 113; Angelopoulos, Duchi & Zrnic 2023, PPI++, arXiv 2311.01453)
    """
    basis = Basis.of(sample, target)
    drawn = None
    if target is Target.PROJECTS and resamples and basis.n_labelled_clusters > 1:
        drawn = estimates(resampled_totals(basis.sums, resamples=resamples, seed=seed))
    rogan_gladen = _rogan_gladen(basis, drawn)
    powered = _prediction_powered(basis, drawn)
    return Corrected(
        target=target,
        raw=_raw(basis),
        rogan_gladen=rogan_gladen,
        prediction_powered=powered,
        people=_people(basis),
        sensitivity=error_rate(basis, of_passed=True),
        specificity=error_rate(basis, of_passed=False),
        separation=separation(basis),
        bias=bias(basis),
        power=float(basis.found.power) if basis.n_labelled else None,
        n=basis.n,
        n_labelled=basis.n_labelled,
        n_clusters=basis.n_clusters,
        n_labelled_clusters=basis.n_labelled_clusters,
        flags=_flags_of((rogan_gladen, powered)),
    )


def corrected_by_agent(
    sample: JudgedSample, *, target: Target = Target.RUN, resamples: int = 2000, seed: int = 0
) -> dict[str, Corrected]:
    """Return the figure of each code agent, corrected by what people labelled of that agent and nothing else.

    So an agent to which the judge is kinder than to others gets no profit from it. Agents with few labels
    get wide intervals and flags, or no figure with a reason.
    """
    return {
        name: corrected(sample.only(sample.agent == index), target=target, resamples=resamples, seed=seed)
        for index, name in enumerate(sample.agents)
    }


def _flags_of(figures: Sequence[Statistic]) -> tuple[Flag, ...]:
    given = {flag for figure in figures if isinstance(figure, Value) for flag in figure.flags}
    return tuple(flag for flag in Flag if flag in given)


def _raw(basis: Basis) -> Statistic:
    df = np.asarray(basis.n_clusters - 1.0)
    se = np.sqrt(raw_variance(basis.sums, basis.found))
    bounds = logit_interval(basis.found.raw, se, df)
    method = "cluster-robust (CR3) over projects, logit; takes the judge to be right"
    return value_of(basis.found.raw, se, bounds, n=basis.n, method=method)


def _rogan_gladen(basis: Basis, drawn: Estimates | None) -> Statistic:
    if basis.cannot is not None:
        return basis.cannot
    if np.isnan(basis.found.separation):
        return Undefined(Reason.ONE_CLASS_IN_GOLD)
    if np.isnan(basis.found.rogan_gladen):
        return Undefined(Reason.NO_BETTER_THAN_CHANCE)
    se, value = basis.se(Estimator.ROGAN_GLADEN), basis.found.rogan_gladen
    flags = basis.flags(float(value))
    if not basis.is_exact and basis.is_weak:
        flags += (Flag.WEAK_JUDGE,)
    return value_of(
        np.clip(value, 0.0, 1.0),
        se,
        plain_interval(value, se, basis.df),
        n=basis.n_labelled,
        method=f"{_name_of_rogan_gladen(basis.sample)}; delta method, {basis.method}",
        flags=flags,
        drawn=None if drawn is None else np.clip(drawn.rogan_gladen, 0.0, 1.0),
        is_exact=basis.is_exact,
    )


def _name_of_rogan_gladen(sample: JudgedSample) -> str:
    return "Rogan-Gladen" if sample.is_gold_binary else "Rogan-Gladen for graded marks (calibration line)"


def _prediction_powered(basis: Basis, drawn: Estimates | None) -> Statistic:
    if basis.cannot is not None:
        return basis.cannot
    value, se = basis.found.prediction_powered, basis.se(Estimator.POWERED)
    return value_of(
        np.clip(value, 0.0, 1.0),
        se,
        logit_interval(value, se, basis.df),
        n=basis.n_labelled,
        method=f"PPI++, tuned; {basis.method}, logit",
        flags=basis.flags(float(value)),
        drawn=None if drawn is None else np.clip(drawn.prediction_powered, 0.0, 1.0),
        is_exact=basis.is_exact,
    )


def _people(basis: Basis) -> Statistic:
    if basis.cannot is not None:
        return basis.cannot
    value, se = basis.found.people, basis.se(Estimator.PEOPLE)
    bounds = logit_interval(value, se, basis.df)
    method = f"labelled outcomes alone; {basis.method}, logit"
    return value_of(value, se, bounds, n=basis.n_labelled, method=method, is_exact=basis.is_exact)
