"""Clocks that jump: forward, back, and of one worker but not of the other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chaos import world
from tests.chaos.conftest import in_soak
from tests.chaos.world import BEGAN, FINISHED, check_end, launched
from tests.whole.bench import Bench

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
DAY = 86_400

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(not LIBRARIES, reason="no libfaketime: apt install faketime"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """What shows another time to processes that are started under it; others see the machine's own."""

    file: Path

    def environment(self) -> dict[str, str]:
        """What to start a process with. Waits stay true: no clock that jumps moves the monotonic one."""
        return {
            "LD_PRELOAD": str(LIBRARIES[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
        }

    def jump(self, seconds: int) -> None:
        """Be so many seconds before (or behind) the machine's time from now on."""
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}s\n")
        fresh.replace(self.file)


@pytest.fixture
def clock(tmp_path) -> Clock:
    made = Clock(file=tmp_path / "clock")
    made.jump(0)
    return made


@pytest.fixture
def wrong(bench, clock) -> Iterator[Bench]:
    """The same bench; what it starts reads the clock that jumps."""
    made = Bench(data=bench.data, environment=bench.environment | clock.environment())
    yield made
    made.end_all()


@in_soak
def test_the_clock_that_jumps_is_what_a_process_reads(wrong, clock):
    clock.jump(400 * DAY)

    launched_at = wrong.json("launch", world.KEY, "--agent", "replay")
    run = str(launched_at["run"])

    year = wrong.json("show", run)["created_at"][:4]
    assert int(year) > time.gmtime().tm_year
    assert wrong.json("cancel", run)["cancelled"] is True


@in_soak
@pytest.mark.parametrize("seconds", [DAY, -DAY], ids=["a-day-ahead", "a-day-back"])
def test_a_clock_that_jumps_while_a_run_is_judged_changes_no_number(wrong, clock, expected, seconds):
    run = launched(wrong)
    worker = wrong.begun("work")
    wrong.wait_for(BEGAN, run, "c1")
    clock.jump(seconds)
    wrong.wait_for(BEGAN, run, "c2")
    clock.jump(0)

    assert worker.wait(120) == 0
    check_end(wrong, run, expected=expected)


@in_soak
def test_a_worker_whose_clock_is_an_hour_ahead_takes_a_trial_over_and_no_verdict_is_given_twice(
    bench, wrong, clock, expected
):
    """To it every lease of the other is over; the other notices that it lost its claim."""
    run = launched(bench)
    clock.jump(3600)
    right = bench.begun("work")
    bench.wait_for(BEGAN, run, "c1")
    ahead = wrong.begun("work")

    bench.wait_for(FINISHED, run)
    assert [right.wait(120), ahead.wait(120)] == [0, 0]
    check_end(bench, run, expected=expected)


@in_soak
def test_a_worker_that_died_with_its_clock_a_day_ahead_holds_nothing_up(bench, wrong, clock, expected):
    run = launched(bench)
    clock.jump(DAY)
    ahead = wrong.begun("work")
    bench.wait_for(BEGAN, run, "c1")
    ahead.kill()
    ahead.wait(30)

    assert bench.json("work") == {"stopped": False}
    check_end(bench, run, expected=expected)
