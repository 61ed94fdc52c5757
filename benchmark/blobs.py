"""Content-addressed files: a blob is stored once under the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from django.core.files import File
from django.core.files.storage import Storage, storages

from benchmark.whole_files import whole_file

DIGEST = re.compile(r"[0-9a-f]{64}")
CHUNK = 1 << 20


class BlobMissing(LookupError):
    """A digest is on record, its bytes are not in the store."""


class BlobDamaged(BlobMissing):
    """Under the digest lie other bytes than were stored, so that the right ones are missing."""


class BlobStoreAway(OSError):
    """The store does not answer or refuses us; the sentence names no secret."""


def save_bytes(content: bytes) -> str:
    """Store `content` and return its digest (64 hexadecimal digits)."""
    digest = hashlib.sha256(content).hexdigest()
    if not is_stored(digest):
        with tempfile.SpooledTemporaryFile(max_size=CHUNK) as spool:
            spool.write(content)
            spool.seek(0)
            _store(digest, cast("IO[bytes]", spool))
    return digest


def save_file(path: Path) -> str:
    """Store a file's bytes without holding them in memory and return the digest.

    The bytes are hashed while they are copied aside, so a file that changes meanwhile
    can never be stored under a digest that is not its own.
    """
    hasher = hashlib.sha256()
    with tempfile.TemporaryFile() as aside, path.open("rb") as source:
        while chunk := source.read(CHUNK):
            hasher.update(chunk)
            aside.write(chunk)
        digest = hasher.hexdigest()
        if not is_stored(digest):
            aside.seek(0)
            _store(digest, cast("IO[bytes]", aside))
    return digest


def is_stored(digest: str) -> bool:
    """Whether the bytes of `digest` are in the store."""
    return _storage().exists(_name(digest))


def open_blob(digest: str) -> IO[bytes]:
    """Open a blob for reading. Raises BlobMissing, or ValueError for what is no digest."""
    try:
        return cast("IO[bytes]", _storage().open(_name(digest), "rb"))
    except FileNotFoundError:
        raise BlobMissing(f"The bytes of {digest[:12]} are not in the blob store.") from None


def read_blob(digest: str, *, at_most: int | None = None) -> bytes:
    """The bytes of a blob, or its first `at_most`.

    Raises BlobMissing; a blob that is read whole is compared with its digest (BlobDamaged).
    """
    if at_most is None:
        return b"".join(chunks_of(digest))
    with open_blob(digest) as blob:
        return blob.read(at_most)


def size_of(digest: str) -> int:
    """Number of bytes. Raises BlobMissing."""
    try:
        return _storage().size(_name(digest))
    except FileNotFoundError:
        raise BlobMissing(f"The bytes of {digest[:12]} are not in the blob store.") from None


def chunks_of(digest: str) -> Iterator[bytes]:
    """The bytes of a blob, a chunk at a time. Raises BlobMissing, at the end also BlobDamaged."""
    whole = Whole(digest)
    with open_blob(digest) as blob:
        while chunk := blob.read(CHUNK):
            whole.add(chunk)
            yield chunk
    whole.check()


class Whole:
    """Hashes what was read of a blob, so that its end can tell whether it was the right one."""

    def __init__(self, digest: str) -> None:
        self._digest = digest
        self._hasher = hashlib.sha256()

    def add(self, chunk: bytes) -> None:
        """Take the next bytes in order."""
        self._hasher.update(chunk)

    def check(self) -> None:
        """Raise BlobDamaged unless all that was added has the digest."""
        if self._hasher.hexdigest() != self._digest:
            raise BlobDamaged(f"The bytes of {self._digest[:12]} in the blob store are not what was stored.")


def copy_to(digest: str, target: Path) -> None:
    """Write a blob to `target`, whole and right or not at all. Raises BlobMissing."""
    with whole_file(target) as out:
        for chunk in chunks_of(digest):
            out.write(chunk)


def _store(digest: str, content: IO[bytes]) -> None:
    storage = _storage()
    if put_whole := getattr(storage, "put_whole", None):
        # The store compares what arrives with the digest, and keeps nothing of what breaks off.
        put_whole(_name(digest), content, sha256=digest)
        return
    try:
        target = Path(storage.path(_name(digest)))
    except NotImplementedError:
        # No files of this machine: such stores take an object whole or not at all.
        name = storage.save(_name(digest), File(content))
        if name != _name(digest):
            storage.delete(name)
        return
    # Django's own storage writes in place: a kill or a full disk would leave half a file under the
    # digest of the whole one, and nobody would ever write it again.
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(prefix=f".{digest[:8]}-", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as out:
            shutil.copyfileobj(content, out, CHUNK)
        Path(part).chmod(0o644)
        Path(part).replace(target)
    finally:
        Path(part).unlink(missing_ok=True)


def _name(digest: str) -> str:
    if not DIGEST.fullmatch(digest):
        raise ValueError(f"{digest!r} is not a SHA-256 digest.")
    return f"{digest[:2]}/{digest[2:4]}/{digest}"


def _storage() -> Storage:
    return storages["blobs"]
