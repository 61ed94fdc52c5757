"""A limit on browsers for the whole machine: places that processes share, freed by whatever death."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runs.errors import Cancelled
from runs.ports import CancelCheck

_POLL_SECONDS = 0.2

_held = 0
_held_lock = threading.Lock()


class BrowserPlaces:
    """As many places as browsers may run; each is a locked file in a folder of this machine."""

    def __init__(self, folder: Path, *, most: int) -> None:
        """`folder` must not be shared with other machines: what is counted is this one's memory."""
        self._folder = folder
        self._most = most

    @contextmanager
    def hold(self, is_cancelled: CancelCheck) -> Iterator[None]:
        """Wait for a place and keep it until the end. Raises Cancelled."""
        descriptor = self._taken()
        while descriptor is None:
            if is_cancelled():
                raise Cancelled("The run was cancelled while it waited for a browser.")
            time.sleep(_POLL_SECONDS)
            descriptor = self._taken()
        _count(1)
        try:
            yield
        finally:
            _count(-1)
            os.close(descriptor)

    def _taken(self) -> int | None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for number in range(self._most):
            # The lock ends with the descriptor, so with the process: a place is never lost. Python opens
            # it close-on-exec, so no child of ours keeps it either.
            descriptor = os.open(self._folder / f"place-{number}", os.O_RDWR | os.O_CREAT, 0o600)
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            os.close(descriptor)
        return None


def held_here() -> int:
    """How many places this process holds at the moment."""
    return _held


def _count(change: int) -> None:
    global _held  # noqa: PLW0603 - one number a process, which is what is asked for
    with _held_lock:
        _held += change
