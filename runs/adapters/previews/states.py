"""What a preview is at one moment, and where it is in its life."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PreviewState(StrEnum):
    """Where a preview is in its life."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    STOPPED = "stopped"
    EXPIRED = "expired"

    @property
    def is_over(self) -> bool:
        """True when it will never run again."""
        return self in (PreviewState.FAILED, PreviewState.STOPPED, PreviewState.EXPIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A preview as it is at one moment.

    `host_key` is the random first word of its host name; who knows it can see it. `position` is its
    place in the queue (from 1) while it is queued. `port` is 0 unless it runs. `reason` and `log` say
    how it ended; while it runs, `PreviewManager.log` reads its log. `has_run` tells an application that
    died from one that never answered; once it has run, `build_log` is the log of its build. Logs name
    no folder of this machine. `is_stopping` is true from `stop` on, a moment before the state says so.
    """

    host_key: str
    owner: str
    key: str
    state: PreviewState
    position: int | None = None
    port: int = 0
    reason: str = ""
    log: str = ""
    build_log: str = ""
    has_run: bool = False
    is_stopping: bool = False
