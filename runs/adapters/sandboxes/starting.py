"""What is asked of every command before a level starts it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from runs.adapters.sandboxes.box import Box
from runs.adapters.sandboxes.port import StartFailed


def require_startable(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Raise StartFailed for an empty command line, and for what no program can be given."""
    if not argv:
        raise StartFailed(errno.ENOENT, "There is no command to start: the command line is empty.")
    if any("\0" in word for word in (*argv, *env, *env.values())):
        raise StartFailed(errno.EINVAL, f"The command {argv[0]!r} was given a NUL character.")


def box_around(cwd: Path, box: Box | None) -> Box:
    """Return the box, or else one whose workspace is `cwd`; raises StartFailed where a folder is not there."""
    box = Box(workspace=cwd) if box is None else box
    for folder in (box.workspace, *box.writable):
        if not folder.is_dir():
            raise StartFailed(errno.ENOENT, f"{folder}: {os.strerror(errno.ENOENT)}.")
    return box
