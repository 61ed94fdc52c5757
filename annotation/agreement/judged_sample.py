"""A judge's marks on every outcome of a run and people's marks on the outcomes that were drawn from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.agreement.values import Reason, Undefined

type Floats = NDArray[np.float64]
type Indices = NDArray[np.int64]
type Mask = NDArray[np.bool_]


class Draw(StrEnum):
    """What was drawn to be labelled: single outcomes, or projects with all that they hold."""

    OUTCOMES = "outcomes"
    PROJECTS = "projects"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedSample:
    """All outcomes that a judge marked and the marks of people on some of them; N outcomes.

    `judge`, (N,): credit in [0, 1] on every outcome. `gold`, (N,): a person's credit, nan where nobody
    labelled. `cluster`, (N,): the project of each outcome, as an index 0 .. `n_clusters` - 1 without holes.
    `weight`, (N,): what an outcome counts in the figure. `probability`, (N,): the chance with which each
    outcome came to be labelled. `stratum`, (N,): what it was drawn from, which had `stratum_size`, (N,),
    outcomes. `agent`, (N,): an index into `agents`. Built by `of`, which fills in what is not said.

    Raises ValueError where the parts do not fit each other.
    """

    judge: Floats
    gold: Floats
    cluster: Indices
    weight: Floats
    probability: Floats
    stratum: Indices
    stratum_size: Floats
    agent: Indices
    agents: tuple[str, ...] = ("",)
    draw: Draw = Draw.OUTCOMES
    labelled: Mask = field(init=False)

    def __post_init__(self) -> None:
        columns: list[Floats | Indices] = [self.gold, self.cluster, self.weight, self.probability]
        columns += [self.stratum, self.stratum_size, self.agent]
        if any(column.shape != self.judge.shape for column in columns) or self.judge.ndim != 1:
            raise ValueError("Marks, projects, weights, probabilities and agents need one entry an outcome.")
        if not self.judge.size:
            raise ValueError("There is no outcome; give at least one that the judge marked.")
        object.__setattr__(self, "labelled", ~np.isnan(self.gold))
        _refuse_credits(self.judge, whose="The judge")
        _refuse_credits(self.gold[self.labelled], whose="A person")
        if not (np.isfinite(self.weight) & (self.weight >= 0)).all() or not self.weight.any():
            raise ValueError("Weights are 0 or more, and at least one is above 0.")
        if not ((self.probability >= 0) & (self.probability <= 1)).all():
            raise ValueError("The chance of being labelled is from 0 to 1.")
        if not self.probability[self.labelled].all():
            raise ValueError(
                "What is labelled had a chance above 0; give the share that was drawn from its stratum."
            )
        if not (np.bincount(self.cluster) > 0).all():
            raise ValueError("Projects are numbered from 0 without holes; build the sample with `of`.")

    @classmethod
    def of(
        cls,
        *,
        judge: ArrayLike,
        gold: ArrayLike,
        cluster: ArrayLike,
        weight: ArrayLike | None = None,
        probability: ArrayLike | None = None,
        stratum: ArrayLike | None = None,
        agent: ArrayLike | None = None,
        draw: Draw = Draw.OUTCOMES,
    ) -> Self:
        """Return the sample of these columns, one entry an outcome; projects, strata, agents by any name.

        Without weights every outcome counts the same. Without probabilities the chance of an outcome is the
        share of its stratum that was labelled; where projects were drawn, the share of projects that were
        labelled times the share labelled within its project. Without strata there is one.
        """
        marks = np.asarray(judge, dtype=np.float64)
        people = np.asarray(gold, dtype=np.float64)
        same = np.zeros(marks.shape, dtype=np.int64)
        projects = _indices(cluster)
        strata = same if stratum is None else _indices(stratum)
        names: tuple[str, ...] = ("",)
        agents = same
        if agent is not None:
            found, agents = np.unique(np.asarray(agent), return_inverse=True)
            names = tuple(str(name) for name in found)
        if probability is None:
            if not marks.shape == people.shape == projects.shape == strata.shape:
                raise ValueError("Marks, projects and strata need one entry an outcome.")
            chances = _labelled_shares(~np.isnan(people), projects, strata, draw=draw)
        else:
            chances = np.asarray(probability, dtype=np.float64)
        return cls(
            judge=marks,
            gold=people,
            cluster=projects,
            weight=np.ones(marks.shape) if weight is None else np.asarray(weight, dtype=np.float64),
            probability=chances,
            stratum=strata,
            stratum_size=np.bincount(strata)[strata].astype(np.float64),
            agent=agents.astype(np.int64),
            agents=names,
            draw=draw,
        )

    @property
    def n_clusters(self) -> int:
        """How many projects there are."""
        return int(self.cluster.max()) + 1

    @property
    def is_gold_binary(self) -> bool:
        """Whether people gave full credit or none, and nothing between."""
        return bool(np.isin(self.gold[self.seen], (0.0, 1.0)).all())

    @property
    def is_covered(self) -> bool:
        """Whether every outcome that counts had a chance to be labelled, so that those that were stand for all."""
        return bool((self.probability[self.weight > 0] > 0).all())

    @property
    def is_census(self) -> bool:
        """Whether every outcome that counts was labelled, so that nothing is left to be estimated."""
        return bool(self.labelled[self.weight > 0].all())

    @property
    def seen(self) -> Mask:
        """What was labelled and counts, (N,)."""
        return self.labelled & (self.weight > 0)

    def only(self, mask: Mask) -> JudgedSample:
        """Return the sample in which nothing but a mask, (N,), counts.

        The others stay with weight 0, since they were drawn by the same luck: how many of a part are labelled
        is chance too. (Cochran 1977, Sampling Techniques, section 2.13, on domains)
        """
        return replace(self, weight=np.where(mask, self.weight, 0.0))


def all_passed(
    sample: JudgedSample, group: ArrayLike, *, weight: ArrayLike | None = None, least: int = 10
) -> JudgedSample | Undefined:
    """Return the sample whose outcomes are groups of outcomes, each passed where all of its outcomes did.

    With one group a criterion this is what a Task Pass Rate counts, with one a trial what the Project
    Completion Rate does. `group`, (N,), names the group of each outcome, which lies in one project and is of
    one code agent. `weight`, (groups,), is in the sorted order of names; without it groups count the same.

    A group has a person's mark only where all of its outcomes have: one that was labelled in part could be
    known to have failed and never known to have passed, and would pull the figure down. The chance of that
    is that of the project where projects were drawn, and else the product of its outcomes' chances, each
    after those before it have been drawn from the same stratum.
    Undefined, as not labelled whole, where fewer than `least` groups are.

    Raises ValueError where a group lies in two projects or agents.
    """
    names, groups = np.unique(np.asarray(group), return_inverse=True)
    if groups.shape != sample.judge.shape:
        raise ValueError(f"{sample.judge.size} outcomes need one group each, not {groups.size}.")
    first = np.unique(groups, return_index=True)[1]
    for what, column in (("project", sample.cluster), ("code agent", sample.agent)):
        if (column != column[first][groups]).any():
            raise ValueError(f"A group lies in one {what}; name groups so that no two of them share a name.")
    is_whole = _least_of(sample.labelled, groups) > 0
    judge = _least_of(sample.judge >= 1, groups)
    gold = np.where(is_whole, _least_of(~(sample.gold < 1), groups), np.nan)
    chance = np.ones(names.size)
    if sample.draw is Draw.PROJECTS:
        chance = _least_of(np.where(sample.labelled, sample.probability, 1.0), groups)
    else:
        np.multiply.at(chance, groups, np.where(sample.labelled, _chance_in_turn(sample, groups), 1.0))
    chance *= _least_of(sample.probability > 0, groups)
    counts = 1.0 - _least_of(sample.weight == 0, groups)
    if np.count_nonzero(is_whole & (counts > 0)) < least:
        return Undefined(Reason.NOT_LABELLED_WHOLE)
    return replace(
        sample,
        judge=judge,
        gold=gold,
        cluster=_indices(sample.cluster[first]),
        weight=counts if weight is None else counts * np.asarray(weight, dtype=np.float64),
        probability=chance,
        # Strata give fixed numbers of outcomes, but of whole groups what chance makes of them.
        stratum=sample.stratum[first] if names.size == groups.size else np.zeros(names.size, dtype=np.int64),
        stratum_size=np.full(names.size, float(names.size)),
        agent=sample.agent[first],
    )


def shares_within(weight: ArrayLike, group: ArrayLike) -> Floats:
    """Return weights, (N,), scaled to sum to 1 in each group, (N,), that has any weight.

    Then a weighted mean over all outcomes is the mean over groups of their weighted means, as every
    published pass rate of a benchmark is a mean over its projects (Asuka-Bench, section 3.2).
    """
    weights = np.asarray(weight, dtype=np.float64)
    groups = _indices(group)
    whole = np.bincount(groups, weights=weights)[groups]
    return np.divide(weights, whole, out=np.zeros_like(weights), where=whole > 0)


def _chance_in_turn(sample: JudgedSample, groups: Indices) -> Floats:
    """The chance that n of N give this outcome after j others of its group: (n - j) / (N - j)."""
    order = np.lexsort((sample.stratum, groups))
    same = np.zeros(order.size, dtype=bool)
    same[1:] = (np.diff(groups[order]) == 0) & (np.diff(sample.stratum[order]) == 0)
    places = np.arange(order.size)
    earlier = np.empty(order.size)
    earlier[order] = places - np.maximum.accumulate(np.where(same, 0, places))
    left = sample.stratum_size - earlier
    chances: Floats = np.clip(sample.probability * sample.stratum_size - earlier, 1.0, left) / left
    return chances


def _least_of(values: Floats | Mask, group: Indices) -> Floats:
    least = np.ones(int(group.max()) + 1)
    np.minimum.at(least, group, values)
    return least


def _refuse_credits(marks: Floats, *, whose: str) -> None:
    if not ((marks >= 0) & (marks <= 1)).all():
        raise ValueError(f"{whose} gives credits from 0 to 1; leave outcomes without a mark out.")


def _indices(names: ArrayLike) -> Indices:
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)


def _labelled_shares(labelled: Mask, cluster: Indices, stratum: Indices, *, draw: Draw) -> Floats:
    if draw is Draw.OUTCOMES:
        return _share(labelled, stratum)
    within = _share(labelled, cluster)
    is_labelled = np.bincount(cluster, weights=labelled) > 0
    chances: Floats = np.where(within > 0, within, 1.0) * is_labelled.mean()
    return chances


def _share(labelled: Mask, group: Indices) -> Floats:
    shares: Floats = np.bincount(group, weights=labelled)[group] / np.bincount(group)[group]
    return shares
