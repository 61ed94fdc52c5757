"""A PostgreSQL and a Redis of the tests' own, on free loopback ports, gone with the test."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import redis

INITDB = ("-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
REDIS = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no")


@contextmanager
def postgres() -> Iterator[str]:
    """A cluster of its own; yields the address without a database's name."""
    programs = _postgres_programs()
    # PostgreSQL refuses to run as root, and its user cannot enter pytest's own folders.
    owner = _owner()
    with tempfile.TemporaryDirectory(prefix="proofroom-pg-") as name:
        folder = Path(name)
        if owner is not None:
            os.chown(folder, pwd.getpwnam(owner).pw_uid, -1)
        data, port = folder / "data", free_port()
        subprocess.run(
            [str(programs / "initdb"), "-D", str(data), *INITDB],
            check=True,
            capture_output=True,
            user=owner,
            cwd=folder,
        )
        options = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": folder}
        options |= {"fsync": "off", "max_connections": 60}
        server = subprocess.Popen(
            [
                str(programs / "postgres"),
                "-D",
                str(data),
                *(f"--{key}={value}" for key, value in options.items()),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=owner,
            cwd=folder,
        )
        try:
            address = f"postgres://postgres@127.0.0.1:{port}"
            _wait_until_answering(lambda: psycopg.connect(f"{address}/postgres").close(), psycopg.Error)
            yield address
        finally:
            # Fast shutdown: sessions that a killed worker left are ended.
            server.send_signal(signal.SIGINT)
            server.wait(30)


@dataclass(slots=True, kw_only=True)
class Broker:
    """A Redis that keeps nothing: after its death the queue is empty."""

    port: int
    folder: str
    program: str
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process = subprocess.Popen(
            [self.program, "--port", str(self.port), "--dir", self.folder, *REDIS],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with redis.Redis.from_url(self.address) as client:
            _wait_until_answering(client.ping, redis.RedisError)

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)
            self.process = None


@contextmanager
def broker() -> Iterator[Broker]:
    """A running Redis."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no redis-server: apt install redis-server")
    with tempfile.TemporaryDirectory(prefix="proofroom-redis-") as folder:
        made = Broker(port=free_port(), folder=folder, program=program)
        try:
            made.start()
            yield made
        finally:
            made.kill()


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _postgres_programs() -> Path:
    found = [Path(path).parent for path in (shutil.which("initdb"),) if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in found:
        if (folder / "initdb").is_file():
            return folder
    pytest.skip("no PostgreSQL server: apt install postgresql")


def _owner() -> str | None:
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user 'postgres'")


def _wait_until_answering(ask, refusal: type[Exception]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            ask()
        except refusal:
            assert time.monotonic() < deadline, "the server did not answer within a minute"
            time.sleep(0.1)
        else:
            return
