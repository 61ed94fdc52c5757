"""A bench of its own for a test: own data folder, the real commands, a server that can be killed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(slots=True, kw_only=True)
class Bench:
    """Commands and servers on one data folder; `stop` ends the server and says what was left."""

    data: Path
    server: subprocess.Popen[bytes] | None = None
    address: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def ran(
        self, *words: str, stdin: bytes | None = None, timeout: float = 600, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, whatever that is."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *words],
            capture_output=True,
            input=stdin,
            env=self._environment() | environment,
            cwd=ROOT,
            timeout=timeout,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def begun(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command and let it go on; its errors go to a file beside the data."""
        with (self.data / "begun.log").open("ab") as out:
            started = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), *words],
                stdout=out,
                stderr=out,
                env=self._environment(),
                cwd=ROOT,
                # Where a shell started the tests in the background, all of them would ignore Ctrl-C.
                preexec_fn=_heed_ctrl_c,  # noqa: PLW1509 - it takes no lock
            )
        self.started.append(started)
        return started

    def end_all(self) -> None:
        """End what a failed test left running."""
        if self.server is not None:
            self.kill()
        for started in self.started:
            if started.poll() is None:
                started.kill()
            started.wait(30)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Look into the bench's SQLite database from outside."""
        with sqlite3.connect(self.data / "proofroom.sqlite3", timeout=20) as database:
            found = database.execute(query, values).fetchall()
        database.close()
        return found

    def wait_for(self, query: str, *values: object, within: float = 120) -> None:
        """Wait until a query finds something."""
        deadline = time.monotonic() + within
        while not self.rows(query, *values):
            assert time.monotonic() < deadline, f"{query} found nothing within {within} s"
            time.sleep(0.2)

    def command(self, *words: str, exit_code: int = 0, timeout: float = 600) -> str:
        """Run a command and return what it answered; another exit code fails the test."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *words],
            capture_output=True,
            text=True,
            env=self._environment(),
            cwd=ROOT,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == exit_code, f"{words}: {done.stdout}\n{done.stderr}"
        return done.stdout if exit_code == 0 else done.stderr

    def json(self, *words: str, timeout: float = 600) -> Any:
        """Run a command with --json and return its document."""
        return json.loads(self.command(*words, "--json", timeout=timeout))

    def serve(self, *words: str) -> str:
        """Start the site with its worker on a free port and return its address."""
        log = self.data / "server.log"
        with log.open("ab") as out:
            self.server = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "serve", "--port", "0", *words],
                stdout=subprocess.PIPE,
                stderr=out,
                env=self._environment(),
                cwd=ROOT,
            )
        assert self.server.stdout is not None
        line = self.server.stdout.readline().decode()
        assert "http://" in line, f"The server did not start: {line}\n{log.read_text()[-2000:]}"
        self.address = line.split()[3]
        return self.address

    def kill(self) -> None:
        """End the server as a power cut would."""
        assert self.server is not None
        self.server.kill()
        self._forget()

    def stop(self) -> float:
        """End the server politely and return how many seconds that took."""
        assert self.server is not None
        began = time.monotonic()
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(30)
        self._forget()
        return time.monotonic() - began

    def leftovers(self, *, within: float = 10) -> list[str]:
        """Processes that still work for this bench after `within` seconds: none, one hopes."""
        deadline = time.monotonic() + within
        while (found := list(self._processes())) and time.monotonic() < deadline:
            time.sleep(0.2)
        return found

    def _environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PROOFROOM")}
        kept.pop("DATABASE_URL", None)
        kept.pop("REDIS_URL", None)
        return kept | {"PROOFROOM_DATA_DIR": str(self.data)} | self.environment

    def _processes(self) -> Iterator[str]:
        """Command lines that name the data folder, as do those of browsers, servers and keepers."""
        mark = str(self.data).encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdecimal() or int(entry.name) == os.getpid():
                continue
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes()
                where = str((entry / "cwd").readlink()).encode()
                if words and (mark in words or mark in where or mark in (entry / "environ").read_bytes()):
                    yield f"{entry.name} {words.replace(bytes(1), b' ').decode(errors='replace')[:200]}"

    def _forget(self) -> None:
        assert self.server is not None
        self.server.wait(30)
        if self.server.stdout is not None:
            self.server.stdout.close()
        self.server = None


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
