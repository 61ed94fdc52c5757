"""All files of a pack's folder, by path, after a look at what must not be there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmark.packs.archive import Limits
from benchmark.packs.names import collisions, is_junk, path_problem
from benchmark.packs.problems import Problems
from benchmark.snapshots import LEFT_OUT

VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Paths relative to the pack's folder, sorted. `folders` holds every folder, empty ones too."""

    root: Path
    files: tuple[str, ...]
    folders: tuple[str, ...]

    def under(self, folder: str) -> list[str]:
        """Return the files below a folder, relative to it."""
        prefix = f"{folder}/"
        return [path.removeprefix(prefix) for path in self.files if path.startswith(prefix)]

    def children(self, folder: str) -> list[str]:
        """Return the names of the folders directly in a folder."""
        prefix = f"{folder}/"
        below = (path.removeprefix(prefix) for path in self.folders if path.startswith(prefix))
        return [name for name in below if "/" not in name]


def listing_of(root: Path, *, limits: Limits, problems: Problems) -> Listing:
    """Return what lies in a folder; links, odd names and too much of it are added as problems."""
    files: list[str] = []
    folders: list[str] = []
    total = 0
    for path, is_folder in _walked(root):
        name = path.relative_to(root).as_posix()
        if text := path_problem(name):
            problems.add(name, text)
        elif path.is_symlink():
            problems.add(name, "is a link; a pack holds only files and folders.")
        elif is_folder:
            folders.append(name)
        elif not path.is_file():
            problems.add(name, "is neither a file nor a folder.")
        else:
            files.append(name)
            size = path.stat().st_size
            total += size
            if size > limits.file_bytes:
                text = f"the file is larger than {limits.file_bytes >> 20} MiB, the most that one may be."
                problems.add(name, text)
    if len(files) > limits.members or total > limits.total_bytes:
        text = (
            f"the pack holds {len(files)} files and {total >> 20} MiB; "
            f"at most {limits.members} and {limits.total_bytes >> 20} MiB are read."
        )
        problems.add(root.name, text)
    for name, other in collisions([*files, *folders]):
        problems.add(name, f"the name differs from {other} only in case or accents.")
    return Listing(root=root, files=tuple(sorted(files)), folders=tuple(sorted(folders)))


def _walked(root: Path) -> Iterator[tuple[Path, bool]]:
    for here, directories, names in os.walk(root, followlinks=False):
        folder = Path(here)
        is_candidate = folder.relative_to(root).parts[:1] == ("candidates",)
        for name in sorted(directories):
            # A candidate's node_modules can be made again and are never part of a snapshot.
            if is_junk(name) or name in VERSION_CONTROL or (is_candidate and name in LEFT_OUT):
                directories.remove(name)
            else:
                yield folder / name, True
        yield from ((folder / name, False) for name in sorted(names) if not is_junk(name))
