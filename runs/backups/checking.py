"""Read a backup from end to end and believe nothing that its own sums do not bear out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from runs.backups.archive import BadArchive, Member, members
from runs.backups.making import BLOBS, HEAD, MANIFEST, SCHEMA, SEAL, TABLES
from runs.backups.rows import TableSums
from runs.backups.schema import Node

_LARGEST_DOCUMENT = 16 << 20
_TABLE = re.compile(rf"{TABLES}([a-z_0-9]+\.[a-z_0-9]+)\.jsonl")
_BLOB = re.compile(rf"{BLOBS}([0-9a-f]{{64}})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A backup whose every byte is as it was written; `missing` are blobs that the site did not have."""

    version: str
    created_at: datetime
    migrations: tuple[Node, ...]
    tables: dict[str, TableSums]
    blobs: int
    blob_bytes: int
    missing: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(table.rows for table in self.tables.values())


def check(path: Path) -> Checked:
    """Read the whole file, a piece at a time. Raises BadArchive with one sentence, or OSError."""
    with path.open("rb") as source:
        return _checked(source)


def table_of(member: Member) -> str | None:
    """Return the table whose rows a member holds."""
    found = _TABLE.fullmatch(member.name)
    return found[1] if found else None


def blob_of(member: Member) -> str | None:
    """Return the digest of the blob that a member holds."""
    found = _BLOB.fullmatch(member.name)
    return found[1] if found else None


def _checked(source: BinaryIO) -> Checked:
    found = members(source)
    head = _document(_next(found, HEAD))
    if head.get("schema") != SCHEMA:
        raise BadArchive(
            f"The backup is of the kind {str(head.get('schema'))[:60]!r}; {SCHEMA} is read here."
        )
    seen: dict[str, dict[str, Any]] = {}
    amount = size = 0
    last = ""
    member = next(found, None)
    while member is not None and (name := table_of(member)) is not None:
        if amount or name in seen:
            raise BadArchive(f"The backup holds {name} twice.")
        rows = sum(1 for _ in member.lines()) - 1
        seen[name] = {"rows": rows, "sha256": member.digest}
        member = next(found, None)
    while member is not None and (digest := blob_of(member)) is not None:
        if digest <= last:
            raise BadArchive("The backup's blobs are not in order.")
        for _ in member.chunks():
            pass
        if member.digest != digest:
            raise BadArchive(f"The blob {digest[:12]} is damaged: its bytes are not those of its name.")
        amount, size, last = amount + 1, size + member.size, digest
        member = next(found, None)
    if member is None or member.name != MANIFEST:
        raise BadArchive("The backup has no manifest, so it is not whole.")
    manifest = _document(member)
    seal = f"{member.digest}  {MANIFEST}\n".encode()
    if _small(_next(found, SEAL)) != seal or next(found, None) is not None:
        raise BadArchive("The manifest is damaged: its sum is another.")
    if manifest.get("head") != head or (manifest.get("blobs"), manifest.get("blob_bytes")) != (amount, size):
        raise BadArchive("The manifest does not fit what is in the backup.")
    return _described(head, manifest, seen)


def _described(head: dict[str, Any], manifest: dict[str, Any], seen: dict[str, dict[str, Any]]) -> Checked:
    try:
        tables = {
            str(name): TableSums(rows=int(said["rows"]), content=str(said["content"]))
            for name, said in manifest["tables"].items()
        }
        said = {
            name: {"rows": table["rows"], "sha256": table["sha256"]}
            for name, table in manifest["tables"].items()
        }
        checked = Checked(
            version=str(head["version"])[:40],
            created_at=datetime.fromisoformat(head["created_at"]),
            migrations=tuple((str(app), str(name)) for app, name in head["migrations"]),
            tables=tables,
            blobs=manifest["blobs"],
            blob_bytes=manifest["blob_bytes"],
            missing=tuple(str(digest) for digest in manifest["missing"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadArchive("The manifest cannot be read.") from None
    if said != seen:
        differing = sorted(name for name in {*said, *seen} if said.get(name) != seen.get(name))
        raise BadArchive(f"The table {differing[0]} is damaged: its rows are not those of the manifest.")
    return checked


def _next(found: Iterator[Member], name: str) -> Member:
    member = next(found, None)
    if member is None or member.name != name:
        raise BadArchive(f"This is no backup of Proofroom: it has no {name} where it belongs.")
    return member


def _small(member: Member) -> bytes:
    if member.size > _LARGEST_DOCUMENT:
        raise BadArchive(f"{member.name} is larger than {_LARGEST_DOCUMENT >> 20} MiB.")
    return member.read()


def _document(member: Member) -> dict[str, Any]:
    try:
        document = json.loads(_small(member))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise BadArchive(f"{member.name} cannot be read.")
    return document
