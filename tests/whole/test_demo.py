"""The demo, whole: what it prints, what it repeats, and ten sudden deaths of the server during its run."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmark.protocols import samples
from runs.adapters.deployers import find_node
from tests.samples.asuka_mini_marks import EXPECTED
from tests.whole.bench import Bench, marks_of
from tests.whole.published import need_chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.node,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to look for leftovers"),
]

KILLS = 10
SEED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """An undisturbed demo: its bench, its run, what it printed and how long it took."""

    bench: Bench
    run: str
    printed: str
    seconds: float

    def document(self) -> dict[str, Any]:
        shown: dict[str, Any] = self.bench.json("show", self.run)
        return shown

    def report(self) -> dict[str, Any]:
        numbers: dict[str, Any] = self.bench.json("report", self.run)["runs"][self.run]
        return numbers


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    need_chromium()
    if isinstance(found := find_node(), str):
        pytest.skip(f"no Node.js: {found}")
    bench = Bench(data=tmp_path_factory.mktemp("calm"))
    began = time.monotonic()
    printed = bench.command("demo", "--no-serve", timeout=1500)
    return Demo(bench=bench, run="1", printed=printed, seconds=time.monotonic() - began)


def test_the_demo_prints_the_numbers_of_each_round_that_the_report_gives(demo):
    rows = {line.split()[0]: line.split() for line in demo.printed.splitlines() if line.startswith("R")}

    for at in demo.report()["per_round"]:
        words = rows[f"R{at['round']}"]
        # R1 37.2 ±16.9 50.9 ±11.7 0.0 ±0.0 73.5 ±10.6 0 0
        assert [float(words[place]) for place in (1, 3, 5, 7)] == [
            pytest.approx(100 * at[name]["value"], abs=0.05)
            for name in (
                "task_pass_rate",
                "criteria_pass_rate",
                "project_completion_rate",
                "implemented_rate",
            )
        ]
        assert float(words[9]) == at["regressions"]["value"]


def test_every_mark_of_the_demo_is_the_one_worked_out_by_hand(demo):
    for trial in demo.document()["trials"]:
        for round_ in trial["rounds"]:
            expected = EXPECTED["recorded", trial["task"], round_["round"]]
            assert round_["outcomes"] == {
                key: [mark.value for mark in marks] for key, marks in expected.items()
            }


def test_repeating_the_demo_shows_the_same_run_and_changes_nothing(demo):
    before = demo.document()

    printed = demo.bench.command("demo", "--no-serve")

    assert "R3" in printed
    assert demo.document() == before
    assert len(json.loads(demo.bench.command("runs", "--json"))["runs"]) == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex to compile the report")
def test_the_report_of_the_demo_compiles(demo, tmp_path):
    demo.bench.command("report", demo.run, "--format", "latex", "-o", str(tmp_path / "report.tex"))

    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "report.pdf").stat().st_size > 1000


def test_ten_deaths_of_the_server_end_with_the_marks_and_numbers_of_an_undisturbed_run(demo, tmp_path):
    dice = random.Random(SEED)
    bench = Bench(data=tmp_path / "shaken", environment={"PROOFROOM_LEASE_SECONDS": "10"})
    bench.data.mkdir()
    bench.command("demo", "--prepare")
    run = str(bench.json("launch", samples()[0].name, "--agent", "replay")["run"])
    deaths = 0
    for _ in range(KILLS):
        bench.serve()
        # Spread over a good part of the run, so that the tenth comes before its end even where the
        # undisturbed one had to share the machine, and never before a trial could be claimed.
        time.sleep(dice.uniform(1.0, 2.0 + 0.5 * demo.seconds / KILLS))
        if state_of(bench, run) == "finished":
            break
        bench.kill()
        deaths += 1
        assert bench.leftovers() == []
    if bench.server is None:
        bench.serve()
    wait_until_over(bench, run, within=1500)
    bench.stop()

    assert deaths == KILLS, f"only {deaths} deaths: the run took {demo.seconds:.0f} s undisturbed"
    shown = bench.json("show", run)
    assert shown["state"] == "finished"
    assert marks_of(shown) == marks_of(demo.document())
    assert bench.json("report", run)["runs"][run] == demo.report()
    assert twice_marked(bench) == 0
    assert bench.leftovers() == []


def wait_until_over(bench: Bench, run: str, *, within: float) -> None:
    deadline = time.monotonic() + within
    while state_of(bench, run) not in ("finished", "paused", "cancelled"):
        assert time.monotonic() < deadline, bench.command("show", run)
        time.sleep(1)


def state_of(bench: Bench, run: str) -> str:
    return str(asked(bench, "select state from runs_run where id = ?", run))


def twice_marked(bench: Bench) -> int:
    return int(
        asked(
            bench,
            "select count(*) from (select 1 from runs_verdict"
            " group by judging_id, outcome_id, role having count(*) > 1)",
        )
    )


def asked(bench: Bench, query: str, *values: str) -> Any:
    with closing(sqlite3.connect(bench.data / "proofroom.sqlite3", timeout=20)) as database:
        return database.execute(query, values).fetchone()[0]
