"""Result files: one trial and round each, in the schema that judges and people share."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmark.rules.vocabulary import Mark
from runs.exporting import write_results
from runs.models import Run
from tests import make
from tests.runs import judged

pytestmark = pytest.mark.django_db


def some_run(**changed: Any) -> Run:
    task = make.task(
        "t1",
        make.criterion("c0", outcomes=2),
        make.criterion("c1", needs=["c0"]),
        make.criterion("c2"),
        make.criterion("c3"),
    )
    marks: judged.Marks = {
        "c0": (Mark.FAIL, Mark.FAIL),
        "c1": (Mark.SKIPPED,),
        "c2": (Mark.ERROR,),
    }
    return judged.finished_run(make.benchmark(task), rounds=[marks, {}], **changed)


def exported(run: Run, folder: Path) -> list[Path]:
    call_command("export", str(run.pk), "--format", "results", "-o", str(folder), stdout=StringIO())
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_there_is_a_file_for_each_trial_and_round(tmp_path):
    run = some_run(repeats=2)

    files = exported(run, tmp_path)

    first, second = run.trials.order_by("repeat")
    assert [str(file.relative_to(tmp_path)) for file in files] == sorted(
        f"t1/trial-{trial.pk}/round_{number}/eval_step3_results.json"
        for trial in (first, second)
        for number in (1, 2)
    )


def test_a_file_holds_every_mark_with_its_reasons_in_the_shared_schema(tmp_path):
    run = some_run()

    document = json.loads(exported(run, tmp_path)[0].read_text(encoding="utf-8"))

    assert document["schema"] == "proofroom/results/1"
    assert document["protocol"] == "asuka"
    assert document["benchmark"] == {
        "key": run.benchmark.key,
        "version": "1",
        "hash": run.benchmark_hash,
    }
    assert (document["task"], document["round"]) == ("t1", 1)
    assert document["source"] == {"kind": "judge", "name": "planned"}
    assert {mark: document[mark] for mark in ("pass", "partial", "fail", "skipped", "error")} == {
        "pass": ["c3"],
        "partial": [],
        "fail": ["c0"],
        "skipped": ["c1"],
        "error": ["c2"],
    }
    assert [criterion["key"] for criterion in document["criteria"]] == ["c0", "c1", "c2", "c3"]
    outcome = document["criteria"][0]["outcomes"][1]
    assert outcome["index"] == 1
    assert (outcome["text"], outcome["mark"]) == ("c0 does thing 1", "fail")
    assert outcome["rationale"] == "c0.1 was planned as fail."
    assert outcome["note"] is None
    assert outcome["environment_problem"] is None
    assert [piece["kind"] for piece in outcome["evidence"]] == ["screenshot"]
    assert document["criteria"][2]["outcomes"][0]["environment_problem"] == "planned"


def test_no_file_names_the_code_agent(tmp_path):
    run = some_run()
    Run.objects.filter(pk=run.pk).update(code_agent="secretagent", code_agent_label="secretagent-9")

    files = exported(run, tmp_path)

    assert not any("secretagent" in file.read_text(encoding="utf-8") + str(file) for file in files)


def test_exporting_again_replaces_the_files_and_leaves_others(tmp_path):
    run = some_run()
    exported(run, tmp_path)
    (tmp_path / "mine.txt").write_text("mine")

    files = exported(run, tmp_path)

    assert len(files) == 3
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_key_cannot_lead_out_of_the_folder(tmp_path):
    run = some_run()
    run.benchmark.tasks.update(key="..")

    files = exported(run, tmp_path / "inside")

    assert len(files) == 2
    assert all("eval_step3" in str(file) for file in (tmp_path / "inside").rglob("*.json"))
    assert {path.name for path in tmp_path.iterdir()} == {"inside"}


def test_a_round_that_was_not_judged_has_no_file(tmp_path):
    run = make.run()

    assert exported(run, tmp_path) == []


def test_the_number_of_queries_a_file_does_not_grow_with_its_outcomes(tmp_path):
    small = judged.finished_run(make.benchmark(make.task("t1", make.criterion("c0"))))
    large = judged.finished_run(make.benchmark(make.task("t1", make.criterion("c0", outcomes=100))))

    counts = []
    for run in (small, large):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            write_results(run, tmp_path / str(run.pk))
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 5
