"""Which ports a process tree listens on, and which port is free."""

from __future__ import annotations

import socket
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LISTEN = "0A"
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOOPBACK_6 = "00000000000000000000000001000000"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Listener:
    """A listening TCP socket; `only_ipv6` where 127.0.0.1 does not reach it."""

    port: int
    only_ipv6: bool = False

    @property
    def host(self) -> str:
        """The loopback address that reaches it."""
        return "::1" if self.only_ipv6 else "127.0.0.1"


def free_port() -> int:
    """Return a port that nobody listened on a moment ago; the caller handles a lost race."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_taken(port: int) -> bool:
    """Answer whether anybody listens on this port of the loopback address."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def can_be_known() -> bool:
    """Answer whether this machine tells which process listens where (Linux)."""
    return _TABLES[0].exists()


def listeners_in(namespace_of: int) -> tuple[Listener, ...]:
    """Return all listening ports of the network that this process lives in, lowest first."""
    return listeners_among(
        Listener(port=port, only_ipv6=only_ipv6)
        for table in _TABLES
        for port, only_ipv6, _inode in _listening(Path(f"/proc/{namespace_of}/net") / table.name)
    )


def listeners_among(sockets: Iterable[Listener]) -> tuple[Listener, ...]:
    """Return one listener a port, the one that 127.0.0.1 reaches where there are two."""
    found: dict[int, bool] = {}
    for each in sockets:
        found[each.port] = found.get(each.port, True) and each.only_ipv6
    return tuple(sorted(Listener(port=port, only_ipv6=only) for port, only in found.items()))


def still_open(sockets: Collection[str]) -> frozenset[str]:
    """Return those of these sockets (by inode) on which somebody still listens on this machine."""
    return frozenset(inode for table in _TABLES for _port, _only, inode in _listening(table)) & set(sockets)


def sockets_of(processes: Collection[int]) -> dict[str, Listener]:
    """Return the listening sockets held by these processes by their inode."""
    held: set[str] = set()
    for pid in processes:
        with suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    held.add(str(entry.readlink()))
    return {
        inode: Listener(port=port, only_ipv6=only_ipv6)
        for table in _TABLES
        for port, only_ipv6, inode in _listening(table)
        if f"socket:[{inode}]" in held
    }


def _listening(table: Path) -> list[tuple[int, bool, str]]:
    try:
        lines = table.read_text().splitlines()[1:]
    except OSError:
        return []
    rows = [line.split() for line in lines]
    return [
        (int(row[1].rpartition(":")[2], 16), row[1].startswith(_LOOPBACK_6), row[9])
        for row in rows
        if row[3] == _LISTEN
    ]
