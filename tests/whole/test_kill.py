"""Ten sudden deaths of the server during the demo's run change no mark and leave no process."""

from __future__ import annotations

import random
import sqlite3
import time
from pathlib import Path

import pytest

from benchmark.protocols import samples
from tests.whole.bench import Bench, marks_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.node,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to look for leftovers"),
]

KILLS = 10
SEED = 20


def launched(data: Path) -> tuple[Bench, str]:
    data.mkdir()
    bench = Bench(data=data, environment={"PROOFROOM_LEASE_SECONDS": "10"})
    for pack in samples():
        bench.command("import", str(pack))
    run = bench.json("launch", samples()[0].name, "--agent", "replay", "--workspaces", "recorded")
    return bench, str(run["run"])


def wait_until_over(bench: Bench, run: str, *, within: float) -> None:
    deadline = time.monotonic() + within
    while state_of(bench, run) not in ("finished", "paused", "cancelled"):
        assert time.monotonic() < deadline, bench.command("show", run)
        time.sleep(1)


def state_of(bench: Bench, run: str) -> str:
    with sqlite3.connect(bench.data / "proofroom.sqlite3", timeout=20) as database:
        row = database.execute("select state from runs_run where id = ?", [run]).fetchone()
    database.close()
    return str(row[0])


def test_ten_deaths_of_the_server_end_with_the_marks_and_numbers_of_an_undisturbed_run(tmp_path):
    calm, calm_run = launched(tmp_path / "calm")
    began = time.monotonic()
    calm.serve()
    wait_until_over(calm, calm_run, within=900)
    calm.stop()
    took = time.monotonic() - began

    dice = random.Random(SEED)
    shaken, shaken_run = launched(tmp_path / "shaken")
    deaths = 0
    for _ in range(KILLS):
        shaken.serve()
        # Spread over the whole run, and never before the server has had time to claim a trial.
        time.sleep(dice.uniform(1.0, 2.0 + 1.6 * took / KILLS))
        if state_of(shaken, shaken_run) == "finished":
            shaken.stop()
            break
        shaken.kill()
        deaths += 1
        assert shaken.leftovers() == []
    shaken.serve()
    wait_until_over(shaken, shaken_run, within=900)
    shaken.stop()

    assert deaths == KILLS, f"only {deaths} deaths: the run took {took:.0f} s undisturbed"
    undisturbed, disturbed = calm.json("show", calm_run), shaken.json("show", shaken_run)
    assert disturbed["state"] == undisturbed["state"] == "finished"
    assert marks_of(disturbed) == marks_of(undisturbed)
    numbers = [
        bench.json("report", run)["runs"][run] for bench, run in ((calm, calm_run), (shaken, shaken_run))
    ]
    assert numbers[0] == numbers[1]
    assert twice_marked(shaken) == 0
    assert shaken.leftovers() == []


def twice_marked(bench: Bench) -> int:
    with sqlite3.connect(bench.data / "proofroom.sqlite3") as database:
        found = database.execute(
            "select count(*) from (select 1 from runs_verdict"
            " group by judging_id, outcome_id, role having count(*) > 1)"
        ).fetchone()
    database.close()
    return int(found[0])
