"""Watch what a tree of processes uses, and name the first limit that it meets.

The keeper imports it without its package, so it needs the standard library only. Times are in seconds,
sizes in bytes.
"""

from __future__ import annotations

import os
import resource
import signal
import stat
import time
from contextlib import suppress
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LOOK_EVERY = 0.25
_WALK_AT_LEAST_EVERY = 30.0
_BLOCK = 512
_LONGEST_WALK = 3.0

type Hit = dict[str, Any]
"""The kind of a limit, the limit itself and what was seen."""


class Process:
    """What /proc says of one process: its parent, whether it is over, its ticks and resident bytes."""

    __slots__ = ("is_over", "parent", "pid", "resident", "ticks")

    def __init__(self, pid: int, text: bytes) -> None:
        fields = text[text.rindex(b")") + 2 :].split()
        self.pid = pid
        self.parent = int(fields[1])
        # A zombie whose other threads still run counts as living: its thread count says so.
        self.is_over = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
        # Its own time and that of the children it has waited for.
        self.ticks = sum(int(field) for field in fields[11:15])
        self.resident = int(fields[21]) * _PAGE


def tree_below(ancestor: int) -> list[Process]:
    """Return all descendants, those that are over included; daemonised ones come back to their subreaper."""
    children: dict[int, list[Process]] = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        text = content(f"/proc/{entry.name}/stat")
        if text:
            process = Process(int(entry.name), text)
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = list(children.get(ancestor, ()))
    while waiting:
        process = waiting.pop()
        found.append(process)
        waiting.extend(children.get(process.pid, ()))
    return found


def descendants_of(ancestor: int) -> list[int]:
    """Return the living descendants."""
    return [process.pid for process in tree_below(ancestor) if not process.is_over]


class Watch:
    """Looks at the tree below `ancestor`, as seldom as looking is expensive."""

    def __init__(self, limits: dict[str, float], *, ancestor: int, roots: list[str]) -> None:
        self._limits = limits
        self._ancestor = ancestor
        self._roots = roots
        self._devices = {os.stat(root).st_dev for root in roots if os.path.isdir(root)}  # noqa: PTH112, PTH116 - starts quicker
        self._due = 0.0
        self._walk_due = 0.0
        self._walked_used = 0
        self._first_bytes: int | None = None
        self._free_at_first = _available_memory()
        self.peak_memory = 0

    @property
    def is_needed(self) -> bool:
        """True where there is anything to watch."""
        return bool(self._limits) and os.access("/proc/self/stat", os.R_OK)

    def seconds_to_next(self) -> float:
        """Return how long to wait before looking again."""
        return max(0.0, self._due - time.monotonic())

    def look(self) -> Hit | None:
        """Return the limit that is exceeded at this moment, or None; quick when it is not yet due."""
        began = time.monotonic()
        if began < self._due:
            return None
        tree = tree_below(self._ancestor)
        hit = self._processes(tree) or self._cpu(tree) or self._memory(tree) or self._disk(tree)
        now = time.monotonic()
        self._due = now + max(_LOOK_EVERY, 10 * (now - began))
        return hit

    def last_look(self, *, signal_number: int) -> Hit | None:
        """Return what a command that failed may have met unseen: a file grown to its limit, its time."""
        for name, number in (("file_size", signal.SIGXFSZ), ("cpu", signal.SIGXCPU)):
            if signal_number == number and name in self._limits:
                return _hit(name, self._limits[name], self._limits[name])
        if "memory" in self._limits:
            # A process that grew and died between two looks; children that were waited for are counted too.
            highest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
            if highest > self._limits["memory"]:
                return _hit("memory", self._limits["memory"], highest)
        if "file_size" in self._limits:
            _total, largest = _sizes(self._roots)
            if largest >= self._limits["file_size"]:
                return _hit("file_size", self._limits["file_size"], largest)
        return None

    def _processes(self, tree: list[Process]) -> Hit | None:
        limit = self._limits.get("processes")
        if limit is not None and len(tree) > limit:
            return _hit("processes", limit, len(tree))
        return None

    def _cpu(self, tree: list[Process]) -> Hit | None:
        limit = self._limits.get("cpu")
        if limit is None:
            return None
        times = os.times()
        used = sum(process.ticks for process in tree) / _TICKS + times.children_user + times.children_system
        return _hit("cpu", limit, used) if used > limit else None

    def _memory(self, tree: list[Process]) -> Hit | None:
        limit = self._limits.get("memory")
        if limit is None:
            return None
        used = sum(process.resident for process in tree)
        if used > limit:
            # Pages that several processes share were counted once for each of them.
            used = sum(_proportional(process) for process in tree)
        if used <= limit and self._free_at_first - _available_memory() > limit - used:
            used += _unnamed_bytes(tree, elsewhere_than=self._devices)
        # What one process held between two looks: it may have been refused more, given all back and lived on.
        used = max(used, *(_highest(process) for process in tree), 0)
        self.peak_memory = max(self.peak_memory, used)
        return _hit("memory", limit, used) if used > limit else None

    def _disk(self, tree: list[Process]) -> Hit | None:
        limit = self._limits.get("disk")
        if limit is None:
            return None
        began = time.monotonic()
        used = _used_bytes(self._roots)
        if self._first_bytes is not None:
            grown = used - self._walked_used
            if began < self._walk_due and grown < limit / 4:
                return None
        total, _largest = _sizes(self._roots)
        total += _unnamed_bytes(tree, only_on=self._devices)
        if self._first_bytes is None:
            self._first_bytes = total
        self._walked_used = used
        now = time.monotonic()
        self._walk_due = now + max(_WALK_AT_LEAST_EVERY, 20 * (now - began))
        written = total - self._first_bytes
        return _hit("disk", limit, written) if written > limit else None


def out_of_memory_kills() -> int:
    """Return how many processes the kernel has ended on this machine for want of memory; 0 if unknown."""
    for line in content("/proc/vmstat").splitlines():
        if line.startswith(b"oom_kill "):
            return int(line.split()[1])
    return 0


def content(path: str) -> bytes:
    """Return what a file holds, nothing when it cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - importing pathlib would double the start time
            return file.read()
    except OSError:
        return b""


def _hit(kind: str, limit: float, seen: float) -> Hit:
    return {"kind": kind, "limit": limit, "seen": seen}


def _proportional(process: Process) -> int:
    for line in content(f"/proc/{process.pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0 if process.is_over else process.resident


def _highest(process: Process) -> int:
    """Return the most bytes that a process ever held at once, pages of mapped files included."""
    for line in content(f"/proc/{process.pid}/status").splitlines():
        if line.startswith(b"VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def _available_memory() -> int:
    for line in content("/proc/meminfo").splitlines():
        if line.startswith(b"MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _unnamed_bytes(
    tree: list[Process], *, only_on: set[int] | None = None, elsewhere_than: set[int] | None = None
) -> int:
    """Return the bytes of open files without a name: deleted ones on disk, or those made in memory."""
    found: dict[tuple[int, int], int] = {}
    for process in tree:
        folder = f"/proc/{process.pid}/fd"
        with suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208 - importing pathlib would double the start time
                with suppress(OSError):
                    seen = os.stat(f"{folder}/{name}")  # noqa: PTH116 - as above
                    if seen.st_nlink or not stat.S_ISREG(seen.st_mode):
                        continue
                    if only_on is not None and seen.st_dev not in only_on:
                        continue
                    if elsewhere_than is not None and seen.st_dev in elsewhere_than:
                        continue
                    found[seen.st_dev, seen.st_ino] = seen.st_blocks * _BLOCK
    return sum(found.values())


def _used_bytes(roots: list[str]) -> int:
    used: dict[int, int] = {}
    for root in roots:
        with suppress(OSError):
            system = os.statvfs(root)
            used[system.f_fsid] = (system.f_blocks - system.f_bfree) * system.f_frsize
    return sum(used.values())


def _sizes(roots: list[str]) -> tuple[int, int]:
    """Return the bytes on disk below the folders, and the length of the largest file."""
    total = largest = 0
    waiting = list(roots)
    # Bounded: a tree of a million small files must not keep its keeper from ending it.
    until = time.monotonic() + _LONGEST_WALK
    while waiting and time.monotonic() < until:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    seen = entry.stat(follow_symlinks=False)
                    total += seen.st_blocks * _BLOCK
                    if stat.S_ISDIR(seen.st_mode):
                        waiting.append(entry.path)
                    elif stat.S_ISREG(seen.st_mode):
                        largest = max(largest, seen.st_size)
    return total, largest
