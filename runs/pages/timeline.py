"""The timeline of a trial: a block a round, a bar a stage, as wide as it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from benchmark.display import Look, duration
from benchmark.rules.vocabulary import StageName
from runs.pages.grid import stage_word

_LEAST_SHARE = 0.07
_WORDY_SHARE = 0.13


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSpan:
    """When a stage ran; without an end it still does."""

    stage: StageName
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageBar:
    """A stage on a bar of 1000 units; `label` is empty where there is no room for it."""

    stage: StageName
    x: float
    width: float
    label: str
    words: str
    is_running: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRound:
    """One round of the timeline."""

    number: int
    looks: tuple[Look, ...]
    rate: str
    time: str
    bars: tuple[StageBar, ...]
    is_current: bool
    href: str


def stage_bars(spans: Sequence[StageSpan], *, now: datetime) -> tuple[StageBar, ...]:
    """Lay stages out by the time they took; the shortest keep a width that can be seen."""
    seconds = [max(((span.finished_at or now) - span.started_at).total_seconds(), 0.0) for span in spans]
    total = sum(seconds) or 1.0
    shares = [max(each / total, _LEAST_SHARE) for each in seconds]
    whole = sum(shares) or 1.0
    bars, x = [], 0.0
    for span, spent, share in zip(spans, seconds, shares, strict=True):
        width = 1000 * share / whole
        bars.append(
            StageBar(
                stage=span.stage,
                x=round(x, 1),
                width=round(max(width - 5, 4), 1),
                label=stage_word(span.stage) if share / whole >= _WORDY_SHARE else "",
                words=f"{stage_word(span.stage)} {duration(spent)}",
                is_running=span.finished_at is None,
            )
        )
        x += width
    return tuple(bars)
