"""The published rubric proj_34: an application in three recorded rounds, deployed and judged in Chromium."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain
from typing import Any

import pytest

from tests.whole.bench import Bench
from tests.whole.published import FIXTURES, need_chromium, published

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SUPPLIERS = FIXTURES / "supplier_ranking"
EXPECTED = json.loads((SUPPLIERS / "expected.json").read_text(encoding="utf-8"))
ROUNDS = EXPECTED["tasks"]["proj_34"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    return Bench(data=tmp_path_factory.mktemp("proj34"))


@pytest.fixture(scope="module")
def imported(bench: Bench) -> dict[str, Any]:
    answer: dict[str, Any] = bench.json(
        *("import", str(published("asuka-proj34/proj_34_rubric.json"))),
        *("--request", str(SUPPLIERS / "request.md"), "--scripts", str(SUPPLIERS / "scripts.json")),
    )
    return answer


@pytest.fixture(scope="module")
def run(bench: Bench, imported: dict[str, Any]) -> dict[str, Any]:
    need_chromium()
    answer: dict[str, Any] = bench.json(
        *("launch", imported["benchmark"], "--agent", "replay"),
        # A step that will fail waits out its whole time, and most of the first round's steps fail.
        *("--workspaces", str(SUPPLIERS / "rounds"), "--set", "judge.step_timeout=2", "--wait"),
        timeout=1500,
    )
    return answer


@pytest.fixture(scope="module")
def scores(bench: Bench, run: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = bench.json("report", str(run["run"]))["runs"][str(run["run"])]
    return document


def test_the_published_rubric_gives_16_criteria_and_51_outcomes(imported):
    assert (imported["tasks"], imported["criteria"], imported["outcomes"]) == (1, 16, 51)


def test_every_round_gets_the_marks_that_were_worked_out_by_hand(run):
    (trial,) = run["trials"]

    assert run["state"] == "finished"
    assert [round_["criteria"] for round_ in trial["rounds"]] == [each["criteria"] for each in ROUNDS]
    for judged, expected in zip(trial["rounds"], ROUNDS, strict=True):
        executed = {key: marks for key, marks in judged["outcomes"].items() if "skipped" not in marks}
        assert executed == expected["outcomes"], f"round {judged['round']}"


def test_at_least_30_outcomes_are_judged_in_a_real_browser(bench, run):
    judged = Counter(chain.from_iterable(run["trials"][0]["rounds"][1]["outcomes"].values()))
    bench.command("export", str(run["run"]), "-o", str(bench.data / "results"))
    files = sorted((bench.data / "results").glob("proj_34/*/round_*/eval_step3_results.json"))
    results = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    pictured = [
        outcome
        for criterion in results[1]["criteria"]
        for outcome in criterion["outcomes"]
        if any(piece["kind"] == "screenshot" for piece in outcome["evidence"])
    ]

    assert judged["pass"] + judged["fail"] == 51
    assert len(files) == 3
    assert len(pictured) >= 30
    assert all(
        outcome["rationale"] for criterion in results[1]["criteria"] for outcome in criterion["outcomes"]
    )


def test_numbers_of_each_round_are_those_of_the_weights_summed_by_hand(scores):
    for judged, expected in zip(scores["per_round"], ROUNDS, strict=True):
        weights = expected["weights"]
        assert judged["task_pass_rate_state"]["value"] == pytest.approx(weights["passed"] / 57)
        assert judged["task_pass_rate"]["value"] == pytest.approx(weights["passed_so_far"] / 57)
        assert judged["regressions"]["value"] == len(expected["regressions"])
    # Executed in any round so far: 49, then all 57.
    assert [each["implemented_rate"]["value"] for each in scores["per_round"]] == pytest.approx(
        [49 / 57, 1, 1]
    )


def test_skipped_criteria_name_the_prerequisite_and_never_enter_feedback(bench, run):
    results = json.loads(
        next((bench.data / "results").glob("proj_34/*/round_1/*.json")).read_text(encoding="utf-8")
    )
    skipped = [criterion for criterion in results["criteria"] if criterion["mark"] == "skipped"]

    assert [criterion["key"] for criterion in skipped] == ["13", "14"]
    assert all(
        outcome["rationale"] == "Skipped, because 7 is not satisfied."
        for criterion in skipped
        for outcome in criterion["outcomes"]
    )


def test_the_marks_scored_from_a_file_give_the_numbers_of_the_report(bench, run, scores):
    structure = json.loads(published("asuka-proj34/proj_34_rubric.json").read_text(encoding="utf-8"))
    document = {
        "protocol": "asuka",
        "settings": EXPECTED["settings"],
        "tasks": [
            {
                "key": "proj_34",
                "criteria": [
                    {
                        "key": str(task["id"]),
                        "kind": task["type"].lower(),
                        "weight": task["weight"],
                        "needs": [str(need) for need in task["prerequisites"]],
                        "outcomes": len(task["criteria"]),
                    }
                    for task in structure["tasks"]
                ],
            }
        ],
        "rounds": [
            {
                "task": "proj_34",
                "round": round_["round"],
                "marks": round_["outcomes"]
                | {key: "skipped" for key, mark in round_["criteria"].items() if mark == "skipped"},
            }
            for round_ in ROUNDS
        ],
    }
    file = bench.data / "marks.json"
    file.write_text(json.dumps(document), encoding="utf-8")

    scored = bench.json("score", str(file), "--protocol", "asuka")

    assert scored == scores


def test_no_process_of_the_run_is_left(bench, run):
    assert bench.leftovers() == []
