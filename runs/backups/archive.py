"""The file of a backup: a plain tar of regular members, written and read as a stream, never unpacked by name.

`tar` lists and unpacks it. The reader is stricter than `tar`: it takes exactly what the writer writes, so a
changed byte is noticed wherever it is, and links, sparse files and endless headers do not exist.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterator
from typing import BinaryIO

BLOCK = 512
CHUNK = 1 << 20
LONGEST_LINE = 64 << 20
_END = bytes(2 * BLOCK)


class BadArchive(ValueError):
    """The file is not a backup, or not a whole one; the message is one sentence."""


class Writer:
    """Writes members one after the other; `size` counts the bytes written so far."""

    def __init__(self, out: BinaryIO) -> None:
        self.size = 0
        self._out = out
        self._hash = hashlib.sha256()

    def add(self, name: str, content: BinaryIO, *, size: int) -> None:
        """Add a member of `size` bytes. Raises EOFError where `content` holds fewer."""
        self._write(_head(name, size))
        left = size
        while left:
            chunk = content.read(min(CHUNK, left))
            if not chunk:
                raise EOFError(f"{name} is {left} bytes shorter than it was.")
            left -= len(chunk)
            self._write(chunk)
        self._write(bytes(-size % BLOCK))

    def end(self) -> str:
        """Write the end and return the digest of the whole file."""
        self._write(_END)
        return self._hash.hexdigest()

    def _write(self, chunk: bytes) -> None:
        self._out.write(chunk)
        self._hash.update(chunk)
        self.size += len(chunk)


class Member:
    """A member that is being read: its bytes can be had once, in order."""

    def __init__(self, name: str, size: int, source: BinaryIO) -> None:
        self.name = name
        self.size = size
        self._source = source
        self._left = size
        self._hash = hashlib.sha256()

    def read(self, most: int = -1) -> bytes:
        """Return up to `most` of the bytes that are left, all of them by default. Raises BadArchive."""
        wanted = self._left if most < 0 else min(most, self._left)
        chunk = _exactly(self._source, wanted, self.name)
        self._left -= wanted
        self._hash.update(chunk)
        return chunk

    def chunks(self) -> Iterator[bytes]:
        """Yield what is left, a chunk at a time. Raises BadArchive."""
        while self._left:
            yield self.read(CHUNK)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that are left, without their ends. Raises BadArchive."""
        rest = b""
        for chunk in self.chunks():
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
            if len(rest) > LONGEST_LINE:
                raise BadArchive(f"{self.name} holds a line of more than {LONGEST_LINE >> 20} MiB.")
        if rest:
            raise BadArchive(f"{self.name} ends in the middle of a line.")

    def skip(self) -> None:
        """Go past what is left without looking at it."""
        self._source.seek(self._left, 1)
        self._left = 0

    @property
    def digest(self) -> str:
        """The SHA-256 of what was read so far."""
        return self._hash.hexdigest()

    def finish(self) -> None:
        """Go to the member's end, past the bytes that fill its last block. Raises BadArchive."""
        self.skip()
        if any(_exactly(self._source, -self.size % BLOCK, self.name)):
            raise BadArchive(f"The archive is damaged after {self.name}.")


def members(source: BinaryIO) -> Iterator[Member]:
    """Yield the members in their order; what was not read of one is skipped. Raises BadArchive."""
    before = "its beginning"
    while True:
        block = _exactly(source, BLOCK, before)
        if block == bytes(BLOCK):
            if _exactly(source, BLOCK, "its end") != bytes(BLOCK) or source.read(1):
                raise BadArchive("The archive goes on after its end.")
            return
        member = _member(block, source, before)
        yield member
        member.finish()
        before = member.name


def _member(block: bytes, source: BinaryIO, before: str) -> Member:
    try:
        info = tarfile.TarInfo.frombuf(block, "ascii", "strict")
        is_ours = info.size >= 0 and block == _head(info.name, info.size)
    except (tarfile.TarError, ValueError, OverflowError):
        is_ours = False
    if not is_ours:
        raise BadArchive(f"This is no backup of Proofroom, or it is damaged after {before}.")
    return Member(info.name, info.size, source)


def _head(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o600
    head = info.tobuf(tarfile.GNU_FORMAT, "ascii", "strict")
    if len(head) != BLOCK:
        raise ValueError(f"{name!r} is too long for a member's name.")
    return head


def _exactly(source: BinaryIO, size: int, where: str) -> bytes:
    content = source.read(size)
    if len(content) < size:
        raise BadArchive(f"The archive ends too early, after {where}.")
    return content
