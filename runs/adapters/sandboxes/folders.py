"""Copy and empty folders of unknown origin: links are never followed out of them."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MADE_AGAIN = frozenset({"node_modules", ".git", "__pycache__", ".venv"})
"""Folders that are not copied, because they can be made again from the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """How many files were copied, and which entries were not: links that lead out, devices, pipes."""

    files: int
    left_out: tuple[str, ...] = ()


def own_folder(parent: Path, *, purpose: str) -> Path:
    """Make a fresh folder below `parent`, and remove those that killed processes of this machine left.

    Raises OSError.
    """
    parent.mkdir(parents=True, exist_ok=True)
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
    for left in parent.glob(f"{purpose}-{machine}-*-*"):
        pid = left.name.split("-")[-2]
        if pid.isdecimal() and not _is_alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{purpose}-{machine}-{os.getpid()}-", dir=parent))


def copy_into(target: Path, source: Path) -> Copied:
    """Copy what `source` holds into `target`, which holds none of it yet; raises OSError."""
    target.mkdir(parents=True, exist_ok=True)
    files = 0
    left_out: list[str] = []
    for entry in _walk(source):
        relative = entry.relative_to(source)
        copy = target / relative
        mode = entry.lstat().st_mode
        if stat.S_ISLNK(mode):
            if _leads_out(entry, source):
                left_out.append(relative.as_posix())
            else:
                copy.symlink_to(entry.readlink())
                files += 1
        elif stat.S_ISDIR(mode):
            copy.mkdir(exist_ok=True)
        elif stat.S_ISREG(mode):
            shutil.copyfile(entry, copy)
            copy.chmod(0o755 if mode & stat.S_IXUSR else 0o644)
            files += 1
        else:
            left_out.append(relative.as_posix())
    return Copied(files=files, left_out=tuple(left_out))


def empty(folder: Path, *, keep: frozenset[str] = frozenset()) -> None:
    """Remove everything in `folder` but real folders named in `keep`; links are removed, not followed."""
    for child in folder.iterdir():
        is_folder = child.is_dir() and not child.is_symlink()
        if is_folder and child.name in keep:
            continue
        if is_folder:
            remove_folder(child)
        else:
            child.unlink()


def remove_folder(folder: Path) -> None:
    """Remove a folder also when its owner took the right to do so away; raises OSError."""
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _walk(folder: Path) -> Iterator[Path]:
    """Yield parents before children, links as themselves."""
    for child in sorted(folder.iterdir()):
        if child.name in MADE_AGAIN and child.is_dir():
            continue
        yield child
        if child.is_dir() and not child.is_symlink():
            yield from _walk(child)


def _leads_out(link: Path, root: Path) -> bool:
    try:
        aim = link.resolve()
    except (OSError, RuntimeError):  # A link to itself, in the words of one Python or the other.
        return True
    return link.readlink().is_absolute() or not aim.is_relative_to(root.resolve())
