"""The clock on the wall is set while runs go: for every process of a bench at once, as on a real machine."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chaos import world
from tests.chaos.conftest import in_soak
from tests.chaos.world import BEGAN, FINISHED, check_end, launched
from tests.whole.bench import Bench

pytestmark = [pytest.mark.slow, pytest.mark.browser]

HOURS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class WallClock:
    """The clock of a bench's processes: set by so many seconds before or after the true time."""

    file: Path
    environment: dict[str, str]

    def set_by(self, seconds: int) -> None:
        """Set the clock of every process that has it, at this moment."""
        with self.file.open("r+b") as file:
            file.write(struct.pack("=q", seconds))


@pytest.fixture(scope="module")
def clock(tmp_path_factory) -> WallClock:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler and Linux to set the clock of single processes")
    folder = tmp_path_factory.mktemp("clock")
    library, file = folder / "shifted_clock.so", folder / "shift"
    source = Path(__file__).with_name("shifted_clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
    file.write_bytes(struct.pack("=q", 0))
    return WallClock(file=file, environment={"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(file)})


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, clock) -> Bench:
    return world.bench_with_pack(tmp_path_factory.mktemp("chaos"), **clock.environment)


@pytest.fixture(autouse=True)
def _true_again(clock) -> Iterator[None]:
    yield
    clock.set_by(0)


def test_the_processes_of_a_bench_believe_the_clock_that_is_set(clock):
    clock.set_by(5 * HOURS)

    told = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env=clock.environment,
        capture_output=True,
        check=True,
        text=True,
    ).stdout

    assert float(told) - time.time() == pytest.approx(5 * HOURS, abs=60)


@in_soak
@pytest.mark.parametrize(
    "hours", [(2, 0), (-2, 0), (2, -3), (24 * 400, 0)], ids=["forward", "back", "to-and-fro", "a-year"]
)
def test_a_clock_that_is_set_while_two_workers_judge_changes_no_number(bench, expected, clock, hours):
    run = launched(bench, repeats=2)
    workers = [bench.begun("work") for _ in range(2)]
    for criterion, hour in zip(("c1", "c2"), hours, strict=True):
        bench.wait_for(BEGAN, run, criterion)
        clock.set_by(hour * HOURS)

    assert [worker.wait(240) for worker in workers] == [0, 0]

    bench.wait_for(FINISHED, run, within=5)
    check_end(bench, run, expected=expected, repeats=2)


@in_soak
def test_a_claim_of_a_clock_that_went_wrong_strands_no_trial(bench, expected, clock):
    """The worker dies while the clock is a day ahead; its claim seems to last until tomorrow."""
    run = launched(bench)
    clock.set_by(24 * HOURS)
    worker = bench.begun("work")
    bench.wait_for(BEGAN, run, "c1")
    worker.kill()
    worker.wait(30)
    clock.set_by(0)

    assert bench.json("work") == {"stopped": False}

    check_end(bench, run, expected=expected)
