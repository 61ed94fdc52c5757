"""How often the intervals of corrected scores hold the truth, in simulated runs with likeness inside projects.

Run it with `make soak`, or: python -m performance.coverage [RUNS]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from annotation.agreement.cluster_variance import (
    Bounds,
    Floats,
    logit_interval,
    plain_interval,
    resampled_totals,
)
from annotation.agreement.corrected_basis import ENOUGH_OF_EACH_CLASS, ENOUGH_PROJECTS, MOST_MEASURED_RATE
from annotation.agreement.corrected_estimates import (
    Column,
    Estimator,
    cluster_sums,
    corrected_variance,
    estimates,
    raw_variance,
    run_variance,
)
from annotation.agreement.judged_sample import Draw
from performance.simulated_runs import Simulated, World, simulated

RUNS = 4000
SEED = 20_260
NOMINAL, MARGIN = 0.95, 0.015


LENIENT = (0.97, 0.6)
STRICT = (0.75, 0.95)
PREVALENCES = (0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Shares of runs in which an interval held the truth, by target; the raw figure's is the one over projects."""

    world: World
    runs: int
    raw_run: float
    raw_projects: float
    rogan_gladen_run: float
    rogan_gladen_projects: float
    powered_run: float
    powered_projects: float
    rogan_gladen_width: float
    powered_width: float
    warned: float

    @property
    def corrected(self) -> tuple[float, ...]:
        """The four that are to be near 95%."""
        return (
            self.rogan_gladen_run,
            self.rogan_gladen_projects,
            self.powered_run,
            self.powered_projects,
        )


def main() -> int:
    """Measure and print; 0 when every interval that must hold does so at 93.5 to 96.5%, and the raw one does not.

    With fewer than about 3,000 runs chance alone is wider than that, and gets three and a half of its errors.
    """
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    margin = max(MARGIN, 3.5 * sqrt(NOMINAL * (1 - NOMINAL) / runs))
    print(f"{runs} runs each, seed {SEED}, nominal 95%; shares in percent: this run / projects like these")
    print("| judge | labelled | projects | pass rate | raw | Rogan-Gladen | PPI++ | widths | warned |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    missed = 0
    for number, (world, must_hold) in enumerate(worlds()):
        measured = coverage(world, runs=runs, seed=SEED + number)
        print(_row(measured), flush=True)
        if must_hold:
            missed += any(abs(share - NOMINAL) > margin for share in measured.corrected)
            missed += max(measured.raw_run, measured.raw_projects) >= NOMINAL - margin
    print("\n| bootstrap over projects | projects | pass rate | Rogan-Gladen | PPI++ |")
    print("| --- | --- | --- | --- | --- |")
    for projects, prevalence in ((100, 0.7), (100, 0.95), (20, 0.7), (20, 0.95)):
        world = World(prevalence=prevalence, projects=projects)
        shares = bootstrap_coverage(world, runs=max(1, runs // 4), seed=SEED, resamples=500)
        cells = [f"{runs // 4} runs", str(projects), f"{100 * prevalence:.0f}", *_percents(shares)]
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"not within {100 * margin:.1f} of 95 where it must be, or the raw figure is: {missed} worlds")
    return 1 if missed else 0


def worlds() -> Iterator[tuple[World, bool]]:
    """Give every world that is measured, and whether its intervals must hold."""
    for sensitivity, specificity in (LENIENT, STRICT):
        world = World(prevalence=0.5, sensitivity=sensitivity, specificity=specificity)
        for prevalence in PREVALENCES:
            yield replace(world, prevalence=prevalence), True
        yield replace(world, prevalence=0.7, weighted=True), True
        yield replace(world, prevalence=0.7, by_mark=True), True
        yield replace(world, prevalence=0.95), False
        for prevalence in (0.5, 0.9, 0.95):
            yield replace(world, prevalence=prevalence, projects=20), False
        whole = replace(world, prevalence=0.7, draw=Draw.PROJECTS)
        yield whole, False
        yield replace(whole, projects=200, labelled=1500), False


def coverage(world: World, *, runs: int, seed: int, at_once: int = 250) -> Coverage:
    """Return how often the intervals hold in a world, over seeded runs."""
    rng = np.random.default_rng(seed)
    parts = [
        _held(simulated(world, runs=min(at_once, runs - start), rng=rng)) for start in range(0, runs, at_once)
    ]
    means = {name: float(np.concatenate([part[name] for part in parts]).mean()) for name in parts[0]}
    return Coverage(world=world, runs=runs, **means)


def bootstrap_coverage(world: World, *, runs: int, seed: int, resamples: int) -> tuple[float, float]:
    """Return how often percentile intervals over projects hold: Rogan-Gladen's, prediction-powered."""
    batch = simulated(world, runs=runs, rng=np.random.default_rng(seed))
    held = np.zeros(2)
    for number, sums in enumerate(cluster_sums(batch.marks)):
        drawn = estimates(resampled_totals(sums, resamples=resamples, seed=number))
        for place, values in enumerate((drawn.rogan_gladen, drawn.prediction_powered)):
            low, high = np.nanquantile(values, (0.025, 0.975))
            held[place] += low <= batch.true_of_projects <= high
    return float(held[0] / runs), float(held[1] / runs)


def intervals(batch: Simulated) -> dict[str, Bounds]:
    """Return the intervals of a batch, each of the shape (R,), made as `corrected` makes them of one run."""
    sums = cluster_sums(batch.marks)
    found = estimates(sums.sum(axis=-2))
    of_projects = np.count_nonzero(sums[..., Column.V], axis=-1) - 1.0
    of_run = of_projects - 1.0 if batch.by_cluster else batch.marks.labelled.sum(axis=-1) - 2.0
    raw_df = np.full(of_run.shape, sums.shape[-2] - 1.0)
    made = {"raw": logit_interval(found.raw, np.sqrt(raw_variance(sums, found)), raw_df)}
    for name, estimator, interval in (
        ("rogan_gladen", Estimator.ROGAN_GLADEN, plain_interval),
        ("powered", Estimator.POWERED, logit_interval),
    ):
        over_projects = corrected_variance(batch.marks, sums, found, estimator, by_cluster=batch.by_cluster)
        over_draws = run_variance(batch.marks, found, estimator, by_cluster=batch.by_cluster)
        made[f"{name}_projects"] = interval(found.of(estimator), np.sqrt(over_projects), of_projects)
        made[f"{name}_run"] = interval(found.of(estimator), np.sqrt(over_draws), of_run)
    return made


def _held(batch: Simulated) -> dict[str, Floats]:
    made = intervals(batch)
    truth = {"run": batch.true_of_run, "projects": np.full_like(batch.true_of_run, batch.true_of_projects)}
    held = {
        f"{name}_{target}": _holds(made["raw" if name == "raw" else f"{name}_{target}"], true)
        for name in ("raw", "rogan_gladen", "powered")
        for target, true in truth.items()
    }
    widths = {
        f"{name}_width": made[f"{name}_run"].high - made[f"{name}_run"].low
        for name in ("rogan_gladen", "powered")
    }
    return held | widths | {"warned": _warned(batch)}


def _holds(bounds: Bounds, truth: Floats) -> Floats:
    return ((bounds.low <= truth) & (truth <= bounds.high)).astype(np.float64)


def _warned(batch: Simulated) -> Floats:
    """1 where the prediction-powered figure carries a flag that its interval may be too narrow."""
    marks = batch.marks
    sums = cluster_sums(marks)
    rate = estimates(sums.sum(axis=-2)).prediction_powered
    passed = marks.gold.sum(axis=-1)
    rarer = np.minimum(passed, marks.labelled.sum(axis=-1) - passed)
    is_rare = (rarer < ENOUGH_OF_EACH_CLASS) | (rate > MOST_MEASURED_RATE) | (rate < 1 - MOST_MEASURED_RATE)
    has_few = np.count_nonzero(sums[..., Column.V], axis=-1) < ENOUGH_PROJECTS
    warned: Floats = (is_rare | has_few).astype(np.float64)
    return warned


def _row(measured: Coverage) -> str:
    world = measured.world
    sample = "half from failed" if world.by_mark else f"{world.labelled}"
    if world.draw is Draw.PROJECTS:
        sample = f"{world.labelled} in whole projects"
    cells = [
        f"{100 * world.sensitivity:.0f}/{100 * world.specificity:.0f}",
        f"{sample}, weighted" if world.weighted else sample,
        str(world.projects),
        f"{100 * world.prevalence:.0f}",
        " / ".join(_percents((measured.raw_run, measured.raw_projects))),
        " / ".join(_percents((measured.rogan_gladen_run, measured.rogan_gladen_projects))),
        " / ".join(_percents((measured.powered_run, measured.powered_projects))),
        " / ".join(_percents((measured.rogan_gladen_width, measured.powered_width))),
        f"{100 * measured.warned:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _percents(shares: Sequence[float]) -> list[str]:
    return [f"{100 * share:.1f}" for share in shares]


if __name__ == "__main__":
    sys.exit(main())
