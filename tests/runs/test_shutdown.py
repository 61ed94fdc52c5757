"""A process that is told to end does so within its time, and what it held is free for others."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Stubborn:
    """A process whose code agent does not hear that it should end."""

    def __init__(self, folder: Path, *, seconds: int) -> None:
        self.folder = folder
        environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
        environment |= {
            "PROOFROOM_DATA_DIR": str(folder),
            "PROOFROOM_SHUTDOWN_SECONDS": str(seconds),
            "PROOFROOM_LEASE_SECONDS": "600",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.runs.stubborn", str(folder / "scratch")],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "at work\n"

    def claim(self) -> tuple[str, str | None]:
        with closing(sqlite3.connect(self.folder / "proofroom.sqlite3", timeout=20)) as database:
            (row,) = database.execute("select claimed_by, claimed_until from runs_trial").fetchall()
        return row[0], row[1]

    def ended(self) -> tuple[float, int, str]:
        began = time.monotonic()
        _, said = self.process.communicate(timeout=60)
        return time.monotonic() - began, self.process.returncode, said


@pytest.fixture
def stubborn(tmp_path) -> Iterator[type[Stubborn]]:
    made: list[Stubborn] = []

    class Kept(Stubborn):
        def __init__(self, *, seconds: int) -> None:
            super().__init__(tmp_path, seconds=seconds)
            made.append(self)

    yield Kept
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def test_what_does_not_end_in_time_is_let_go_of_and_its_claim_is_free_at_once(stubborn):
    process = stubborn(seconds=3)
    held = process.claim()

    process.process.send_signal(signal.SIGTERM)
    took, code, said = process.ended()

    assert held[0]
    assert process.claim() == ("", None)
    assert 1 < took < 20
    assert code == 1
    assert said == "Not everything ended within 3 seconds; it is let go of and goes on elsewhere.\n"


def test_a_second_signal_ends_it_at_once_and_frees_the_claim_as_well(stubborn):
    process = stubborn(seconds=60)

    process.process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    assert process.process.poll() is None
    process.process.send_signal(signal.SIGTERM)
    took, code, said = process.ended()

    assert process.claim() == ("", None)
    assert took < 20
    assert (code, said) == (1, "")
