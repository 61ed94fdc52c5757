"""What a box costs beside no box: the start of a command, a request to its server, and the memory it takes.

Run it with `make bench`, or: python -m performance.sandbox_start [TIMES]
"""

from __future__ import annotations

import http.client
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from runs.adapters.sandboxes import Box, KeptCommand, ProcessSandbox, Sandbox, clean_environment
from runs.adapters.sandboxes.bubblewrap import BubblewrapSandbox, find_bubblewrap
from runs.adapters.sandboxes.programs import base_python

TIMES = 30
REQUESTS = 300
MOST_TIMES_SLOWER = 6.0


def main(times: int = TIMES) -> int:
    """Measure in pairs and print; 0 when a start in a box takes at most so many times one without."""
    found = find_bubblewrap()
    if isinstance(found, str):
        print(f"sandbox: not measured. {found}")
        return 0
    levels: tuple[Sandbox, Sandbox] = (ProcessSandbox(), BubblewrapSandbox.found())
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        pairs = [[_start(level, workspace) for level in levels] for _ in range(times)]
        bare, boxed = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
        print(f"sandbox: start {bare:.1f} ms at none, {boxed:.1f} ms at bubblewrap: {ratio:.2f} times")
        near, far = (_requests(level, workspace) for level in levels)
        print(
            f"sandbox: request {near.milliseconds:.2f} ms at none, {far.milliseconds:.2f} ms at bubblewrap: "
            f"{far.milliseconds / near.milliseconds:.2f} times; "
            f"memory beside the application {far.memory_mib - near.memory_mib:.1f} MiB more"
        )
    return int(ratio > MOST_TIMES_SLOWER)


def _start(sandbox: Sandbox, workspace: Path) -> float:
    began = time.perf_counter()
    with sandbox.start(
        ["true"], cwd=workspace, env=clean_environment(workspace), box=Box(workspace=workspace)
    ) as kept:
        kept.wait(60)
    return 1000 * (time.perf_counter() - began)


class _Served:
    def __init__(self, milliseconds: float, memory_mib: float) -> None:
        self.milliseconds = milliseconds
        self.memory_mib = memory_mib


def _requests(sandbox: Sandbox, workspace: Path) -> _Served:
    (workspace / "index.html").write_text("<h1>Shop</h1>")
    with sandbox.start(
        [base_python(), "-m", "http.server", "8765", "--bind", "127.0.0.1"],
        cwd=workspace,
        env=clean_environment(workspace),
        box=Box(workspace=workspace),
    ) as kept:
        while not kept.listeners():
            time.sleep(0.05)
        place = urlsplit(kept.address_of(kept.listeners()[0]))
        taken = []
        for _ in range(REQUESTS):
            began = time.perf_counter()
            connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
            connection.request("GET", "/")
            connection.getresponse().read()
            connection.close()
            taken.append(1000 * (time.perf_counter() - began))
        return _Served(statistics.median(taken), _memory_beside(kept))


def _memory_beside(kept: KeptCommand) -> float:
    """Return the MiB, shared pages divided among those who share them, of all but the application."""
    total = 0.0
    for pid in kept.processes():
        if b"http.server" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
            continue
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += sum(int(row.split()[1]) for row in rows if row.startswith("Pss:")) / 1024
    return total


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TIMES))
