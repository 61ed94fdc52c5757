"""The log of the site on PostgreSQL: the database itself refuses to change it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.whole.bench import ROOT

pytestmark = pytest.mark.scale


@pytest.fixture(scope="module")
def database(database_server: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with the tables of people, and one entry in the log."""
    with psycopg.connect(f"{database_server}/postgres", autocommit=True) as server:
        server.execute("CREATE DATABASE site_log")
    address = f"{database_server}/site_log"
    data: Path = tmp_path_factory.mktemp("site_log")
    environment = os.environ | {"DATABASE_URL": address, "PROOFROOM_DATA_DIR": str(data)}
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v", "0", "people"], env=environment, cwd=ROOT, check=True
    )
    with psycopg.connect(address) as rows:
        rows.execute(
            "INSERT INTO people_auditentry (at, username, act, subject, details) VALUES (now(), 'x', 'reveal', 'run:1', '{}')"
        )
    return address


@pytest.mark.parametrize(
    "statement", ["UPDATE people_auditentry SET act = 'x'", "DELETE FROM people_auditentry"]
)
def test_postgresql_refuses_to_change_or_remove_an_entry(database, statement):
    with (
        psycopg.connect(database) as rows,
        pytest.raises(psycopg.errors.RaiseException, match="never changed"),
    ):
        rows.execute(statement.encode())

    with psycopg.connect(database) as rows:
        assert rows.execute("SELECT act FROM people_auditentry").fetchall() == [("reveal",)]
