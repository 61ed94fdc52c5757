"""Put a backup in the place of what a site holds: everything or nothing, and counted again afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.core.management.color import no_style
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, transaction

from benchmark import blobs
from runs.backups import schema
from runs.backups.archive import BadArchive, Member, members
from runs.backups.checking import Checked, blob_of, check, table_of
from runs.backups.rows import LEFT_OUT, Row, Table, TableSums, decoded, tables
from runs.models import Trial

_OWN_APPS = frozenset({"annotation", "benchmark", "people", "runs"})


class NotEmpty(ValueError):
    """The site holds something already; the message is one sentence with the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was put back; `migrated` counts the migrations that the backup was older by."""

    rows: int
    blobs: int
    migrated: int
    checked: Checked


def restore(path: Path, *, replace: bool, now: datetime) -> Restored:
    """Put a backup in place of what this site holds.

    Nothing is touched before the whole file was read and found sound, and the tables change in one
    transaction. Raises BadArchive, NotEmpty, or OSError.
    """
    _require_room(replace=replace, now=now)
    checked = check(path)
    older = _older_by(checked)
    source = _migrated(path, checked) if older else nullcontext(None)
    with source as scratch, transaction.atomic(), schema.without_triggers(using=DEFAULT_DB_ALIAS):
        _empty()
        if scratch is None:
            expected: Mapping[str, TableSums] = checked.tables
            load(path, tables(schema.models_at(list(checked.migrations))), using=DEFAULT_DB_ALIAS)
        else:
            expected = _copy(scratch)
        _require_sound(expected)
        # Whoever held a claim worked for the other site.
        Trial.objects.exclude(claimed_by="").update(claimed_by="", claimed_until=None)
        emit_post_migrate_signal(verbosity=0, interactive=False, db=DEFAULT_DB_ALIAS)
        # Last, so that a row that is refused leaves no blob behind; before the commit, so that no row lacks one.
        stored = _store_blobs(path)
    return Restored(
        rows=sum(sums.rows for sums in expected.values()), blobs=stored, migrated=older, checked=checked
    )


def load(path: Path, known: list[Table], *, using: str) -> None:
    """Put a backup's rows in place of a database's, whose tables are those of the backup's version.

    The caller holds the transaction. Raises BadArchive.
    """
    _flush(known, using=using)
    waiting = {table.name: table for table in known}
    with path.open("rb") as source:
        for member in members(source):
            name = table_of(member)
            if name is None:
                continue
            table = waiting.pop(name, None)
            if table is None:
                raise BadArchive(f"The backup holds a table {name} that its version did not have.")
            try:
                table.write(_rows(member, table), using=using)
            except (DatabaseError, ValueError, OverflowError) as error:
                if isinstance(error, BadArchive):
                    raise
                raise BadArchive(f"The database takes no such row of {name}: {_first_line(error)}.") from None
    if waiting:
        raise BadArchive(f"The backup lacks the table {min(waiting)}.")


def _require_room(*, replace: bool, now: datetime) -> None:
    if Trial.objects.filter(claimed_until__gte=now).exists():
        raise NotEmpty("Workers are at work on this site; stop the site and its workers first, then restore.")
    if replace:
        return
    known = schema.models_at(schema.known_migrations())
    for table in tables(known):
        app = table.name.partition(".")[0]
        if (app in _OWN_APPS or table.name == "auth.user") and table.model.objects.exists():
            raise NotEmpty(
                f"This site is not empty (it has rows in {table.name}); "
                "--replace puts the backup in the place of all that it holds."
            )


def _older_by(checked: Checked) -> int:
    known, given = set(schema.known_migrations()), set(checked.migrations)
    if newer := sorted(given - known):
        app, name = newer[0]
        raise BadArchive(
            f"The backup was made by Proofroom {checked.version}, which knows the migration {app}.{name}; "
            "bring this Proofroom up to date first."
        )
    return len(known - given)


@contextmanager
def _migrated(path: Path, checked: Checked) -> Iterator[str]:
    """Load an older backup into a database of its own and bring that up to date."""
    with schema.scratch_database() as scratch:
        nodes = list(checked.migrations)
        schema.migrate_to(nodes, using=scratch)
        with transaction.atomic(using=scratch), schema.without_triggers(using=scratch):
            known = tables(schema.models_at(nodes, using=scratch))
            load(path, known, using=scratch)
        for table in known:
            if table.sums(using=scratch) != checked.tables[table.name]:
                raise BadArchive(
                    f"The rows of {table.name} changed while they were read; nothing was touched."
                )
        schema.migrate_to(schema.known_migrations(using=scratch), using=scratch)
        yield scratch


def _copy(scratch: str) -> dict[str, TableSums]:
    expected = {}
    for table in tables(schema.models_at(schema.known_migrations())):
        expected[table.name] = table.sums(using=scratch)
        table.write(table.rows(using=scratch), using=DEFAULT_DB_ALIAS)
    return expected


def _empty() -> None:
    registry = schema.models_at(schema.known_migrations())
    # Sessions go, too: their people may have other numbers now.
    every = [*tables(registry), *(Table(registry.get_model(name)) for name in LEFT_OUT)]
    _flush(every, using=DEFAULT_DB_ALIAS)


def _flush(every: list[Table], *, using: str) -> None:
    connection = connections[using]
    names = [table.place for table in every]
    statements = connection.ops.sql_flush(no_style(), names, reset_sequences=True)
    connection.ops.execute_sql_flush(statements)


def _rows(member: Member, table: Table) -> Iterator[Row]:
    lines = member.lines()
    if decoded(next(lines, b""), table.name) != table.columns:
        raise BadArchive(f"The columns of {table.name} are not those of the backup's version.")
    for line in lines:
        yield decoded(line, table.name)


def _require_sound(expected: Mapping[str, TableSums]) -> None:
    connection = connections[DEFAULT_DB_ALIAS]
    try:
        connection.check_constraints()
    except DatabaseError as error:
        raise BadArchive(f"A row refers to another that is not there: {_first_line(error)}.") from None
    known = tables(schema.models_at(schema.known_migrations()))
    for table in known:
        if table.sums(using=DEFAULT_DB_ALIAS) != expected[table.name]:
            raise BadArchive(f"The rows of {table.name} are not what the backup holds; nothing was changed.")
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [table.model for table in known]):
            cursor.execute(statement)


def _store_blobs(path: Path) -> int:
    amount = 0
    with path.open("rb") as source:
        for member in members(source):
            digest = blob_of(member)
            if digest is None:
                continue
            amount += 1
            if blobs.is_stored(digest):
                continue
            with tempfile.NamedTemporaryFile() as aside:
                for chunk in member.chunks():
                    aside.write(chunk)
                aside.flush()
                if blobs.save_file(Path(aside.name)) != digest:
                    raise BadArchive(f"The blob {digest[:12]} changed while it was read.")
    return amount


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:300]
