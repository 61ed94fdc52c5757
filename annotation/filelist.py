"""The files of a candidate as an annotator reads them: a list, and one text at a time."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.seats import Seat
from benchmark import blobs, snapshots

LONGEST_TEXT = 400_000
MOST_LINES = 5_000
LONGEST_LINE = 2_000
_LOOKED_AT = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file of the list; `number` names it in addresses, which hold no path."""

    number: int
    path: str
    size: int

    @property
    def folder(self) -> str:
        """The folders before the name, with the last slash."""
        return self.path[: len(self.path) - len(self.name)]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileList:
    """The files in path order; `held_back` counts those that would name the agent."""

    files: tuple[FileEntry, ...]
    held_back: int = 0
    is_lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A file as numbered lines; `problem` says in a sentence why there are none, or not all."""

    entry: FileEntry
    lines: tuple[str, ...] = ()
    problem: str = ""


def files_of(seat: Seat) -> FileList:
    """List the files of the round that is judged."""
    digest = seat.assignment.round.snapshot
    if not digest:
        return FileList(files=())
    try:
        snapshot = snapshots.load(digest)
    except blobs.BlobMissing:
        return FileList(files=(), is_lost=True)
    shown = [
        FileEntry(number=number, path=seat.hidden_names.taken_out_of(file.path), size=file.size)
        for number, file in enumerate(snapshot.files)
        if not seat.hidden_names.hides_file(file.path)
    ]
    return FileList(files=tuple(shown), held_back=len(snapshot.files) - len(shown))


def file_text(seat: Seat, number: int) -> FileText | None:
    """Read one file; None where there is no such file for these eyes."""
    entry = next((entry for entry in files_of(seat).files if entry.number == number), None)
    if entry is None:
        return None
    file = snapshots.load(seat.assignment.round.snapshot).files[number]
    try:
        content = blobs.read_blob(file.digest, at_most=LONGEST_TEXT + 1)
    except blobs.BlobMissing:
        return FileText(entry=entry, problem="The bytes of this file are missing from the store.")
    if b"\0" in content[:_LOOKED_AT]:
        return FileText(entry=entry, problem="This file is binary, so there is no text to show.")
    # A cut in the middle of a letter is no reason to call the file binary.
    text = content[:LONGEST_TEXT].decode("utf-8", "ignore" if len(content) > LONGEST_TEXT else "replace")
    if text.count("�") > len(text) // 10:
        return FileText(entry=entry, problem="This file is binary, so there is no text to show.")
    lines = seat.hidden_names.taken_out_of(text).splitlines()
    is_cut = len(content) > LONGEST_TEXT or len(lines) > MOST_LINES
    return FileText(
        entry=entry,
        lines=tuple(_short(line) for line in lines[:MOST_LINES]),
        problem=f"The file goes on; its first {min(len(lines), MOST_LINES):,} lines are shown."
        if is_cut
        else "",
    )


def _short(line: str) -> str:
    more = len(line) - LONGEST_LINE
    return line if more <= 0 else f"{line[:LONGEST_LINE]} … {more:,} more characters"
