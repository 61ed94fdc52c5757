"""A folder as content-addressed files: a manifest blob that names a blob for each file."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchmark import blobs

LEFT_OUT = frozenset({"node_modules", ".git", "__pycache__", ".venv", ".npm", ".cache"})
"""Folders that can be made again from what is kept; they are never part of a snapshot."""

MOST_FILES = 20_000
MOST_BYTES = 512 << 20


class SnapshotTooLarge(ValueError):
    """A folder holds more files or bytes than a snapshot may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFile:
    """One file of a snapshot; `path` is relative, with forward slashes."""

    path: str
    digest: str
    size: int
    executable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The files of a folder in path order; `left_out` names what was not kept, with the reason."""

    files: tuple[SnapshotFile, ...]
    left_out: tuple[str, ...] = ()


def take(folder: Path) -> str:
    """Store a folder and return the digest of its manifest; equal folders give equal digests.

    Links are never followed: they are left out and named. Raises SnapshotTooLarge.
    """
    files: list[SnapshotFile] = []
    left_out: list[str] = []
    total = 0
    for path, kind in sorted(_walk(folder)):
        relative = path.relative_to(folder).as_posix()
        if kind != "file":
            left_out.append(f"{_as_text(relative)}: {kind}")
            continue
        status = path.lstat()
        total += status.st_size
        if len(files) >= MOST_FILES or total > MOST_BYTES:
            raise SnapshotTooLarge(
                f"The folder holds more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB; "
                "remove what can be made again (build output, caches) and take it anew."
            )
        files.append(
            SnapshotFile(
                path=relative,
                digest=blobs.save_file(path),
                size=status.st_size,
                executable=bool(status.st_mode & stat.S_IXUSR),
            )
        )
    return save(Snapshot(files=tuple(files), left_out=tuple(left_out)))


def save(snapshot: Snapshot) -> str:
    """Store a manifest and return its digest."""
    document = {
        "schema": "proofroom/snapshot/1",
        "files": [[f.path, f.digest, f.size, f.executable] for f in snapshot.files],
        "left_out": list(snapshot.left_out),
    }
    return blobs.save_bytes(json.dumps(document, ensure_ascii=False).encode())


def load(digest: str) -> Snapshot:
    """Read a manifest. Raises blobs.BlobMissing."""
    document = json.loads(blobs.read_blob(digest))
    return Snapshot(
        files=tuple(
            SnapshotFile(path=path, digest=blob, size=size, executable=executable)
            for path, blob, size, executable in document["files"]
        ),
        left_out=tuple(document["left_out"]),
    )


def restore(digest: str, folder: Path) -> None:
    """Write the files of a snapshot into a folder, which is made if need be.

    Raises blobs.BlobMissing, or ValueError for a manifest that points out of the folder.
    """
    for file in load(digest).files:
        parts = PurePosixPath(file.path).parts
        if not parts or parts[0] == "/" or ".." in parts:
            raise ValueError(f"The snapshot holds a path outside its folder: {file.path!r}.")
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        blobs.copy_to(file.digest, target)
        target.chmod(0o755 if file.executable else 0o644)


def _walk(folder: Path) -> Iterator[tuple[Path, str]]:
    for root, directories, names in os.walk(folder, followlinks=False):
        here = Path(root)
        for name in list(directories):
            path = here / name
            if not _is_text(name):
                directories.remove(name)
                yield path, "its name is no UTF-8"
            elif path.is_symlink():
                directories.remove(name)
                yield path, "link"
            elif name in LEFT_OUT:
                directories.remove(name)
                yield path, "can be made again"
        for name in names:
            path = here / name
            if not _is_text(name):
                yield path, "its name is no UTF-8"
            elif path.is_symlink():
                yield path, "link"
            elif not path.is_file():
                yield path, "not a regular file"
            else:
                yield path, "file"


def _is_text(name: str) -> bool:
    """Whether a name can be kept as text; Linux takes any bytes, which Python shows as surrogates."""
    return name == _as_text(name)


def _as_text(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")
