"""How a program is started as root, and as an ordinary user who may do nothing special."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

NOBODY = 65534
_BECOME = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all", "--")
# A view of the machine in which the folder of this Python can be entered by anybody; it ends with the program.
_OPENED = """\
set -e
kept=$(mktemp -d)
mount --bind "$1" "$kept"
mount -t tmpfs -o mode=755 tmpfs "$2"
mkdir -p "$1"
mount --bind "$kept" "$1"
shift 2
exec "$@"
"""


def as_ordinary_user(argv: list[str]) -> list[str] | str:
    """Return the command line that runs `argv` as nobody in particular, or why there is none."""
    if os.geteuid() != 0:
        return argv
    for program in ("setpriv", "unshare", "mount"):
        if shutil.which(program) is None:
            return f"no {program} to become an ordinary user with"
    for folder in (Path(__file__), Path(sys.prefix) / "lib"):
        if closed := _closed_above(folder):
            return f"an ordinary user may not enter {closed}"
    prefix = Path(sys.base_prefix)
    closed = _closed_above(prefix)
    if closed is None:
        return [*_BECOME, *argv]
    opened = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _OPENED, "sh"]
    return [*opened, str(prefix), str(closed), *_BECOME, *argv]


def _closed_above(path: Path) -> Path | None:
    """The outermost folder on the way that others may not enter."""
    for folder in [*reversed(path.resolve().parents), path.resolve()]:
        if folder.is_dir() and not folder.stat().st_mode & 0o001:
            return folder
    return None
