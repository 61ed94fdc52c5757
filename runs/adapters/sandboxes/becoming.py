"""Turn the forked child of a keeper into the command, with the limits that the kernel itself holds.

The keeper imports it without its package, so it needs the standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runs.adapters.sandboxes.cgroups import enter
else:
    from cgroups import enter

PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def become(order: dict[str, Any], *, keeper: int, tell: int) -> None:
    """Turn the forked child into the command; never returns."""
    where = str(order["argv"][0])
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(127)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        # Python ignores these two, and a command would inherit that.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        with suppress(OSError):
            os.nice(int(order["niceness"]))
        _confine(order.get("rlimits", {}))
        if "group" in order:
            enter(order["group"])
        where = str(order["cwd"])
        os.chdir(where)
        where = str(order["argv"][0])
        os.execvpe(where, order["argv"], order["env"])
    except OSError as error:
        os.write(tell, json.dumps([error.errno, where]).encode())
    finally:
        os._exit(127)


def _confine(limits: dict[str, int]) -> None:
    """Let the kernel hold what it can of the limits, and end this tree first where memory runs out."""
    if not limits:
        return
    import resource  # Here, because most commands have no limits and start quicker so.

    for name, limit in limits.items():
        number = getattr(resource, name)
        _soft, hard = resource.getrlimit(number)
        if hard != resource.RLIM_INFINITY:
            # What this user may have at most.
            limit = min(limit, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(number, (limit, limit))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123 - starts quicker
        file.write("500")


def let_go_of_standard_streams() -> None:
    """Close our copies of the command's streams, so that their end is seen when the command ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)


def prctl(option: int, value: int) -> None:
    """Set one of this process's own switches; nothing where the kernel is not Linux."""
    if sys.platform == "linux":
        _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0)
