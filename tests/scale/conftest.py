"""Servers for a module of tests, and a bench whose database and broker they are."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.benchmark.s3_server import BUCKET, KEYS, bucket, s3_server
from tests.scale import servers
from tests.scale.hosts import Host
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
    store: str = ""
    secret_key: str = field(default_factory=lambda: secrets.token_urlsafe(50))
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.environment["DATABASE_URL"]) as database:
            return database.execute(query.replace("?", "%s").encode(), values).fetchall()

    def worker(
        self, *, queues: str = "", apart: bool = False, host: Host | None = None, **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start a worker as docs/scale-out says: of some queues, with a data folder apart, on another host."""
        number = len(self.workers) + 1
        command = [*CELERY, "worker", "-n", f"w{number}@%h", "--loglevel", "INFO"]
        command += ["-Q", queues] if queues else []
        folder = self.data.parent / f"apart-{number}" if apart or host else self.data
        with (self.data / f"worker-{number}.log").open("ab") as out:
            started = subprocess.Popen(
                host.inside(*command) if host else command,
                stdout=out,
                stderr=out,
                env=self._environment()
                | {"PROOFROOM_DATA_DIR": str(folder), "PROOFROOM_SECRET_KEY": self.secret_key}
                | environment,
                cwd=ROOT,
            )
        self.workers.append(started)
        return started

    def stored(self) -> set[str]:
        """The digests of what lies in the blob store, below this bench's prefix."""
        prefix = f"{self.data.parent.name}/"
        return {found.key.rpartition("/")[2] for found in bucket(self.store).objects.filter(Prefix=prefix)}

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
    with servers.postgres() as address:
        yield address


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    with servers.broker() as running:
        yield running.address


@pytest.fixture(scope="session")
def object_store() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture(scope="module")
def scaled(
    request, database_server: str, broker: str, object_store: str, tmp_path_factory
) -> Iterator[ScaledBench]:
    """A migrated bench with the packs `quick` and `slow` of tests.whole.small."""
    name = Path(request.node.name).stem
    with psycopg.connect(f"{database_server}/postgres", autocommit=True) as server:
        server.execute(f'create database "{name}"'.encode())
    folder = tmp_path_factory.mktemp(name)
    (folder / "var").mkdir()
    bench = ScaledBench(
        data=folder / "var",
        redis=broker,
        store=object_store,
        environment={
            "DATABASE_URL": f"{database_server}/{name}",
            "REDIS_URL": broker,
            "PROOFROOM_BLOBS": f"s3://{BUCKET}/{folder.name}",
            "PROOFROOM_S3_ENDPOINT": object_store,
            **KEYS,
            **SETTINGS,
        },
    )
    bench.command("migrate", "-v", "0")
    for key, last in (("quick", small.ABSENT), ("slow", small.SLOW)):
        bench.command("import", str(small.pack(folder, key=key, scripts={"c0": small.QUICK, "c1": last})))
    yield bench
    bench.end_workers()
    assert bench.leftovers() == []
