"""Copy and empty folders of unknown origin: links are never followed out of them."""

from __future__ import annotations

import shutil
import stat
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


def _walk(folder: Path) -> Iterator[Path]:
    """Yield parents before children, links as themselves."""
    for child in sorted(folder.iterdir()):
        if child.name in MADE_AGAIN and child.is_dir():
            continue
        yield child
        if child.is_dir() and not child.is_symlink():
            yield from _walk(child)


def _leads_out(link: Path, root: Path) -> bool:
    return link.readlink().is_absolute() or not link.resolve().is_relative_to(root.resolve())
