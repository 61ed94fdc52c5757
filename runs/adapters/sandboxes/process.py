"""The sandbox level `none`: a whole process tree is held and ended, but nothing is hidden from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runs.adapters.sandboxes.box import Box
from runs.adapters.sandboxes.kept import KeptProcess, end_all, held_commands
from runs.adapters.sandboxes.port import Stream
from runs.adapters.sandboxes.starting import require_startable

__all__ = ["KeptProcess", "ProcessSandbox", "end_all", "held_commands"]


def orders_about(box: Box | None) -> dict[str, Any]:
    """Return what a keeper has to know of a box: the limits, and which folders count for them."""
    if box is None:
        return {}
    return {
        "limits": box.limits.by_kind(),
        "rlimits": box.limits.for_the_kernel(),
        "watched": [str(folder) for folder in (box.workspace, *box.writable)],
    }


class ProcessSandbox:
    """Starts commands as ordinary processes of this user, each under a keeper of its own.

    Everything the command starts is ended with it, daemons included. It is not a wall: the command may
    read what this user may read and reach the network. Of a box only the limits hold. Its name says so.
    """

    name = "none"
    isolates = False

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: Stream = Stream.NOTHING,
        stdout: Stream = Stream.PIPE,
        stderr: Stream = Stream.PIPE,
        deadline_seconds: float | None = None,
        grace_seconds: float = 2.0,
        niceness: int = 0,
        box: Box | None = None,
    ) -> KeptProcess:
        """Start `argv` in `cwd` with exactly `env`; raises StartFailed or (keeper trouble) StageError."""
        require_startable(argv, env)
        order = {
            "argv": list(argv),
            "cwd": str(cwd),
            "env": dict(env),
            "deadline": deadline_seconds,
            "grace": grace_seconds,
            "niceness": niceness,
            **orders_about(box),
        }
        return KeptProcess(order, stdin=stdin, stdout=stdout, stderr=stderr).started()
