"""A limit on browsers for the whole machine: places that processes share, freed by whatever death."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runs.adapters.machine_places import MachinePlaces
from runs.errors import Cancelled
from runs.ports import CancelCheck

_POLL_SECONDS = 0.2

_held = 0
_held_lock = threading.Lock()


class BrowserPlaces:
    """As many places as browsers may run on this machine."""

    def __init__(self, folder: Path, *, most: int) -> None:
        """`folder` must not be shared with other machines."""
        self._places = MachinePlaces(folder, most=most)

    @contextmanager
    def hold(self, is_cancelled: CancelCheck) -> Iterator[None]:
        """Wait for a place and keep it until the end. Raises Cancelled."""
        place = self._places.take()
        while place is None:
            if is_cancelled():
                raise Cancelled("The run was cancelled while it waited for a browser.")
            time.sleep(_POLL_SECONDS)
            place = self._places.take()
        _count(1)
        try:
            yield
        finally:
            _count(-1)
            self._places.give_back(place)


def held_here() -> int:
    """How many places this process holds at the moment."""
    return _held


def _count(change: int) -> None:
    global _held  # noqa: PLW0603 - one number a process, which is what is asked for
    with _held_lock:
        _held += change
