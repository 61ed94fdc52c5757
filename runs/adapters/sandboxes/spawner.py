"""The one long-lived thread that forks: a parent-death signal is bound to the thread that forked."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class _Errand:
    job: Callable[[], subprocess.Popen[bytes]]
    outcome: Future[subprocess.Popen[bytes]]


class _Spawner:
    def __init__(self) -> None:
        self._errands: queue.SimpleQueue[_Errand] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def spawn(self, job: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="spawner", daemon=True)
                self._thread.start()
        outcome: Future[subprocess.Popen[bytes]] = Future()
        self._errands.put(_Errand(job=job, outcome=outcome))
        return outcome.result()

    def _work(self) -> None:
        if _niceness and sys.platform == "linux":
            # Linux keeps it for each thread, and what is forked inherits it: our other threads, which answer
            # people, are as quick as before.
            thread = threading.get_native_id()
            nicer = os.getpriority(os.PRIO_PROCESS, thread) + _niceness
            os.setpriority(os.PRIO_PROCESS, thread, min(19, nicer))
        while True:
            errand = self._errands.get()
            try:
                errand.outcome.set_result(errand.job())
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                errand.outcome.set_exception(error)


_spawner = _Spawner()
_niceness = 0


def be_nice(niceness: int) -> None:
    """Let what is started from now on give way to this process by so much (0 to 19; Linux alone)."""
    global _niceness, _spawner
    if niceness != _niceness:
        # Nobody but root may take niceness back, so the next thread begins anew.
        _niceness, _spawner = niceness, _Spawner()


def _renew() -> None:
    # A forked child (a Celery pool process) has no threads of ours: it gets a spawner of its own.
    global _spawner  # noqa: PLW0603 - one spawner a process is the whole point
    _spawner = _Spawner()


os.register_at_fork(after_in_child=_renew)


def spawn(argv: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start `argv` like subprocess.Popen does, from the spawner's thread; callable from any thread."""
    return _spawner.spawn(lambda: subprocess.Popen(list(argv), **options))
