"""A control group for one tree where this machine lets us make one: the kernel then counts exactly.

Version 2 only, beside our own group, where its parent hands on memory and pids. The keeper imports it
without its package, so it needs the standard library only. Elsewhere the keeper's own look has to do.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any

_ROOT = "/sys/fs/cgroup"
_CONTROLLERS = {b"memory", b"pids"}
_PREFIX = "proofroom-"
_EMPTY_SECONDS = 2.0


class Group:
    """The control group of one command and all that descends from it."""

    def __init__(self, path: str, limits: dict[str, float]) -> None:
        self.path = path
        self._limits = limits

    @classmethod
    def made(cls, limits: dict[str, float], *, root: str = _ROOT, own: bytes | None = None) -> Group | None:
        """Return a new group with these limits on memory and processes, or None where there can be none."""
        parent = _parent(root, _content("/proc/self/cgroup") if own is None else own)
        if parent is None or not limits:
            return None
        if not set(_content(f"{parent}/cgroup.subtree_control").split()) >= _CONTROLLERS:
            return None
        _remove_left(parent)
        group = cls(f"{parent}/{_PREFIX}{os.getpid()}", limits)
        try:
            os.mkdir(group.path)  # noqa: PTH102 - importing pathlib would double the start time
            if "memory" in limits:
                _write(f"{group.path}/memory.max", f"{limits['memory']:.0f}")
                _write(f"{group.path}/memory.oom.group", "1")
            if "processes" in limits:
                _write(f"{group.path}/pids.max", f"{limits['processes']:.0f}")
        except OSError:
            group.remove()
            return None
        with suppress(OSError):  # A kernel without swap accounting has no such file.
            _write(f"{group.path}/memory.swap.max", "0")
        return group

    def hit(self) -> dict[str, Any] | None:
        """Return the limit that the kernel has held against the tree, or None."""
        for kind, file, word in (
            ("memory", "memory.events", b"oom_kill"),
            ("processes", "pids.events", b"max"),
        ):
            if kind in self._limits and _count(f"{self.path}/{file}", word):
                return {"kind": kind, "limit": self._limits[kind], "seen": self._limits[kind]}
        return None

    def kill(self) -> None:
        """End everything in the group at once, where the kernel knows how (5.14)."""
        with suppress(OSError):
            _write(f"{self.path}/cgroup.kill", "1")

    def remove(self) -> None:
        """Remove the group once nothing is in it; what cannot be removed a later keeper removes."""
        until = time.monotonic() + _EMPTY_SECONDS
        while time.monotonic() < until:
            try:
                os.rmdir(self.path)  # noqa: PTH106 - importing pathlib would double the start time
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.02)
            else:
                return


def enter(path: str) -> None:
    """Move this process into a group; where that fails it is watched all the same."""
    with suppress(OSError):
        _write(f"{path}/cgroup.procs", "0")


def _parent(root: str, own: bytes) -> str | None:
    """Return the group above our own one: a group with processes in it may hand nothing on."""
    for line in own.splitlines():
        if line.startswith(b"0::/"):
            inner = line[3:].decode().rstrip("/")
            above = f"{root}{inner.rpartition('/')[0]}" if inner else None
            return above if above is not None and os.access(above, os.W_OK) else None
    return None


def _remove_left(parent: str) -> None:
    """Remove the groups of keepers that were killed."""
    with suppress(OSError):
        for name in os.listdir(parent):  # noqa: PTH208 - importing pathlib would double the start time
            pid = name.removeprefix(_PREFIX)
            if name.startswith(_PREFIX) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):  # noqa: PTH110
                with suppress(OSError):
                    os.rmdir(f"{parent}/{name}")  # noqa: PTH106 - as above


def _count(path: str, word: bytes) -> int:
    for line in _content(path).splitlines():
        name, _, number = line.partition(b" ")
        if name == word:
            return int(number)
    return 0


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 - importing pathlib would double the start time
        file.write(text)


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - importing pathlib would double the start time
            return file.read()
    except OSError:
        return b""
