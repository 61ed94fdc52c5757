"""The judge's process as its parent holds it: started under a keeper, spoken to in lines."""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import runs
from runs.adapters.sandboxes.environment import clean_environment, passed_variables
from runs.adapters.sandboxes.logs import BoundedLog, follow
from runs.adapters.sandboxes.port import KeptCommand, Sandbox, Stream

_PROGRAM = "runs.adapters.judges.scripted.session"
_PRODUCT = Path(runs.__file__).resolve().parent.parent
_KEPT_LOG = 64_000
# The site answers pages while judging goes on: on few cores it comes first.
_NICENESS = 5


class Child:
    """One running judge process; every process below it ends with `end`."""

    def __init__(self, sandbox: Sandbox, *, order: Mapping[str, Any], scratch: Path, deadline: float) -> None:
        home = scratch / "home"
        home.mkdir(parents=True, exist_ok=True)
        self._messages: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._log = BoundedLog(keep_bytes=_KEPT_LOG)
        self._kept: KeptCommand = sandbox.start(
            [sys.executable, "-m", _PROGRAM],
            cwd=scratch,
            env=clean_environment(
                home, extra={"PYTHONPATH": str(_PRODUCT), **passed_variables(["PLAYWRIGHT_NODEJS_PATH"])}
            ),
            stdin=Stream.PIPE,
            deadline_seconds=deadline,
            grace_seconds=1.0,
            niceness=_NICENESS,
        )
        assert self._kept.stdout is not None
        assert self._kept.stderr is not None
        follow(self._kept.stderr, self._log)
        threading.Thread(target=self._listen, name="judge", daemon=True).start()
        self.say(json.dumps(dict(order)).encode() + b"\n")

    @property
    def pid(self) -> int:
        """The process number."""
        return self._kept.pid

    def say(self, line: bytes) -> None:
        """Send one line; a process that is gone is noticed by what it no longer says."""
        assert self._kept.stdin is not None
        rest = memoryview(line)
        with suppress(OSError, ValueError):
            while rest:
                rest = rest[self._kept.stdin.write(rest) :]

    def next_message(self, *, timeout: float) -> dict[str, Any] | None:
        """Return the next message; None when the process is over. Raises TimeoutError when nothing came."""
        try:
            return self._messages.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None

    def end(self) -> None:
        """End the process and everything below it."""
        self._kept.end(grace=0.0)
        for stream in (self._kept.stdin, self._kept.stdout, self._kept.stderr):
            with suppress(OSError):
                if stream is not None:
                    stream.close()

    def last_words(self) -> str:
        """Return the last line of what it wrote to standard error."""
        lines = [line.strip() for line in self._log.text().splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""

    def _listen(self) -> None:
        assert self._kept.stdout is not None
        begun = bytearray()
        with suppress(OSError, ValueError):
            while data := self._kept.stdout.read(65536):
                begun += data
                *lines, rest = bytes(begun).split(b"\n") if b"\n" in data else (bytes(begun),)
                begun = bytearray(rest)
                for line in lines:
                    with suppress(ValueError):
                        self._messages.put(json.loads(line))
        self._messages.put(None)
