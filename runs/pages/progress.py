"""How far a run is, and when it will be done: pure arithmetic over durations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from benchmark.display import counted, duration

STALLED_AFTER = 90.0
"""Seconds without any event after which a running run is called stalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLeft:
    """Seconds that are likely left, with the range that the durations so far allow."""

    likely: float
    least: float
    most: float

    @property
    def words(self) -> str:
        return f"about {duration(self.likely)} left"

    @property
    def range_words(self) -> str:
        return f"{duration(self.least)} to {duration(self.most)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Trials by what they are doing; widths are shares of a bar 100 units wide."""

    finished: int
    working: int
    paused: int
    queued: int
    cancelled: int

    @property
    def total(self) -> int:
        return self.finished + self.working + self.paused + self.queued + self.cancelled

    @property
    def finished_words(self) -> str:
        return f"{self.finished:,} of {counted(self.total, 'trial')} finished"

    @property
    def rest_words(self) -> str:
        parts = [
            f"{count:,} {word}"
            for count, word in (
                (self.working, "working"),
                (self.paused, "paused"),
                (self.queued, "queued"),
                (self.cancelled, "cancelled"),
            )
            if count
        ]
        return ", ".join(parts)

    @property
    def finished_width(self) -> float:
        return self._width(self.finished)

    @property
    def working_width(self) -> float:
        return self._width(self.working)

    def _width(self, count: int) -> float:
        return round(100 * count / self.total, 2) if self.total else 0.0


def time_left(
    finished: Sequence[float], running: Sequence[float], *, queued: int, workers: int
) -> TimeLeft | None:
    """Estimate from the seconds that finished trials took; None until one has finished.

    Running trials count with what they still lack of a whole one. The range repeats the estimate
    with the quarter points of the finished durations, so one odd trial does not spread it.
    """
    if not finished:
        return None
    ordered = sorted(finished)
    mean = sum(ordered) / len(ordered)
    return TimeLeft(
        likely=_seconds(mean, running, queued=queued, workers=workers),
        least=_seconds(_point(ordered, 0.25), running, queued=queued, workers=workers),
        most=_seconds(_point(ordered, 0.75), running, queued=queued, workers=workers),
    )


def stalled_for(*, last_event: datetime | None, now: datetime) -> str:
    """`no sign for 4 min` where a run that should move does not; empty where it does."""
    if last_event is None:
        return ""
    silent = (now - last_event).total_seconds()
    return f"no sign for {duration(silent)}" if silent > STALLED_AFTER else ""


def _seconds(each: float, running: Sequence[float], *, queued: int, workers: int) -> float:
    rest = [max(each - spent, each * 0.05) for spent in running]
    work = sum(rest) + queued * each
    busy = max(1, min(workers, len(running) + queued))
    # The last trial cannot be shared out: at least the longest rest, or a whole queued one, remains.
    floor = max([*rest, each if queued else 0.0], default=0.0)
    return max(floor, work / busy)


def _point(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, max(0, ceil(share * len(ordered)) - 1))]
