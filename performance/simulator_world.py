"""Trials whose stages take seconds of chance, and a plain schedule of them: the same world for model and engine."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """Medians in seconds of a round's stages, how widely they spread, and what goes wrong how often."""

    agent: float = 600.0
    deploy: float = 20.0
    judge: float = 120.0
    spread: float = 0.5
    failing: float = 0.0
    worker_life: float = 0.0
    seed: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How large a scenario is."""

    configurations: int
    tasks: int
    rounds: int

    @property
    def trials(self) -> int:
        """All trials."""
        return self.configurations * self.tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A round of one trial: seconds of the code agent, of building and starting, and of the judge."""

    agent: float
    deploy: float
    judge: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.agent + self.deploy + self.judge


@dataclass(slots=True)
class Outcome:
    """A schedule: when it was over, and how long trials waited for a worker and judges for a browser."""

    makespan: float = 0.0
    worker_waits: list[float] = field(default_factory=list)
    browser_waits: list[float] = field(default_factory=list)


def phase(durations: Durations, *, configuration: int, task: int, number: int) -> Phase:
    """Draw a round: the same for the same seed, whoever asks and in whatever order."""
    chance = random.Random(f"{durations.seed} {configuration} {task} {number}")

    def drawn(middle: float) -> float:
        return chance.lognormvariate(log(middle), durations.spread)

    return Phase(agent=drawn(durations.agent), deploy=drawn(durations.deploy), judge=drawn(durations.judge))


def world(shape: Shape, durations: Durations) -> list[list[list[Phase]]]:
    """Every round of every trial of every configuration."""
    return [
        [
            [
                phase(durations, configuration=configuration, task=task, number=number)
                for number in range(1, shape.rounds + 1)
            ]
            for task in range(shape.tasks)
        ]
        for configuration in range(shape.configurations)
    ]


def ideal(trials: Sequence[Sequence[Sequence[Phase]]], *, workers: int, browsers: int) -> float:
    """No schedule is shorter: the work of all workers, that of all browsers, and the longest trial."""
    every = [rounds for tasks in trials for rounds in tasks]
    totals = [sum(each.total for each in rounds) for rounds in every]
    judging = sum(each.judge for rounds in every for each in rounds)
    return max(sum(totals) / workers, judging / browsers, *totals)


def scheduled(trials: Sequence[Sequence[Sequence[Phase]]], *, workers: int, browsers: int) -> Outcome:
    """Work through all trials as workers claim them: next from the configuration with the fewest at work."""
    outcome = Outcome()
    waiting = [list(reversed(tasks)) for tasks in trials]
    at_work = [0] * len(trials)
    places: list[float] = [0.0] * browsers
    now, idle, order = 0.0, workers, 0
    # (when, tie, configuration, rounds left, whether it is about to be judged)
    events: list[tuple[float, int, int, list[Phase], bool]] = []
    while True:
        while idle and any(waiting):
            chosen = min((c for c in range(len(trials)) if waiting[c]), key=lambda c: (at_work[c], c))
            rounds = list(reversed(waiting[chosen].pop()))
            at_work[chosen] += 1
            idle -= 1
            order += 1
            outcome.worker_waits.append(now)
            heapq.heappush(events, (now + rounds[-1].agent + rounds[-1].deploy, order, chosen, rounds, True))
        if not events:
            outcome.makespan = now
            return outcome
        now, _, chosen, rounds, is_judging = heapq.heappop(events)
        order += 1
        if is_judging:
            free = heapq.heappop(places)
            begins = max(now, free)
            outcome.browser_waits.append(begins - now)
            ends = begins + rounds[-1].judge
            heapq.heappush(places, ends)
            heapq.heappush(events, (ends, order, chosen, rounds, False))
            continue
        rounds.pop()
        if rounds:
            heapq.heappush(events, (now + rounds[-1].agent + rounds[-1].deploy, order, chosen, rounds, True))
        else:
            at_work[chosen] -= 1
            idle += 1
