"""Write a site into one file while it works: first the tables as of one moment, then the bytes they name."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from django.db import DEFAULT_DB_ALIAS

from benchmark import blobs, snapshots
from benchmark.whole_files import whole_file
from runs.backups import schema
from runs.backups.archive import CHUNK, Writer
from runs.backups.rows import Row, Summing, Table, encoded, tables

SCHEMA = "proofroom/backup/1"
HEAD, MANIFEST, SEAL = "proofroom-backup.json", "manifest.json", "manifest.sha256"
TABLES, BLOBS = "tables/", "blobs/"

# A blob always stands in a column of its own or in a document, as 64 hexadecimal digits.
_DIGEST = re.compile(rb'"([0-9a-f]{64})"')
_BLOB_COLUMNS = frozenset({"digest", "snapshot", "build_log", "server_log"})
_APPS_WITH_BLOBS = ("annotation.", "benchmark.", "runs.")
_MOST_NAMED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A backup that was written: its size and SHA-256, what is in it, and bytes the store did not have."""

    size: int
    sha256: str
    rows: int
    blobs: int
    missing: tuple[str, ...]


def make(target: Path, *, now: datetime) -> Made:
    """Write the site's backup to `target`, whole or not at all, readable by its owner alone.

    Runs and people go on meanwhile; what they write after the first moment is not in it. Raises OSError.
    """
    with whole_file(target) as out, _Wanted() as wanted:
        if target.is_file() or not target.exists():
            # It holds password hashes and people's names.
            os.fchmod(out.fileno(), 0o600)
        writer = Writer(out)
        nodes = schema.known_migrations()
        head = {
            "schema": SCHEMA,
            "version": _version(),
            "created_at": now.isoformat(),
            "migrations": [list(node) for node in nodes],
        }
        _add_document(writer, HEAD, head)
        with schema.unchanging(DEFAULT_DB_ALIAS) as snapshot:
            described = {
                table.name: _add_table(writer, table, using=snapshot, wanted=wanted)
                for table in tables(schema.models_at(nodes))
            }
        wanted.follow_snapshots()
        stored = _add_blobs(writer, wanted)
        manifest = {
            "head": head,
            "tables": described,
            "blobs": stored.amount,
            "blob_bytes": stored.size,
            "missing": list(stored.missing[:_MOST_NAMED]),
        }
        line = _add_document(writer, MANIFEST, manifest)
        _add_bytes(writer, SEAL, f"{hashlib.sha256(line).hexdigest()}  {MANIFEST}\n".encode())
        digest = writer.end()
    return Made(
        size=writer.size,
        sha256=digest,
        rows=sum(table["rows"] for table in described.values()),
        blobs=stored.amount,
        missing=tuple(stored.missing),
    )


@dataclass(slots=True, kw_only=True)
class _Stored:
    amount: int = 0
    size: int = 0
    missing: list[str]


class _Wanted:
    """Digests that the rows name; kept in a file, because a site may have millions."""

    def __init__(self) -> None:
        # An empty name: SQLite's own temporary file, gone with the connection.
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute("create table wanted (digest text primary key, surely int) without rowid")
        self._database.execute("create table manifests (digest text primary key) without rowid")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def note(self, table: Table, row: Row, line: bytes) -> None:
        """Remember what a row names: surely in a column of blobs, perhaps anywhere else."""
        has_blobs = table.name.startswith(_APPS_WITH_BLOBS)
        for column, value in zip(table.columns, row, strict=True):
            if has_blobs and column in _BLOB_COLUMNS and value:
                self._want(str(value), surely=True)
                if column == "snapshot":
                    self._database.execute("insert or ignore into manifests values (?)", (value,))
        for digest in _DIGEST.findall(line):
            self._want(digest.decode(), surely=False)

    def follow_snapshots(self) -> None:
        """Want the files of every snapshot, too."""
        with closing(self._database.execute("select digest from manifests")) as found:
            for (digest,) in found:
                try:
                    files = snapshots.load(digest).files
                except (blobs.BlobMissing, ValueError, KeyError, TypeError):
                    # It is counted as missing or damaged when its turn comes.
                    continue
                for file in files:
                    self._want(file.digest, surely=True)

    def __iter__(self) -> Iterator[tuple[str, bool]]:
        with closing(self._database.execute("select digest, surely from wanted order by digest")) as found:
            for digest, surely in found:
                yield digest, bool(surely)

    def _want(self, digest: str, *, surely: bool) -> None:
        if blobs.DIGEST.fullmatch(digest):
            self._database.execute(
                "insert into wanted values (?, ?) on conflict (digest) do update set surely = max(surely, ?)",
                (digest, surely, surely),
            )


def _add_table(writer: Writer, table: Table, *, using: str, wanted: _Wanted) -> dict[str, Any]:
    summing, hasher = Summing(), hashlib.sha256()
    # A member's size stands before its bytes.
    with tempfile.TemporaryFile() as aside:
        for line, row in _lines(table, using=using):
            if row is not None:
                summing.add(row)
                wanted.note(table, row, line)
            aside.write(line + b"\n")
            hasher.update(line + b"\n")
        size = aside.tell()
        aside.seek(0)
        writer.add(f"{TABLES}{table.name}.jsonl", cast("BinaryIO", aside), size=size)
    sums = summing.sums()
    return {"rows": sums.rows, "content": sums.content, "sha256": hasher.hexdigest()}


def _lines(table: Table, *, using: str) -> Iterator[tuple[bytes, Row | None]]:
    yield encoded(list(table.columns)), None
    for row in table.rows(using=using):
        yield encoded(row), row


def _add_blobs(writer: Writer, wanted: _Wanted) -> _Stored:
    stored = _Stored(missing=[])
    for digest, surely in wanted:
        with tempfile.SpooledTemporaryFile(max_size=CHUNK) as aside:
            try:
                for chunk in blobs.chunks_of(digest):
                    aside.write(chunk)
            except blobs.BlobMissing:
                if surely:
                    stored.missing.append(digest)
                continue
            size = aside.tell()
            aside.seek(0)
            writer.add(f"{BLOBS}{digest}", cast("BinaryIO", aside), size=size)
            stored.amount += 1
            stored.size += size
    return stored


def _add_document(writer: Writer, name: str, document: dict[str, Any]) -> bytes:
    line = json.dumps(document, indent=1).encode("ascii") + b"\n"
    _add_bytes(writer, name, line)
    return line


def _add_bytes(writer: Writer, name: str, content: bytes) -> None:
    writer.add(name, io.BytesIO(content), size=len(content))


def _version() -> str:
    try:
        return metadata.version("proofroom")
    except metadata.PackageNotFoundError:
        # Run from a folder that is not installed; what counts is the list of migrations.
        return "unknown"
