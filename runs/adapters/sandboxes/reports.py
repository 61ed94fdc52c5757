"""Read what a keeper tells at the end: how a tree ended, which limit it met, and whose fault that was."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from runs.adapters.sandboxes.port import Ending, EndReport
from runs.ports import LimitHit, LimitKind

_NEAR = 0.8
"""From this share of its own limit on, a command that the kernel ended for memory is itself to blame."""


def report_of(
    message: Mapping[str, Any],
    *,
    asked: Ending | None,
    deadline: float | None,
    memory_limit: float | None,
    ports_left: tuple[int, ...],
) -> EndReport:
    """Return the report of a keeper's last message; `asked` is why we asked for the end, if we did."""
    ending = Ending(message["ending"])
    if ending is Ending.CANCELLED and asked is not None:
        ending = asked
    hits = []
    if message["hit"] is not None:
        hit = message["hit"]
        hits.append(LimitHit(kind=LimitKind(hit["kind"]), limit=hit["limit"], seen=hit["seen"]))
    if ending is Ending.DEADLINE and deadline is not None:
        hits.append(LimitHit(kind=LimitKind.WALL_CLOCK, limit=deadline, seen=message["seconds"]))
    return EndReport(
        ending=ending,
        exit_code=message["status"],
        killed=message["killed"],
        left_behind=message["left_behind"],
        survivors=message["survivors"],
        seconds=message["seconds"],
        seconds_to_end=message["seconds_to_end"],
        ports_left=ports_left,
        limits_hit=tuple(hits),
        machine_out_of_memory=ending is Ending.FINISHED and _machine_ran_out(message, memory_limit),
    )


def _machine_ran_out(message: Mapping[str, Any], memory_limit: float | None) -> bool:
    """Answer whether the kernel ended this command for want of memory that others had taken."""
    if not message["out_of_memory_kills"]:
        return False
    if message["status"] not in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return False
    return memory_limit is None or message["peak_memory"] <= _NEAR * memory_limit
