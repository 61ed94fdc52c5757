"""Which migrations a database has, the models of that moment, and databases beside the site's own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from django.apps.registry import Apps
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.db.migrations.executor import MigrationExecutor

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

SNAPSHOT = "snapshot"
SCRATCH = "scratch"

type Node = tuple[str, str]


def known_migrations(*, using: str = DEFAULT_DB_ALIAS) -> list[Node]:
    """Return the migrations of this version, which are those of a database that is up to date."""
    return sorted(MigrationExecutor(connections[using]).loader.graph.nodes)


def models_at(nodes: list[Node], *, using: str = DEFAULT_DB_ALIAS) -> Apps:
    """Return the models as they were when exactly these migrations had been made."""
    executor = MigrationExecutor(connections[using])
    return executor.loader.project_state(nodes).apps


def migrate_to(nodes: list[Node], *, using: str) -> None:
    """Bring a database forward to these migrations."""
    executor = MigrationExecutor(connections[using])
    executor.migrate(_last_of_each_app(executor, nodes))


def take_back_to(nodes: list[Node], *, using: str) -> None:
    """Undo every migration but these, newest first. Raises IrreversibleError."""
    executor = MigrationExecutor(connections[using])
    younger = {app for app, _ in executor.loader.graph.nodes} - {app for app, _ in nodes}
    executor.migrate([*_last_of_each_app(executor, nodes), *((app, None) for app in sorted(younger))])


def _last_of_each_app(executor: MigrationExecutor, nodes: list[Node]) -> list[Node]:
    # To name an earlier one would mean to undo what follows it in its app.
    followed = {
        parent.key
        for node in nodes
        for parent in executor.loader.graph.node_map[node].parents
        if parent.key[0] == node[0]
    }
    return sorted(set(nodes) - followed)


@contextmanager
def unchanging(source: str = DEFAULT_DB_ALIAS) -> Iterator[str]:
    """Give the name of a connection that sees the database as it is now, whatever others write meanwhile.

    Nobody waits for it: SQLite's log and PostgreSQL's versions keep the old rows as long as they are read.
    """
    connection = connections[source].copy(alias=SNAPSHOT)
    if connection.vendor == "sqlite":
        # Of the site's other connections each transaction is one that writes.
        options = connection.settings_dict["OPTIONS"]
        connection.settings_dict["OPTIONS"] = {**options, "transaction_mode": "DEFERRED"}
    with _known_as(SNAPSHOT, connection), transaction.atomic(using=SNAPSHOT), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        # The first reading is the moment that is kept.
        cursor.execute("SELECT count(*) FROM django_migrations")
        yield SNAPSHOT


@contextmanager
def scratch_database() -> Iterator[str]:
    """Give the name of an empty SQLite database, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="proofroom-restore-") as folder:
        databases = connections.configure_settings(
            {
                DEFAULT_DB_ALIAS: {},
                SCRATCH: {
                    "ENGINE": "django.db.backends.sqlite3",
                    "NAME": Path(folder) / "older.sqlite3",
                    # It is read while it is written to, and lost with a power cut like any scratch.
                    "OPTIONS": {"init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"},
                },
            }
        )
        connection = DatabaseWrapper(databases[SCRATCH], SCRATCH)
        with _known_as(SCRATCH, connection):
            yield SCRATCH


@contextmanager
def without_triggers(*, using: str) -> Iterator[None]:
    """Let rows be replaced that the database guards against every change, such as those of the log.

    PostgreSQL empties tables without asking their triggers; in SQLite they are taken out and put back, in
    the transaction of the caller.
    """
    if connections[using].vendor != "sqlite":
        yield
        return
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for name, _sql in triggers:
            cursor.execute(f"DROP TRIGGER {connections[using].ops.quote_name(name)}")
        yield
        for _name, sql in triggers:
            cursor.execute(sql)


@contextmanager
def _known_as(alias: str, connection: BaseDatabaseWrapper) -> Iterator[None]:
    connections[alias] = connection
    try:
        yield
    finally:
        connection.close()
        del connections[alias]
