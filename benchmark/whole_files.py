"""Write a file that is whole or not there; devices and pipes are written through."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """Open `target` for writing; it appears, or is replaced, only when the context ends well.

    Of a link, the file it leads to is written. Raises OSError.
    """
    # Before links are followed: where /dev/stdout leads, a pipe, has no path of its own.
    if target.exists() and not target.is_file():
        # A device such as /dev/null has a place of its own: root would replace it for everybody.
        with target.open("wb") as out:
            yield out
        return
    target = target.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            yield out
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
