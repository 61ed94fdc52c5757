"""Tell a disk without room from every other trouble: it is the bench's, and what was stored stays whole."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage

from runs.errors import StageError

_WITHOUT_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_without_room(error: OSError) -> bool:
    """Whether a file could not be written because disk or quota is full."""
    return error.errno in _WITHOUT_ROOM


@contextmanager
def room_for_a_stage(folder: Path, *, least: int) -> Iterator[None]:
    """Let a stage begin where `least` bytes are free, and say plainly where it runs out of them.

    A candidate that cannot write because the machine is full must not fail for it. Raises StageError.
    """
    free = disk_usage(folder).free if least else 0
    if free < least:
        raise StageError(
            f"The disk of the data folder has {free >> 20} MB left, of {least >> 20} MB that a stage begins with; "
            "make room, then retry. Nothing is lost."
        )
    try:
        yield
    except OSError as error:
        if not is_without_room(error):
            raise
        raise StageError(
            "The disk is full, so something could not be stored; make room, then retry. "
            "What was stored before is whole, and nothing of it is asked again."
        ) from error
