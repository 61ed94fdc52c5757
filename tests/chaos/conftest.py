"""How often chaos is tried, the numbers without it, and a bench for each test file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos import world
from tests.whole.bench import Bench
from tests.whole.published import need_chromium

TIMES = int(os.environ.get("PROOFROOM_CHAOS", "0"))
in_soak = pytest.mark.skipif(TIMES == 0, reason="takes a while: `make soak` tries it three times in a row")


@pytest.fixture(autouse=True, params=range(1, max(1, TIMES) + 1), ids=lambda turn: f"turn-{turn}")
def turn(request) -> int:
    """Which time in a row this is: what chance decides may hide once."""
    number: int = request.param
    return number


@pytest.fixture(autouse=True, scope="session")
def _can_be_watched() -> None:
    need_chromium()
    if not Path("/proc/self").exists():
        pytest.skip("needs /proc to look for leftovers")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Bench:
    return world.bench_with_pack(tmp_path_factory.mktemp("chaos"))


@pytest.fixture
def bench(prepared: Bench) -> Iterator[Bench]:
    """The bench of this file; what a failed test left at work ends with the test."""
    yield prepared
    prepared.end_all()
    prepared.started.clear()
    for run in prepared.rows("select id from runs_run where state in ('queued', 'running')"):
        prepared.command("cancel", str(run[0]))


@pytest.fixture(scope="session")
def expected(tmp_path_factory) -> Iterator[world.Expected]:
    """The numbers of runs that nothing disturbed, by how many repeats they have."""
    made = world.bench_with_pack(tmp_path_factory.mktemp("undisturbed"))
    # Only the soak disturbs runs of two repeats.
    runs = {repeats: world.launched(made, repeats=repeats) for repeats in ((1, 2) if TIMES else (1,))}
    assert made.json("work") == {"stopped": False}
    for trial in made.json("show", runs[max(runs)])["trials"]:
        assert trial["rounds"][0]["criteria"] == world.MARKS
    yield {repeats: world.numbers(made, run) for repeats, run in runs.items()}
    made.end_all()
