"""Backups on PostgreSQL, and between it and SQLite; and the first release's database on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from runs import backups
from tests.first_release import SITE, expected
from tests.scale.conftest import ScaledBench
from tests.whole.bench import ROOT, Bench

pytestmark = [pytest.mark.scale, pytest.mark.slow]

OF_THE_ACT = "people.auditentry"
"""The log says that a backup was made or put back, so it is longer afterwards."""


def numbers(bench: Bench) -> Any:
    """Numbers of the runs of the first release."""
    runs = expected()["metrics"]
    documents = bench.json("report", *runs)["runs"]
    return {run: {name: documents[run]["metrics"][name].get("value") for name in runs[run]} for run in runs}


def test_a_backup_goes_from_sqlite_to_postgresql_and_back_and_nothing_changes(scaled: ScaledBench, tmp_path):
    scaled.json("restore", str(SITE), "--replace")
    on_postgres = numbers(scaled)
    # The next row gets a key of its own.
    scaled.command("import", str(ROOT / "benchmark/protocols/asuka/sample/asuka-mini"))

    scaled.json("backup", str(tmp_path / "postgres.tar"))
    small = Bench(data=tmp_path / "small")
    small.data.mkdir()
    small.json("restore", str(tmp_path / "postgres.tar"))
    on_sqlite = numbers(small)
    small.json("backup", str(tmp_path / "sqlite.tar"))

    assert on_postgres == on_sqlite == expected()["metrics"]
    first, second = (backups.check(tmp_path / name) for name in ("postgres.tar", "sqlite.tar"))
    assert {name for name in first.tables if first.tables[name] != second.tables[name]} == {OF_THE_ACT}
    assert first.blobs == second.blobs
    assert first.blob_bytes == second.blob_bytes


def test_a_database_of_the_first_release_is_migrated_in_place(scaled: ScaledBench, database_server: str):
    with psycopg.connect(f"{database_server}/postgres", autocommit=True) as server:
        server.execute("create database first_release")
    older = ScaledBench(
        data=scaled.data / "older",
        redis="",
        environment={"DATABASE_URL": f"{database_server}/first_release"},
    )
    older.data.mkdir()
    subprocess.run(
        [sys.executable, "-m", "tests.scale.first_release"],
        check=True,
        cwd=Path(ROOT),
        env=older._environment(),
        timeout=300,
    )

    older.command("migrate", "-v", "0")

    marks = older.rows("select mark, version from annotation_annotation order by id")
    assert numbers(older) == expected()["metrics"]
    assert marks == [(label[3], label[4]) for label in expected()["labels"]]
