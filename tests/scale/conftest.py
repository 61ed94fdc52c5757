"""Servers for a module of tests, and a bench whose database and broker they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.scale.servers import postgres, redis_server
from tests.whole import small
from tests.whole.bench import ROOT, Bench

CELERY = (sys.executable, "-m", "celery", "-A", "proofroom")
SETTINGS = {
    "PROOFROOM_WORKER_THREADS": "1",
    "PROOFROOM_SWEEP_SECONDS": "1",
    "PROOFROOM_LEASE_SECONDS": "10",
}


@dataclass(slots=True, kw_only=True)
class ScaledBench(Bench):
    """A bench on PostgreSQL and Redis, with any number of Celery workers."""

    redis: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.environment["DATABASE_URL"]) as database:
            return database.execute(query.replace("?", "%s").encode(), values).fetchall()

    def worker(self) -> subprocess.Popen[bytes]:
        """Start a worker as docs/scale-out says."""
        number = len(self.workers) + 1
        with (self.data / f"worker-{number}.log").open("ab") as out:
            started = subprocess.Popen(
                [*CELERY, "worker", "-n", f"w{number}@%h", "--loglevel", "INFO"],
                stdout=out,
                stderr=out,
                env=self._environment(),
                cwd=ROOT,
            )
        self.workers.append(started)
        return started

    def log(self) -> str:
        """What the workers wrote, for a test that failed."""
        return "\n".join(path.read_text()[-3000:] for path in sorted(self.data.glob("*.log")))

    def end_workers(self) -> None:
        """End what a test left running."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.terminate()
        for worker in self.workers:
            with suppress(subprocess.TimeoutExpired):
                worker.wait(20)
            if worker.poll() is None:
                worker.kill()
                worker.wait(20)
        self.workers.clear()


@pytest.fixture(scope="session")
def database_server() -> Iterator[str]:
    with postgres() as address:
        yield address


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    with redis_server() as address:
        yield address


@pytest.fixture(scope="module")
def scaled(request, database_server: str, broker: str, tmp_path_factory) -> Iterator[ScaledBench]:
    """A migrated bench with the packs `quick` and `slow` of tests.whole.small."""
    name = Path(request.node.name).stem
    with psycopg.connect(f"{database_server}/postgres", autocommit=True) as server:
        server.execute(f'create database "{name}"'.encode())
    folder = tmp_path_factory.mktemp(name)
    (folder / "var").mkdir()
    bench = ScaledBench(
        data=folder / "var",
        redis=broker,
        environment={"DATABASE_URL": f"{database_server}/{name}", "REDIS_URL": broker, **SETTINGS},
    )
    bench.command("migrate", "-v", "0")
    for key, last in (("quick", small.ABSENT), ("slow", small.SLOW)):
        bench.command("import", str(small.pack(folder, key=key, scripts={"c0": small.QUICK, "c1": last})))
    yield bench
    bench.end_workers()
    assert bench.leftovers() == []
