"""Draw a sample of outcomes with a seed: the same candidates give the same sample, in whatever order they come."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from annotation.vocabulary import SampleMethod, Stratum
from benchmark.rules.vocabulary import Mark


class Exclusion(StrEnum):
    """Why an outcome is not drawn from."""

    SKIPPED = "skipped"
    ERROR = "error"
    NOT_JUDGED = "not_judged"

    @property
    def words(self) -> str:
        """The reason as a page says it."""
        return _EXCLUSION_WORDS[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thing that may be drawn: an outcome of a round, or a round itself where ratings are asked.

    `place` orders candidates and must be unique; it never depends on how rows were read.
    """

    round: int
    trial: int
    project: str
    agent: str
    place: tuple[str | int, ...]
    outcome: int | None = None
    kind: str = ""
    mark: Mark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan:
    """How to draw; `size` is of each project or each stratum and means nothing where all are taken."""

    method: SampleMethod
    seed: int
    size: int = 0
    strata: tuple[Stratum, ...] = ()
    only_executed: bool = True

    def __post_init__(self) -> None:
        if self.method is not SampleMethod.ALL and self.size < 1:
            raise ValueError(f"A sample of {self.size} is empty; ask for at least 1.")
        if self.method is SampleMethod.STRATIFIED and not self.strata:
            raise ValueError("A stratified sample needs a stratum: agent, kind or mark.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnStratum:
    """How many candidates a stratum (or project) has and how many of them were drawn."""

    name: str
    found: int
    drawn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A candidate of the sample and the stratum that it stands for."""

    candidate: Candidate
    stratum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was drawn, in the order of places, what each stratum gave, and what was left out and why."""

    drawn: tuple[Drawn, ...]
    strata: tuple[DrawnStratum, ...]
    excluded: dict[Exclusion, int]


def draw(candidates: Iterable[Candidate], plan: SamplePlan) -> Sample:
    """Return the sample of a plan; a stratum with fewer candidates than asked for gives all it has."""
    excluded: Counter[Exclusion] = Counter()
    by_stratum: dict[str, list[Candidate]] = defaultdict(list)
    name_of = stratum_of(plan)
    for candidate in candidates:
        reason = _exclusion(candidate) if plan.only_executed else None
        if reason is None:
            by_stratum[name_of(candidate)].append(candidate)
        else:
            excluded[reason] += 1
    drawn: list[Drawn] = []
    strata: list[DrawnStratum] = []
    for name, found in sorted(by_stratum.items()):
        chosen = _chosen(found, plan, stratum=name)
        drawn += (Drawn(candidate=candidate, stratum=name) for candidate in chosen)
        strata.append(DrawnStratum(name=name, found=len(found), drawn=len(chosen)))
    return Sample(
        drawn=tuple(sorted(drawn, key=lambda each: each.candidate.place)),
        strata=tuple(strata),
        excluded={reason: excluded[reason] for reason in Exclusion if excluded[reason]},
    )


def seeded(seed: int, purpose: str) -> Random:
    """Return a generator that gives one campaign the same luck each time, and each purpose its own."""
    return Random(f"{seed}/{purpose}")  # noqa: S311  # reproducible is what it has to be


def stratum_of(plan: SamplePlan) -> Callable[[Candidate], str]:
    """Return what names the stratum (or project) that a candidate is drawn from."""
    if plan.method is SampleMethod.ALL:
        return lambda _candidate: ""
    if plan.method is SampleMethod.PER_PROJECT:
        return lambda candidate: candidate.project
    # In the order of the closed list, so that naming strata in another order draws the same sample.
    wanted = [stratum for stratum in Stratum if stratum in plan.strata]
    return lambda candidate: " · ".join(_value(candidate, stratum) for stratum in wanted)


def _value(candidate: Candidate, stratum: Stratum) -> str:
    if stratum is Stratum.AGENT:
        return candidate.agent
    if stratum is Stratum.KIND:
        return candidate.kind
    return "not judged" if candidate.mark is None else candidate.mark.value


def _exclusion(candidate: Candidate) -> Exclusion | None:
    if candidate.outcome is None or (candidate.mark is not None and candidate.mark.is_judged):
        return None
    if candidate.mark is None:
        return Exclusion.NOT_JUDGED
    return Exclusion.SKIPPED if candidate.mark is Mark.SKIPPED else Exclusion.ERROR


def _chosen(found: Sequence[Candidate], plan: SamplePlan, *, stratum: str) -> Sequence[Candidate]:
    if plan.method is SampleMethod.ALL or plan.size >= len(found):
        return found
    # A generator for each stratum: what one of them holds does not change what another gives.
    return seeded(plan.seed, stratum).sample(sorted(found, key=lambda candidate: candidate.place), plan.size)


_EXCLUSION_WORDS = {
    Exclusion.SKIPPED: "skipped by the judge",
    Exclusion.ERROR: "could not be judged",
    Exclusion.NOT_JUDGED: "not judged yet",
}
