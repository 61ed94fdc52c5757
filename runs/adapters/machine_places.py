"""Places that all processes of a machine share, freed by whatever death."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path


class MachinePlaces:
    """As many places as this machine has room for; each is a locked file in a folder."""

    def __init__(self, folder: Path, *, most: int) -> None:
        """`folder` must not be shared with other machines: what is counted is this one's memory."""
        self._folder = folder
        self._most = most

    def take(self) -> int | None:
        """Return a place to be given back, or None where all are taken by some process."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for number in range(self._most):
            # The lock ends with the descriptor, so with the process: a place is never lost. Python opens
            # it close-on-exec, so no child of ours keeps it either.
            place = os.open(self._folder / f"place-{number}", os.O_RDWR | os.O_CREAT, 0o600)
            with suppress(BlockingIOError):
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return place
            os.close(place)
        return None

    def give_back(self, place: int) -> None:
        """Let somebody else have it."""
        os.close(place)
