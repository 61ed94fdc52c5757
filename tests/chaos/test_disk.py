"""A disk that is full while something is stored: trouble of ours, told in words, and made good by a retry."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.chaos import world
from tests.chaos.conftest import in_soak
from tests.chaos.world import check_end, launched
from tests.whole.bench import Bench

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system"),
]


@contextmanager
def small_disk(at: Path, *, size: str) -> Iterator[Path]:
    """A file system of so few bytes."""
    at.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(at)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"this machine mounts nothing: {mounted.stderr.decode().strip()}")
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


def filled(disk: Path) -> Path:
    """Take all the room that is left and return the file that takes it."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as out, suppress(OSError):
        while out.write(bytes(4096)):
            pass
    return filler


def check_blobs(folder: Path) -> None:
    """Every blob is named by what it holds: none was cut off and kept."""
    blobs = [path for path in folder.rglob("*") if path.is_file() and len(path.name) == 64]
    assert blobs
    for blob in blobs:
        assert hashlib.sha256(blob.read_bytes()).hexdigest() == blob.name


@in_soak
def test_a_disk_that_is_full_while_blobs_are_stored_pauses_the_run_and_a_retry_ends_it(tmp_path, expected):
    with small_disk(tmp_path / "var" / "blobs", size="2m") as disk:
        bench = world.bench_with_pack(tmp_path)
        try:
            run = launched(bench)
            filler = filled(disk)

            # Whatever the worker makes of it, it ends, and says so.
            bench.ran("work", timeout=300)
            ((state, trouble),) = bench.rows("select state, trouble from runs_trial where run_id = ?", run)
            assert state in ("paused", "queued")
            assert "disk" in trouble.lower() or "space" in trouble.lower()
            assert bench.leftovers() == []

            filler.unlink()
            assert bench.json("retry", run, "--wait")["state"] == "finished"
            check_end(bench, run, expected=expected)
            check_blobs(disk)
        finally:
            bench.end_all()


@in_soak
def test_a_disk_that_is_full_for_everything_loses_nothing_that_was_stored(tmp_path, expected):
    with small_disk(tmp_path / "var", size="96m") as disk:
        bench = world.bench_with_pack(tmp_path)
        try:
            run = launched(bench)
            worker = bench.begun("work")
            bench.wait_for(world.BEGAN, run, "c1")
            before = _verdicts(bench)
            filler = filled(disk)

            try:
                worker.wait(60)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait(30)
            assert bench.leftovers() == []

            filler.unlink()
            assert before <= _verdicts(bench)
            bench.ran("retry", run)
            assert bench.json("work") == {"stopped": False}
            check_end(bench, run, expected=expected)
            check_blobs(disk / "blobs")
        finally:
            bench.end_all()


def _verdicts(bench: Bench) -> set[tuple[object, ...]]:
    return set(bench.rows("select id, mark from runs_verdict"))
