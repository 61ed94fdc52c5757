"""The difference between two stored workspaces, file by file, bounded in size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from benchmark import blobs, snapshots
from benchmark.display import counted, file_size

LARGEST_FILE = 200_000
MOST_LINES_OF_A_FILE = 400
MOST_FILES_SHOWN = 30
_CONTEXT = 3


class FileChange(StrEnum):
    """What happened to a file, by the letter that everybody knows."""

    ADDED = "A"
    MODIFIED = "M"
    DELETED = "D"

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line of a unified difference; a gap has no text and says how much was folded."""

    kind: str
    before: int | None = None
    after: int | None = None
    sign: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """One changed file. `note` replaces lines that cannot be shown: binary, too large, missing."""

    path: str
    change: FileChange
    added: int = 0
    removed: int = 0
    lines: tuple[DiffLine, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceDiff:
    """All changed files, the likeliest first where a criterion was asked about."""

    files: tuple[FileDiff, ...]
    unchanged: int
    note: str = ""

    @property
    def summary(self) -> str:
        if not self.files:
            return self.note or "no file changed"
        added = sum(file.added for file in self.files)
        removed = sum(file.removed for file in self.files)
        return f"{counted(len(self.files), 'file')}, +{added:,} −{removed:,}"


def workspace_diff(before: str, after: str, *, about: Sequence[str] = ()) -> WorkspaceDiff:
    """Compare two snapshots by their digests; an empty `before` is an empty workspace.

    With words in `about` the files that share most of them come first.
    """
    try:
        old = {file.path: file for file in snapshots.load(before).files} if before else {}
        new = {file.path: file for file in snapshots.load(after).files} if after else {}
    except blobs.BlobMissing as missing:
        return WorkspaceDiff(files=(), unchanged=0, note=f"A snapshot cannot be read. {missing}")
    paths = sorted(old.keys() | new.keys())
    changed = [path for path in paths if _digest(old.get(path)) != _digest(new.get(path))]
    files = [_file(path, old.get(path), new.get(path)) for path in changed[:MOST_FILES_SHOWN]]
    wanted = {word.lower() for text in about for word in text.split() if len(word) > 3}
    files.sort(key=lambda file: -_shared(file, wanted))
    rest = len(changed) - len(files)
    note = f"{counted(rest, 'more changed file')} {'is' if rest == 1 else 'are'} not shown." if rest else ""
    return WorkspaceDiff(files=tuple(files), unchanged=len(paths) - len(changed), note=note)


def _digest(file: snapshots.SnapshotFile | None) -> str:
    return file.digest if file else ""


def _file(path: str, old: snapshots.SnapshotFile | None, new: snapshots.SnapshotFile | None) -> FileDiff:
    change = FileChange.ADDED if old is None else FileChange.DELETED if new is None else FileChange.MODIFIED
    for file in (old, new):
        if file is not None and file.size > LARGEST_FILE:
            return FileDiff(
                path=path, change=change, note=f"Too large to compare here: {file_size(file.size)}."
            )
    try:
        before, after = _lines(old), _lines(new)
    except UnicodeDecodeError:
        return FileDiff(path=path, change=change, note="Binary file.")
    except blobs.BlobMissing as missing:
        return FileDiff(path=path, change=change, note=str(missing))
    lines = list(_unified(before, after))
    shown = lines[:MOST_LINES_OF_A_FILE]
    note = f"{counted(len(lines) - len(shown), 'more line')} not shown." if len(lines) > len(shown) else ""
    return FileDiff(
        path=path,
        change=change,
        added=sum(line.kind == "added" for line in lines),
        removed=sum(line.kind == "removed" for line in lines),
        lines=tuple(shown),
        note=note,
    )


def _lines(file: snapshots.SnapshotFile | None) -> list[str]:
    if file is None:
        return []
    content = blobs.read_blob(file.digest)
    if b"\0" in content:
        raise UnicodeDecodeError("utf-8", content[:1], 0, 1, "holds a zero byte")
    return content.decode().splitlines()


def _unified(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    groups = list(SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT))
    for place, group in enumerate(groups):
        if place or group[0][1]:
            yield DiffLine(kind="gap", text="…")
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                for offset in range(old_end - old_start):
                    yield DiffLine(
                        kind="same",
                        before=old_start + offset + 1,
                        after=new_start + offset + 1,
                        text=before[old_start + offset],
                    )
                continue
            for number in range(old_start, old_end):
                yield DiffLine(kind="removed", before=number + 1, sign="−", text=before[number])
            for number in range(new_start, new_end):
                yield DiffLine(kind="added", after=number + 1, sign="+", text=after[number])


def _shared(file: FileDiff, wanted: set[str]) -> int:
    if not wanted:
        return 0
    text = " ".join(
        [file.path, *(line.text for line in file.lines if line.kind in ("added", "removed"))]
    ).lower()
    return sum(word in text for word in wanted)
