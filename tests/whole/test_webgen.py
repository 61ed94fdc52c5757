"""WebGen-Bench as published: 101 tasks, three of them deployed, judged in Chromium and reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.whole.bench import Bench
from tests.whole.published import FIXTURES, need_chromium, published

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CANDIDATES = FIXTURES / "webgen_candidates"
EXPECTED = json.loads((CANDIDATES / "expected.json").read_text(encoding="utf-8"))["tasks"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    return Bench(data=tmp_path_factory.mktemp("webgen"))


@pytest.fixture(scope="module")
def imported(bench: Bench) -> dict[str, Any]:
    file = published("webgen-bench/test.jsonl")
    answer: dict[str, Any] = bench.json("import", str(file), "--scripts", str(CANDIDATES / "scripts.json"))
    return answer


@pytest.fixture(scope="module")
def run(bench: Bench, imported: dict[str, Any]) -> dict[str, Any]:
    need_chromium()
    answer: dict[str, Any] = bench.json(
        *("launch", imported["benchmark"], "--agent", "replay", "--workspaces", str(CANDIDATES)),
        *("--tasks", ",".join(EXPECTED), "--rounds", "1", "--wait"),
    )
    return answer


def test_the_published_file_gives_101_tasks_and_647_criteria(imported):
    assert (imported["tasks"], imported["criteria"]) == (101, 647)
    assert imported["problems"] == []


def test_importing_it_again_changes_nothing(bench, imported):
    again = bench.json(
        *("import", str(published("webgen-bench/test.jsonl"))),
        *("--scripts", str(CANDIDATES / "scripts.json")),
    )

    assert (again["id"], again["hash"], again["is_new"]) == (imported["id"], imported["hash"], False)


def test_three_tasks_run_to_the_marks_that_were_worked_out_by_hand(run):
    marks = {trial["task"]: trial["rounds"][0]["criteria"] for trial in run["trials"]}

    assert run["state"] == "finished"
    assert marks == EXPECTED


def test_the_report_of_the_three_gives_the_mean_worked_out_by_hand(bench, run):
    scores = bench.json("report", str(run["run"]))["runs"][str(run["run"])]

    # Every weight is 1: 3 of 4, 4 of 5 and 5 of 6 criteria pass.
    assert scores["metrics"]["task_pass_rate"]["value"] == pytest.approx((3 / 4 + 4 / 5 + 5 / 6) / 3)
    assert scores["metrics"]["task_pass_rate"]["n"] == 3
    assert scores["metrics"]["project_completion_rate"]["value"] == 0
    assert scores["metrics"]["implemented_rate"]["value"] == 1
    assert scores["criteria"] == EXPECTED
    assert (scores["errors"], scores["skipped"]) == (0, 0)


def test_no_process_of_the_run_is_left(bench, run):
    assert bench.leftovers() == []
