"""What a foreign command may see, reach and use: the box that every level of isolation builds for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from runs.ports import LimitKind

MIB = 1 << 20
GIB = 1 << 30
_OPEN_FILES = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What a command may reach beside its own loopback: nothing, unless named here.

    `registries` are addresses (`https://host[:port]/...`) whose hosts a forward proxy lets through; the
    command finds that proxy in its HTTP_PROXY and HTTPS_PROXY. `endpoint` is one address that the command
    reaches as it is written.
    """

    registries: tuple[str, ...] = ()
    endpoint: str = ""


NO_NETWORK = Network()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a command may use together with everything it starts; None is no limit of its own.

    Seconds of processor time, bytes of memory, number of processes, bytes of one file, bytes below the
    writable folders. Wall clock is the deadline of `start`, output the reader's affair.
    """

    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    processes: int | None = None
    file_bytes: int | None = None
    disk_bytes: int | None = None

    def by_kind(self) -> dict[str, float]:
        """Return the limits there are by the name of their kind."""
        given = {
            LimitKind.CPU: self.cpu_seconds,
            LimitKind.MEMORY: self.memory_bytes,
            LimitKind.PROCESSES: self.processes,
            LimitKind.FILE_SIZE: self.file_bytes,
            LimitKind.DISK: self.disk_bytes,
        }
        return {kind.value: limit for kind, limit in given.items() if limit is not None}

    def for_the_kernel(self) -> dict[str, int]:
        """Return what the kernel can hold by itself for each process, by the names of its limits.

        Memory twice as much: reserved pages count there, and the whole tree's pages are watched anyway.
        """
        given = {
            "RLIMIT_CPU": None if self.cpu_seconds is None else int(self.cpu_seconds) + 1,
            "RLIMIT_DATA": None if self.memory_bytes is None else 2 * self.memory_bytes,
            "RLIMIT_FSIZE": self.file_bytes,
        }
        found = {name: int(limit) for name, limit in given.items() if limit is not None}
        return {**found, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": _OPEN_FILES} if found else {}


USUAL_LIMITS = Limits(
    cpu_seconds=4 * 3600.0,
    # Half of a small machine, so that a candidate meets its own limit before the machine has none left.
    memory_bytes=min(4 * GIB, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2),
    processes=512,
    file_bytes=2 * GIB,
    disk_bytes=4 * GIB,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One command's view of the machine.

    `workspace` and the folders in `writable` may be written, files and folders in `read_only` read beside
    the system's programs and libraries; nothing else of this machine's files exists inside. `port` is a
    free port of this machine set aside for the command: it leads to the same number inside.
    """

    workspace: Path
    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    port: int | None = None
    network: Network = NO_NETWORK
    limits: Limits = USUAL_LIMITS
