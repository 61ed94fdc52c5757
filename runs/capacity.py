"""What a run will need before it starts, computed from past trials of its kind: plain numbers in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil
from statistics import median
from typing import Any

BROWSER_BYTES = 400 << 20
"""A browser with the pages of one candidate open: the larger of what was measured, rounded up."""
CANDIDATE_BYTES = 200 << 20
"""The server of a candidate: a small Node application takes a fifth of it."""


class Need(StrEnum):
    """What a part of a trial's time is spent on."""

    AGENT = "agent"
    DEPLOY = "deploy"
    JUDGE = "judge"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTrial:
    """One finished trial: seconds by need, and what its agent reported of tokens and cost, None if nothing."""

    seconds: Mapping[Need, float]
    rounds: int
    tokens: int | None = None
    cost: float | None = None

    @property
    def total(self) -> float:
        """Seconds at work, waiting left out."""
        return sum(self.seconds.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The median of what was seen, its smallest and its largest, and of how many."""

    median: float
    low: float
    high: float
    n: int

    def times(self, factor: float) -> Spread:
        """The same for so many of them."""
        return Spread(median=self.median * factor, low=self.low * factor, high=self.high * factor, n=self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Declared limits in seconds of one round; what has none is left out."""

    seconds: Mapping[Need, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The run that is asked about, and what there is to work on it."""

    trials: int
    rounds: int
    workers: int
    browsers: int
    criteria_at_once: int
    limits: Limits

    def __post_init__(self) -> None:
        if min(self.workers, self.browsers, self.criteria_at_once, self.rounds) < 1 or self.trials < 0:
            raise ValueError("A run needs a worker, a browser and a round at least.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run will need. Spreads are None without past trials that tell; the upper bound always stands.

    `seconds` is the whole run's, by the present workers; `work` is one trial's, and `by_need` the medians of
    its parts. `most_seconds` follows from the declared limits alone.
    """

    past: int
    trials: int
    rounds: int
    at_once: int
    browsers: int
    criteria_at_once: int
    memory_bytes: int
    work: Spread | None
    by_need: Mapping[Need, float]
    seconds: Spread | None
    most_seconds: float
    tokens: Spread | None
    cost: Spread | None

    def as_json(self) -> dict[str, Any]:
        """The estimate as a document; seconds, bytes, and what the agents' own unit of cost is."""
        return {
            "past_trials": self.past,
            "trials": self.trials,
            "rounds_at_most": self.rounds,
            "trials_at_once": self.at_once,
            "browsers": self.browsers,
            "criteria_at_once": self.criteria_at_once,
            "memory_bytes": self.memory_bytes,
            "seconds": _document(self.seconds),
            "seconds_at_most": self.most_seconds,
            "seconds_a_trial": _document(self.work),
            "seconds_a_trial_by_need": {need.value: seconds for need, seconds in self.by_need.items()},
            "tokens": _document(self.tokens),
            "cost": _document(self.cost),
        }


def estimate(wish: Wish, past: Sequence[PastTrial]) -> Estimate:
    """Return what the run will need, as past trials of the same kind took it."""
    at_once = min(wish.workers, wish.trials)
    browsers = min(at_once, wish.browsers)
    work = _spread([trial.total for trial in past])
    judging = _spread([trial.seconds.get(Need.JUDGE, 0.0) for trial in past])
    tokens = _spread([trial.tokens for trial in past if trial.tokens is not None])
    cost = _spread([trial.cost for trial in past if trial.cost is not None])
    limit = wish.rounds * sum(wish.limits.seconds.values())
    judge_limit = wish.rounds * wish.limits.seconds.get(Need.JUDGE, 0.0)
    return Estimate(
        past=len(past),
        trials=wish.trials,
        rounds=wish.rounds,
        at_once=at_once,
        browsers=browsers,
        criteria_at_once=browsers * wish.criteria_at_once,
        memory_bytes=browsers * BROWSER_BYTES + at_once * CANDIDATE_BYTES,
        work=work,
        by_need={need: median(trial.seconds.get(need, 0.0) for trial in past) for need in Need}
        if past
        else {},
        seconds=_whole_run(work, judging, trials=wish.trials, at_once=at_once, browsers=browsers),
        most_seconds=_takes(limit, judge_limit, trials=wish.trials, at_once=at_once, browsers=browsers),
        tokens=tokens.times(wish.trials) if tokens else None,
        cost=cost.times(wish.trials) if cost else None,
    )


def _whole_run(
    work: Spread | None, judging: Spread | None, *, trials: int, at_once: int, browsers: int
) -> Spread | None:
    if work is None or judging is None or not trials:
        return None

    def takes(a_trial: float, its_judging: float) -> float:
        return _takes(a_trial, its_judging, trials=trials, at_once=at_once, browsers=browsers)

    return Spread(
        median=takes(work.median, judging.median),
        low=takes(work.low, judging.low),
        high=takes(work.high, judging.high),
        n=work.n,
    )


def _takes(a_trial: float, its_judging: float, *, trials: int, at_once: int, browsers: int) -> float:
    """Seconds of a run whose trials are alike: the workers go through them in waves, and so do the browsers."""
    if not trials:
        return 0.0
    return max(a_trial * ceil(trials / at_once), its_judging * ceil(trials / browsers))


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    return Spread(median=median(values), low=min(values), high=max(values), n=len(values))


def _document(spread: Spread | None) -> dict[str, float] | None:
    if spread is None:
        return None
    return {"median": spread.median, "low": spread.low, "high": spread.high, "past_trials": spread.n}
