"""A PostgreSQL that a test may kill and start again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from tests.scale.servers import postgres


@dataclass(slots=True, kw_only=True)
class Database:
    """A PostgreSQL cluster that is started again exactly as it was started first."""

    address: str
    argv: list[str]
    cwd: str
    uid: int
    pid: int
    again: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill(self) -> None:
        """Let it go down at once, without a word to its sessions and without a checkpoint."""
        os.kill(self.pid, signal.SIGQUIT)
        if self.again:
            self.again[-1].wait(30)
            return
        for _ in range(300):
            if _is_over(self.pid):
                return
            time.sleep(0.1)
        pytest.fail("PostgreSQL did not end within 30 s.")

    def start(self) -> None:
        """Start it again on the same port and wait until it has recovered."""
        started = subprocess.Popen(
            self.argv, cwd=self.cwd, user=self.uid, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.again.append(started)
        self.pid = started.pid
        for _ in range(600):
            with suppress(psycopg.Error):
                psycopg.connect(f"{self.address}/postgres").close()
                return
            time.sleep(0.1)
        pytest.fail("PostgreSQL did not answer within a minute.")


@contextmanager
def database() -> Iterator[Database]:
    """A running PostgreSQL."""
    with postgres() as address:
        with psycopg.connect(f"{address}/postgres") as connection:
            row = connection.execute("show data_directory").fetchone()
        assert row is not None
        folder = Path(row[0])
        pid = int((folder / "postmaster.pid").read_text().split()[0])
        argv = [word.decode() for word in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") if word]
        made = Database(
            address=address,
            argv=argv,
            cwd=str(Path(f"/proc/{pid}/cwd").readlink()),
            uid=Path(f"/proc/{pid}").stat().st_uid,
            pid=pid,
        )
        try:
            yield made
        finally:
            for started in made.again:
                if started.poll() is None:
                    started.send_signal(signal.SIGINT)
                    started.wait(30)


def _is_over(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"
