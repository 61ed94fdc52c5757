"""Runs made up by chance, whose truth is known: what a judge says of them and what people were shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.agreement.cluster_variance import Floats, Indices
from annotation.agreement.corrected_estimates import Marks
from annotation.agreement.judged_sample import Draw

SIZES_SEED = 20_260


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is simulated: projects of 10 to 50 outcomes, some pass more than others, the judge errs more in some.

    Each project has a pass rate, a sensitivity and a specificity of its own, from beta distributions with the
    given means and the intraclass correlation `likeness`. Outcomes weigh 1, or 1 to 3 where they are
    `weighted`, with heavier ones failing more often. About `labelled` outcomes are drawn: all with one chance,
    or half of them from those that the judge failed, `by_mark`, or as whole projects.
    """

    prevalence: float
    sensitivity: float = 0.97
    specificity: float = 0.6
    projects: int = 100
    labelled: int = 500
    likeness: float = 0.1
    weighted: bool = False
    by_mark: bool = False
    draw: Draw = Draw.OUTCOMES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """A batch of runs with what is true of each: of this run, (R,), and of projects like these."""

    marks: Marks
    by_cluster: bool
    true_of_run: Floats
    true_of_projects: float


def simulated(world: World, *, runs: int, rng: np.random.Generator) -> Simulated:
    """Return a batch of runs of a world."""
    sizes = np.random.default_rng(SIZES_SEED).integers(10, 51, size=world.projects)
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
    labelled, probability = _drawn(world, judge, cluster, rng=rng)
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
        by_cluster=world.draw is Draw.PROJECTS,
        true_of_run=(gold * weight).sum(axis=1) / weight.sum(),
        true_of_projects=float(world.prevalence * (easier * weight).sum() / weight.sum()),
    )


def _drawn(
    world: World, judge: Floats, cluster: Indices, *, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Which outcomes are labelled, and with which chance: simple random samples of all, each mark, or projects."""
    if world.draw is Draw.PROJECTS:
        amount = round(world.projects * world.labelled / judge.shape[1])
        chosen = _first(rng.random((len(judge), world.projects)), amount)
        return chosen[:, cluster], np.full(judge.shape, amount / world.projects)
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
    chosen: Floats = (luck <= np.take_along_axis(np.sort(luck, axis=1), last, axis=1)).astype(np.float64)
    return chosen
