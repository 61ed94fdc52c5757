"""Places for previews that all processes of a machine share, freed by whatever death."""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path


class MachinePlaces:
    """As many places as previews may run on this machine; each is a locked file."""

    def __init__(self, folder: Path, *, most: int) -> None:
        # The data folder may be shared between machines, and each has its own memory.
        self._folder = folder / f"on-{socket.gethostname()}"
        self._most = most

    def take(self) -> int | None:
        """Return a place to be given back, or None where all are taken by some process."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for number in range(self._most):
            # The lock ends with the descriptor, so with the process; no child gets it, because Python
            # opens it to be closed there.
            place = os.open(self._folder / f"place-{number}", os.O_RDWR | os.O_CREAT, 0o600)
            with suppress(BlockingIOError):
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return place
            os.close(place)
        return None

    def give_back(self, place: int) -> None:
        """Let another preview have it."""
        os.close(place)
