"""What corrected figures are computed from, once: a sample with its sums, point estimates and standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotation.agreement.cluster_variance import Bounds, Floats, t_quantile
from annotation.agreement.corrected_estimates import (
    Column,
    Estimates,
    Estimator,
    Marks,
    cluster_sums,
    corrected_variance,
    estimates,
    run_variance,
    separation_variance,
)
from annotation.agreement.judged_sample import Draw, JudgedSample
from annotation.agreement.values import Flag, Interval, Method, Reason, Undefined, Value

# Where coverage was measured to be near 95% (docs/agreement.md); beyond, the figure carries a flag.
ENOUGH_PROJECTS = 40
ENOUGH_LABELLED = 150
ENOUGH_OF_EACH_CLASS = 35
MOST_MEASURED_RATE = 0.92


class Target(StrEnum):
    """Of what the corrected figure is an estimate; its interval is for that and nothing else.

    RUN: this run's own rate, had people marked all of its outcomes. PROJECTS: the rate over many projects of
    which these are a sample, which is what an interval over projects beside a published pass rate is about.
    The estimate is the same number.
    """

    RUN = "run"
    PROJECTS = "projects"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """A sample with its sums and point estimates, computed once."""

    sample: JudgedSample
    target: Target
    marks: Marks
    sums: Floats
    found: Estimates
    n: int
    n_labelled: int
    n_clusters: int
    n_labelled_clusters: int

    @classmethod
    def of(cls, sample: JudgedSample, target: Target) -> Basis:
        """Return what a sample gives for a target."""
        marks = marks_of(sample)
        sums = cluster_sums(marks)
        return cls(
            sample=sample,
            target=target,
            marks=marks,
            sums=sums,
            found=estimates(sums.sum(axis=0)),
            n=int(np.count_nonzero(sample.weight)),
            n_clusters=int(np.count_nonzero(sums[:, Column.W])),
            n_labelled=int(np.count_nonzero(sample.seen)),
            n_labelled_clusters=int(np.count_nonzero(sums[:, Column.V])),
        )

    @property
    def cannot(self) -> Undefined | None:
        """Why nothing can be corrected here, if so."""
        if not self.n_labelled:
            return Undefined(Reason.NOT_LABELLED)
        return None if self.sample.is_covered else Undefined(Reason.NEVER_DRAWN)

    @property
    def is_weak(self) -> bool:
        """Whether sensitivity + specificity - 1 might be 0 for all that is known."""
        se = np.sqrt(separation_variance(self.sums, self.found))
        low = self.found.separation - t_quantile(np.asarray(self.n_labelled_clusters - 1.0)) * se
        return not bool(low > 0)

    @property
    def n_effective(self) -> float:
        """How many labelled outcomes of equal weight would tell as much. (Kish 1965, Survey Sampling, section 11.7)"""
        v = self.marks.labelled_weight
        return float(v.sum() ** 2 / (v**2).sum())

    @property
    def is_exact(self) -> bool:
        """Whether the figure is known and not estimated: this run's, when people marked all of it."""
        return self.target is Target.RUN and self.sample.is_census

    def se(self, estimator: Estimator) -> Floats:
        """The standard error of an estimator's figure, for the target."""
        by_cluster = self.sample.draw is Draw.PROJECTS
        if self.target is Target.PROJECTS:
            return np.sqrt(
                corrected_variance(self.marks, self.sums, self.found, estimator, by_cluster=by_cluster)
            )
        return np.sqrt(run_variance(self.marks, self.found, estimator, by_cluster=by_cluster))

    @property
    def df(self) -> Floats:
        """Degrees of freedom of that: of projects, or of labelled outcomes in their strata and a slope."""
        if self.target is Target.PROJECTS:
            return np.asarray(self.n_labelled_clusters - 1.0)
        if self.sample.draw is Draw.PROJECTS:
            return np.asarray(self.n_labelled_clusters - 2.0)
        strata = np.unique(self.sample.stratum[self.sample.seen]).size
        return np.asarray(self.n_labelled - strata - 1.0)

    @property
    def method(self) -> str:
        """Where the standard error comes from."""
        if self.target is Target.PROJECTS:
            return "cluster-robust (CR3) over projects"
        return f"sampling of {self.sample.draw.value}, outcomes of the run fixed"

    def flags(self, value: float) -> tuple[Flag, ...]:
        """What is to be said of a corrected rate in this sample."""
        gold = self.sample.gold[self.sample.seen]
        rarer = min(np.count_nonzero(gold >= 0.5), np.count_nonzero(gold < 0.5))
        is_extreme = not 1 - MOST_MEASURED_RATE <= value <= MOST_MEASURED_RATE
        seen = self.sample.judge[self.sample.seen]
        said = {
            Flag.FEW_LABELLED_PROJECTS: self.n_labelled_clusters < ENOUGH_PROJECTS,
            Flag.FEW_LABELLED: self.n_effective < ENOUGH_LABELLED,
            Flag.RARE_CLASS: is_extreme or rarer < ENOUGH_OF_EACH_CLASS,
            Flag.NO_ERROR_SEEN: bool((seen == gold).all()) and not self.sample.is_census,
            Flag.CLIPPED: not 0 <= value <= 1,
        }
        return () if self.is_exact else tuple(flag for flag, holds in said.items() if holds)


def marks_of(sample: JudgedSample) -> Marks:
    """Return a sample as the arrays that estimates are computed from."""
    return Marks(
        judge=sample.judge,
        gold=np.where(sample.labelled, sample.gold, 0.0),
        labelled=sample.labelled.astype(np.float64),
        weight=sample.weight,
        probability=np.where(sample.labelled, sample.probability, 1.0),
        cluster=sample.cluster,
        stratum=sample.stratum,
    )


def value_of(
    value: Floats,
    se: Floats,
    bounds: Bounds,
    *,
    n: int,
    method: str,
    flags: tuple[Flag, ...] = (),
    drawn: Floats | None = None,
    is_exact: bool = False,
) -> Value:
    """Return a value; without spread it has no interval, since that would claim to know it, unless all is known."""
    spread = float(se)
    has_interval = bool(np.isfinite(bounds.low)) and (bool(bounds.low < bounds.high) or is_exact)
    bootstrap, undefined = None, 0
    if drawn is not None:
        defined = drawn[~np.isnan(drawn)]
        undefined = drawn.size - defined.size
        if defined.size:
            low, high = np.quantile(defined, (0.025, 0.975))
            said = (Flag.UNDEFINED_RESAMPLES,) if undefined else ()
            made = Method.BOOTSTRAP_CLUSTERS
            bootstrap = Interval(low=float(low), high=float(high), method=made, flags=said)
    return Value(
        value=float(value),
        n=int(n),
        low=float(bounds.low) if has_interval else None,
        high=float(bounds.high) if has_interval else None,
        method=method,
        flags=flags,
        se=spread if np.isfinite(spread) else None,
        bootstrap=bootstrap,
        resamples=0 if drawn is None else drawn.size,
        undefined_resamples=undefined,
    )
