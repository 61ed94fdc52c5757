"""Find and kill processes by a mark in their environment: the net for a keeper that was itself killed."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

VARIABLE = "PROOFROOM_KEPT"


def kill_marked(token: str) -> int:
    """Kill the processes that carry this mark; answers how many there were."""
    mark = f"{VARIABLE}={token}".encode()
    killed: set[int] = set()
    for _pass in range(50):
        found = [pid for pid in _processes() if mark in _environment_of(pid)]
        if not found:
            break
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.02)
    return len(killed)


def _processes() -> list[int]:
    if not Path("/proc/self").exists():
        return []
    return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]


def _environment_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
