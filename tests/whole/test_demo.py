"""The demo through sudden deaths of its server: what it prints, what it repeats, what it marked."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmark.packs.reading import opened_pack
from benchmark.protocols import samples
from benchmark.rules.vocabulary import Mark
from runs.adapters.deployers import find_node
from tests.samples.asuka_mini_marks import EXPECTED, Marks
from tests.whole.bench import Bench
from tests.whole.published import need_chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.node,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to look for leftovers"),
]

SEED = 20
CANDIDATE = "recorded"
# The whole demo takes ten minutes of two processors: `make soak` runs it through ten deaths, the tests of every
# day run one task through one.
IS_WHOLE = bool(os.environ.get("PROOFROOM_WHOLE_DEMO"))
TASKS = () if IS_WHOLE else ("score-atlas",)
KILLS = 10 if IS_WHOLE else 1
AT_LEAST = "select 1 where (select count(*) from runs_verdict) >= ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A demo whose server died again and again: its bench, its run, what it printed at last, what each death left."""

    bench: Bench
    run: str
    printed: str
    left: list[list[str]]

    def document(self) -> dict[str, Any]:
        shown: dict[str, Any] = self.bench.json("show", self.run)
        return shown

    def report(self) -> dict[str, Any]:
        numbers: dict[str, Any] = self.bench.json("report", self.run)["runs"][self.run]
        return numbers


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    need_chromium()
    if isinstance(found := find_node(), str):
        pytest.skip(f"no Node.js: {found}")
    dice = random.Random(SEED)
    # A moment is a number of verdicts and a while after it, so that all of them come before the end on
    # any machine, and none before a trial was claimed.
    moments = sorted(dice.sample(range(1, int(0.9 * executed())), KILLS))
    bench = Bench(data=tmp_path_factory.mktemp("demo"), environment={"PROOFROOM_LEASE_SECONDS": "10"})
    left = []
    try:
        bench.command("demo", "--prepare")
        for moment in moments:
            already = verdicts(bench)
            bench.server = bench.begun("demo", "--port", "0", *chosen())
            bench.wait_for(AT_LEAST, max(moment, already + 1), within=300)
            time.sleep(dice.uniform(0.0, 1.5))
            bench.kill()
            left.append(bench.leftovers())
        printed = bench.command("demo", "--no-serve", *chosen(), timeout=1500)
        yield Demo(bench=bench, run="1", printed=printed, left=left)
    finally:
        bench.end_all()


def test_deaths_of_the_server_leave_no_process_and_no_verdict_twice(demo):
    assert demo.left == [[]] * KILLS
    assert demo.document()["state"] == "finished"
    assert demo.bench.leftovers() == []
    assert (
        demo.bench.rows(
            "select 1 from runs_verdict group by judging_id, outcome_id, role having count(*) > 1"
        )
        == []
    )


def test_the_numbers_are_those_that_the_marks_worked_out_by_hand_give(demo, tmp_path):
    """An undisturbed run ends with these marks, so its numbers are those that `score` makes of them."""
    (tmp_path / "marks.json").write_text(json.dumps(marks_file()))

    scored = demo.bench.json("score", str(tmp_path / "marks.json"), "--protocol", "asuka")

    assert demo.report() == scored


def test_the_demo_prints_the_numbers_of_each_round_that_the_report_gives(demo):
    rows = {line.split()[0]: line.split() for line in demo.printed.splitlines() if line.startswith("R")}

    for at in demo.report()["per_round"]:
        # R1 37.2 ±16.9 50.9 ±11.7 0.0 ±0.0 73.5 ±10.6 0 0, where one task has no ±
        words = [word for word in rows[f"R{at['round']}"] if not word.startswith("±")]
        assert [float(word) for word in words[1:5]] == [
            pytest.approx(100 * at[name]["value"], abs=0.05)
            for name in (
                "task_pass_rate",
                "criteria_pass_rate",
                "project_completion_rate",
                "implemented_rate",
            )
        ]
        assert float(words[5]) == at["regressions"]["value"]


def test_every_mark_of_the_demo_is_the_one_worked_out_by_hand(demo):
    for trial in demo.document()["trials"]:
        for round_ in trial["rounds"]:
            expected = EXPECTED[CANDIDATE, trial["task"], round_["round"]]
            assert round_["exit"] == "finished"
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


def chosen() -> tuple[str, ...]:
    return ("--tasks", ",".join(TASKS)) if TASKS else ()


def expected() -> dict[tuple[str, int], Marks]:
    """The marks worked out by hand, by task and round of this run."""
    return {
        (task, round_): criteria
        for (candidate, task, round_), criteria in EXPECTED.items()
        if candidate == CANDIDATE and (not TASKS or task in TASKS)
    }


def executed() -> int:
    """How many outcomes a browser looks at in the run."""
    return sum(
        mark is not Mark.SKIPPED
        for criteria in expected().values()
        for marks in criteria.values()
        for mark in marks
    )


def verdicts(bench: Bench) -> int:
    return int(bench.rows("select count(*) from runs_verdict")[0][0])


def marks_file() -> dict[str, Any]:
    """The marks worked out by hand as a file for `score`."""
    with opened_pack(samples()[0]) as pack:
        tasks = [task.spec for task in pack.tasks]
    return {
        "protocol": "asuka",
        "settings": {"threshold": 0.5, "mode": "dag"},
        "tasks": [
            {
                "key": task.key,
                "criteria": [
                    {
                        "key": criterion.key,
                        "kind": criterion.kind,
                        "weight": criterion.weight,
                        "needs": list(criterion.needs),
                        "outcomes": len(criterion.outcomes),
                    }
                    for criterion in task.criteria
                ],
            }
            for task in tasks
            if not TASKS or task.key in TASKS
        ],
        "rounds": [
            {
                "task": task,
                "round": round_,
                "marks": {
                    key: "skipped" if Mark.SKIPPED in marks else [mark.value for mark in marks]
                    for key, marks in criteria.items()
                },
            }
            for (task, round_), criteria in expected().items()
        ],
    }
