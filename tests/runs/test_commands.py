"""The commands of runs, called in this process: help, documents, sentences and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command, get_commands, load_command_class

from benchmark.management.door import Door
from benchmark.rules.vocabulary import Mark, RunState, TrialState
from runs.models import MetricValue, Run, Trial
from tests import make
from tests.runs import judged

pytestmark = pytest.mark.django_db

OURS = [
    *("import", "pack", "launch", "runs", "show", "cancel", "retry", "score", "rescore"),
    *("report", "export", "doctor", "serve", "work", "demo", "agreement", "labels", "webhooks"),
    *("backup", "restore", "queues"),
]
FAIL = (Mark.FAIL,)


def door(name: str) -> Door:
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command, Door)
    return command


def said(*words: object) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out, stderr=StringIO())
    return out.getvalue()


def document(*words: object) -> Any:
    return json.loads(said(*words, "--json"))


def refusal(*words: object) -> CommandError:
    out = StringIO()
    with pytest.raises(CommandError) as refused:
        call_command(*map(str, words), stdout=out, stderr=StringIO())
    assert out.getvalue() == ""
    return refused.value


def replayable(tmp_path: Path) -> Path:
    """A folder of recorded workspaces for the task t1."""
    (tmp_path / "t1" / "round_1").mkdir(parents=True)
    (tmp_path / "t1" / "round_1" / "index.html").write_text("<h1>t1</h1>")
    return tmp_path


@pytest.mark.parametrize("name", OURS)
def test_every_command_shows_an_example_of_itself(name):
    shown = door(name).create_parser("proofroom", name).format_help()

    assert f"example:\n  proofroom {name}" in shown


def test_every_command_of_ours_is_in_this_test():
    ours = [name for name, app in get_commands().items() if str(app) in {"benchmark", "runs", "annotation"}]

    assert sorted(ours) == sorted(OURS)


@pytest.mark.parametrize("name", [name for name in OURS if name not in {"serve", "demo"}])
def test_every_command_that_answers_takes_json(name):
    assert "--json" in door(name).create_parser("proofroom", name).format_help()


def test_a_command_that_lists_runs_loads_neither_pages_nor_tables_nor_the_api(tmp_path):
    story = (
        "import sys; sys.argv = ['proofroom', 'runs']; from proofroom.cli import main; main(); "
        "print(sorted({'ninja', 'pydantic', 'celery', 'runs.admin', 'runs.views'} & set(sys.modules)))"
    )

    told = subprocess.run(
        [sys.executable, "-c", story],
        env=os.environ | {"PROOFROOM_DATA_DIR": str(tmp_path)},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    assert told.stdout.splitlines()[-1] == "[]"


def test_launch_answers_with_the_run_and_its_trials(tmp_path):
    benchmark = make.benchmark(make.task("t1"))

    answer = document(
        *("launch", benchmark.key, "--agent", "replay", "--workspaces", replayable(tmp_path)),
        *("--repeats", "2", "--set", "threshold=1", "--rounds", "2", "--name", "=first"),
    )

    run = Run.objects.get()
    assert (answer["run"], answer["state"], answer["repeats"]) == (run.pk, "queued", 2)
    assert [
        (trial["task"], trial["repeat"], trial["state"], trial["rounds"]) for trial in answer["trials"]
    ] == [
        ("t1", 1, "queued", []),
        ("t1", 2, "queued", []),
    ]
    assert answer["settings"] == {"threshold": 1.0, "mode": "dag", "max_rounds": 2, "request": "query"}


def test_launch_warns_of_outcomes_without_a_script(tmp_path):
    benchmark = make.benchmark(make.task("t1", make.criterion("c0", outcomes=3, script=None)))

    text = said("launch", benchmark.key, "--agent", "replay", "--workspaces", replayable(tmp_path))

    assert "Note: 3 expected outcomes have no script" in text


def test_show_gives_marks_by_round_criterion_and_outcome():
    task = make.task("t1", make.criterion("c0", outcomes=2), make.criterion("c1"))
    run = judged.finished_run(make.benchmark(task), rounds=[{"c0": (Mark.PASS, Mark.FAIL)}, {}])

    answer, text = document("show", run.pk), said("show", run.pk)

    first, second = answer["trials"][0]["rounds"]
    assert first["criteria"] == {"c0": "fail", "c1": "pass"}
    assert first["outcomes"] == {"c0": ["pass", "fail"], "c1": ["pass"]}
    assert second["criteria"] == {"c0": "pass", "c1": "pass"}
    assert "  round 1: 1 pass, 1 fail" in text


def test_runs_lists_newest_first_and_narrows():
    first, second = make.run(), judged.finished_run()

    assert [fact["run"] for fact in document("runs")["runs"]] == [second.pk, first.pk]
    assert [fact["run"] for fact in document("runs", "--state", "queued")["runs"]] == [first.pk]
    assert [fact["run"] for fact in document("runs", "--limit", "1")["runs"]] == [second.pk]
    assert [fact["run"] for fact in document("runs", "--before", second.pk)["runs"]] == [first.pk]
    assert document("runs", "--benchmark", "nothing") == {"runs": []}
    assert said("runs", "--benchmark", "nothing") == "No run fits. `proofroom launch` starts one.\n"


def test_cancel_keeps_what_is_recorded_and_says_what_continues_it():
    run = make.run()

    assert document("cancel", run.pk) == {"run": run.pk, "state": "cancelled", "cancelled": True}
    assert document("cancel", run.pk) == {"run": run.pk, "state": "cancelled", "cancelled": False}
    assert Trial.objects.get().state == TrialState.CANCELLED


def test_retry_of_a_cancelled_run_opens_its_trials_again():
    run = make.run()
    said("cancel", run.pk)

    answer = document("retry", run.pk)

    assert answer == {"run": run.pk, "state": "queued", "trials": 1}
    assert Trial.objects.get().state == TrialState.QUEUED


def test_retry_leaves_an_error_for_want_of_a_script_alone():
    run = judged.finished_run(rounds=[{"c0": (Mark.ERROR,)}])
    run.trials.get().rounds.get().judgings.get().verdicts.update(reason="no_script")

    answer = document("retry", run.pk)

    assert answer == {"run": run.pk, "state": "finished", "trials": 0}


def test_rescore_says_which_numbers_changed():
    run = judged.finished_run(make.benchmark(make.task("t1", make.criterion("c0"), make.criterion("c1"))))
    assert document("rescore", run.pk)["changed"] == []
    MetricValue.objects.filter(name="task_pass_rate").update(value=0.25)

    answer = document("rescore", run.pk)

    assert answer["changed"] == ["task_pass_rate", "task_pass_rate (round 1)", "task_pass_rate (t1)"]
    assert answer["metrics"]["task_pass_rate"]["value"] == 1
    assert MetricValue.objects.filter(run=run, name="task_pass_rate", value=1).count() == 3


def test_work_without_open_runs_ends_at_once():
    judged.finished_run()

    assert document("work") == {"stopped": False}


def test_doctor_names_what_it_looked_at():
    out = StringIO()

    # A machine may lack something, which is exit 1 after the same document.
    with suppress(CommandError):
        call_command("doctor", "--json", stdout=out, stderr=StringIO())

    answer = json.loads(out.getvalue())
    assert answer["ready"] is all(finding["standing"] != "missing" for finding in answer["findings"])
    names = {finding["name"] for finding in answer["findings"]}
    assert {"Python", "Database", "Chromium", "Node.js", "Fonts", "LaTeX", "Redis"} <= names
    assert all(finding["mend"] for finding in answer["findings"] if finding["standing"] == "missing")


@pytest.mark.parametrize("name", ["show", "cancel", "retry", "rescore", "report", "export"])
@pytest.mark.parametrize("number", ["7777", "x", "-", "9" * 30, "9" * 5000, "1.5", "٣"])
def test_an_unknown_run_is_one_sentence_that_says_which_ones_there_are(name, number):
    run = judged.finished_run()

    refused = refusal(name, number)

    assert refused.returncode == 2
    assert f"There is no run {number[:40]!r}; the latest are {run.pk}." in str(refused)
    assert "\n" not in str(refused)


BAD_LAUNCHES: list[tuple[list[str], str]] = [
    (["nothing", "--agent", "replay"], "No benchmark is called 'nothing'; there are"),
    (["KEY@9", "--agent", "replay"], "No benchmark is called 'KEY@9'; there are"),
    (["KEY", "--agent", "nobody"], "Unknown code agent 'nobody'; known are: command, replay."),
    (["KEY", "--agent", "replay", "--judge", "nobody"], "'nobody'"),
    (["KEY", "--agent", "replay", "--tasks", "t1,t9"], "has no task 't9'; it has t1."),
    (["KEY", "--agent", "replay", "--tasks", ","], "No task was chosen"),
    (["KEY", "--agent", "replay", "--tasks", ""], "No task was chosen"),
    (["KEY", "--agent", "replay", "--repeats", "0"], "Repeats is 0; it takes 1 to 100."),
    (["KEY", "--agent", "replay", "--set", "threshold"], "--set 'threshold' is not "),
    (["KEY", "--agent", "replay", "--set", "=1"], "--set '=1' is not "),
    (["KEY", "--agent", "replay", "--set", "treshold=1"], "treshold"),
    (["KEY", "--agent", "replay", "--set", "threshold=much"], "much"),
    (["KEY", "--agent", "replay", "--threshold", "nan"], "nan"),
    (["KEY", "--agent", "replay", "--threshold", "1.01"], "1.01"),
    (["KEY", "--agent", "replay", "--threshold", "-0.1"], "-0.1"),
    (["KEY", "--agent", "replay", "--mode", "tree"], "tree"),
    (["KEY", "--agent", "replay", "--rounds", "0"], "0"),
    (["KEY", "--agent", "replay", "--rounds", "11"], "11"),
    (["KEY", "--agent", "replay", "--rounds", "9" * 5000], "max_rounds"),
    (["KEY", "--agent", "replay", "--set", "agent.candidat=x"], "candidat"),
    (["KEY", "--agent", "replay", "--set", "judge.tempo=x"], "tempo"),
    (["KEY", "--agent", "replay"], "--workspaces PATH"),
    (
        ["KEY", "--agent", "replay", "--workspaces", "nowhere/at/all"],
        "no recorded candidate 'nowhere/at/all'",
    ),
    (["KEY", "--agent", "command"], "Setting 'command' is empty; give a command line"),
    (["KEY", "--agent", "command", "--command", "x 'y"], "cannot be split"),
    (["KEY", "--agent", "command", "--command", "x", "--set", "agent.wall_clock=0"], "wall_clock"),
]


def test_a_marks_file_that_says_something_twice_is_refused_and_names_it(tmp_path):
    (tmp_path / "marks.json").write_text(
        '{"protocol": "asuka", "tasks": [], "rounds": [{"marks": {"c1": "pass", "c1": "fail"}}]}'
    )

    refused = refusal("score", tmp_path / "marks.json", "--protocol", "asuka")

    assert refused.returncode == 2
    assert "gives 'c1' twice in one object; keep one." in str(refused)


def test_a_name_that_no_file_can_have_is_refused():
    refused = refusal("score", "marks\0.json", "--protocol", "asuka")

    assert refused.returncode == 2
    assert "no file has such a name" in str(refused)


@pytest.mark.parametrize(("words", "expected"), BAD_LAUNCHES, ids=lambda value: str(value)[:60])
def test_a_launch_that_cannot_be_is_one_sentence_and_no_run(words, expected):
    benchmark = make.benchmark(make.task("t1"), key="key")

    refused = refusal("launch", *(word.replace("KEY", benchmark.key) for word in words))

    assert refused.returncode == 2
    assert expected.replace("KEY", benchmark.key) in str(refused)
    assert "\n" not in str(refused)
    assert len(str(refused)) < 600
    assert not Run.objects.exists()


def test_bad_input_with_json_is_a_document_with_the_sentence():
    out, err = StringIO(), StringIO()

    with pytest.raises(CommandError):
        call_command("show", "77", "--json", stdout=out, stderr=err)

    assert json.loads(out.getvalue())["error"].startswith("There is no run '77'")


@pytest.mark.parametrize("name", ["report", "export"])
def test_a_place_that_cannot_be_written_is_named(name, tmp_path):
    run = judged.finished_run()
    (tmp_path / "file").write_text("mine")

    refused = refusal(name, run.pk, "-o", tmp_path / "file" / "below")

    assert refused.returncode == 2
    assert "cannot be written" in str(refused)
    assert (tmp_path / "file").read_text() == "mine"


def test_export_refuses_a_format_that_is_not_there():
    refused = refusal("export", judged.finished_run().pk, "--format", "parquet")

    assert refused.returncode == 2
    assert "'parquet'" in str(refused)
    assert "known are: results" in str(refused)


def test_a_run_that_has_not_begun_is_reported_without_numbers():
    run = make.run()

    scores = document("report", run.pk)["runs"][str(run.pk)]

    assert scores["metrics"]["task_pass_rate"]["value"] is None
    assert scores["metrics"]["task_pass_rate"]["reason"]
    assert run.state == RunState.QUEUED
