"""How often the intervals of corrected scores hold the truth, in simulated runs with likeness inside projects.

Run it with `make soak`, or: python -m performance.coverage [RUNS]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from annotation.agreement.cluster_variance import Bounds, logit_interval, plain_interval
from annotation.agreement.corrected_basis import ENOUGH_OF_EACH_CLASS, ENOUGH_PROJECTS, MOST_MEASURED_RATE
from annotation.agreement.corrected_estimates import (
    Column,
    Floats,
    Marks,
    cluster_sums,
    corrected_variance,
    estimates,
    raw_variance,
    run_variance,
)

RUNS = 4000
SEED = 20_260
LEAST, MOST = 0.935, 0.965


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is simulated: projects of 10 to 50 outcomes, some pass more than others, the judge errs more in some.

    Each project has a pass rate, a sensitivity and a specificity of its own, from beta distributions with the
    given means and the intraclass correlation `likeness`. Outcomes weigh 1, or 1 to 3 where they are
    `weighted`, with heavier ones failing more often. `labelled` outcomes are drawn, all with one chance or,
    `by_mark`, half of them from those that the judge failed.
    """

    prevalence: float
    sensitivity: float = 0.97
    specificity: float = 0.6
    projects: int = 100
    labelled: int = 500
    likeness: float = 0.1
    weighted: bool = False
    by_mark: bool = False


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """A batch of runs with what is true of each: of this run, (R,), and of projects like these."""

    marks: Marks
    true_of_run: Floats
    true_of_projects: float


def main() -> int:
    """Measure and print; 0 when every interval that must hold does so at 93.5 to 96.5%."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(f"{runs} runs each, seed {SEED}, nominal 95%; coverage in percent, width in points (this run)")
    print("| judge | sample | projects | pass rate | target | raw | Rogan-Gladen | PPI++ | widths | warned |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    missed = 0
    for number, (world, must_hold) in enumerate(worlds()):
        measured = coverage(world, runs=runs, seed=SEED + number)
        print(_rows(measured), flush=True)
        if must_hold:
            missed += any(not LEAST <= share <= MOST for share in measured.corrected)
            missed += max(measured.raw_run, measured.raw_projects) >= LEAST
    print(f"outside 93.5 to 96.5 where it must be inside, or raw inside: {missed} rows")
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


def coverage(world: World, *, runs: int, seed: int, at_once: int = 250) -> Coverage:
    """Return how often the intervals hold in a world, over seeded runs."""
    rng = np.random.default_rng(seed)
    parts = [
        _held(simulated(world, runs=min(at_once, runs - start), rng=rng)) for start in range(0, runs, at_once)
    ]
    means = {name: float(np.concatenate([part[name] for part in parts]).mean()) for name in parts[0]}
    return Coverage(world=world, runs=runs, **means)


def simulated(world: World, *, runs: int, rng: np.random.Generator) -> Simulated:
    """Return a batch of runs of a world."""
    sizes = np.random.default_rng(SEED).integers(10, 51, size=world.projects)
    cluster = np.repeat(np.arange(world.projects), sizes).astype(np.int64)
    shape = (runs, cluster.size)
    weight = (
        np.tile([1.0, 2.0, 3.0], cluster.size)[: cluster.size] if world.weighted else np.ones(cluster.size)
    )
    # Heavier outcomes fail more often, so that a figure which forgot the weights would be wrong.
    easier = 1.0 - 0.15 * (weight - 1.0)

    def of_projects(mean: float) -> Floats:
        spread = (1 - world.likeness) / world.likeness
        return rng.beta(mean * spread, (1 - mean) * spread, size=(runs, world.projects))[:, cluster]

    gold = (rng.random(shape) < of_projects(world.prevalence) * easier).astype(np.float64)
    kept = np.where(gold > 0, of_projects(world.sensitivity), 1.0 - of_projects(world.specificity))
    judge = (rng.random(shape) < kept).astype(np.float64)
    labelled, probability = _drawn(world, judge, rng=rng)
    return Simulated(
        marks=Marks(
            judge=judge,
            gold=gold * labelled,
            labelled=labelled,
            weight=weight,
            probability=probability,
            cluster=cluster,
            stratum=judge.astype(np.int64) if world.by_mark else np.zeros(cluster.size, dtype=np.int64),
        ),
        true_of_run=(gold * weight).sum(axis=1) / weight.sum(),
        true_of_projects=float(world.prevalence * (easier * weight).sum() / weight.sum()),
    )


def _drawn(world: World, judge: Floats, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Which outcomes are labelled, and with which chance: simple random samples of all, or of each mark."""
    luck = rng.random(judge.shape)
    if not world.by_mark:
        return _first(luck, world.labelled), np.full(judge.shape, world.labelled / judge.shape[1])
    failed = judge == 0
    n_failed = failed.sum(axis=1, keepdims=True)
    half = np.minimum(world.labelled // 2, n_failed)
    from_failed = _first(np.where(failed, luck, 2.0), half)
    from_passed = _first(np.where(failed, 2.0, luck), world.labelled - half)
    chance = np.where(failed, half / n_failed, (world.labelled - half) / (judge.shape[1] - n_failed))
    return from_failed + from_passed, chance


def _first(luck: Floats, amount: int | Floats) -> Floats:
    """1 for the outcomes of each run that have the least luck, as many as `amount`, 0 for the others."""
    last = np.broadcast_to(np.asarray(amount, dtype=np.int64), (len(luck), 1)) - 1
    return (luck <= np.take_along_axis(np.sort(luck, axis=1), last, axis=1)).astype(np.float64)


def intervals(batch: Simulated) -> dict[str, Bounds]:
    """Return the intervals of a batch, each of the shape (R,), made as `corrected` makes them of one run."""
    sums = cluster_sums(batch.marks)
    found = estimates(sums.sum(axis=-2))
    of_projects = np.count_nonzero(sums[..., Column.V], axis=-1) - 1.0
    of_run = batch.marks.labelled.sum(axis=-1) - 2.0
    raw_df = np.full(of_run.shape, sums.shape[-2] - 1.0)
    made = {"raw": logit_interval(found.raw, np.sqrt(raw_variance(sums, found)), raw_df)}
    for name, slope, interval in (
        ("rogan_gladen", found.rogan_gladen_slope, plain_interval),
        ("powered", found.power, logit_interval),
    ):
        over_projects = np.sqrt(corrected_variance(batch.marks, sums, found, slope, by_cluster=False))
        over_draws = np.sqrt(run_variance(batch.marks, found, slope, by_cluster=False))
        made[f"{name}_projects"] = interval(found.at(slope), over_projects, of_projects)
        made[f"{name}_run"] = interval(found.at(slope), over_draws, of_run)
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
    return (is_rare | has_few).astype(np.float64)


def _rows(measured: Coverage) -> str:
    world = measured.world
    judge = f"{100 * world.sensitivity:.0f}/{100 * world.specificity:.0f}"
    sample = "half of failed" if world.by_mark else "weighted" if world.weighted else "plain"
    named = f"| {judge} | {sample} | {world.projects} | {100 * world.prevalence:.0f} |"
    widths = f"{100 * measured.rogan_gladen_width:.1f} / {100 * measured.powered_width:.1f}"
    warned = f"{100 * measured.warned:.0f}"
    run = (measured.raw_run, measured.rogan_gladen_run, measured.powered_run)
    projects = (measured.raw_projects, measured.rogan_gladen_projects, measured.powered_projects)
    return "\n".join(
        f"{named} {target} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + f" | {rest}"
        for target, shares, rest in (("run", run, f"{widths} | {warned} |"), ("projects", projects, "| |"))
    )


if __name__ == "__main__":
    sys.exit(main())
