"""The doors `proofroom import` and `proofroom pack`, called as a person or a script calls them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from benchmark.models import Benchmark
from tests import packs

ROOT = Path(__file__).parents[2]


def answer(*words: object) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def refusal(*words: object) -> CommandError:
    with pytest.raises(CommandError) as refused:
        call_command(*map(str, words), stdout=StringIO(), stderr=StringIO())
    return refused.value


@pytest.mark.django_db
def test_import_answers_with_counts_in_words(tmp_path):
    said = answer("import", packs.folder(tmp_path / "pack"))

    assert said.startswith("Imported mini v1 (content ")
    assert "1 tasks, 2 criteria, 3 expected outcomes." in said


@pytest.mark.django_db
def test_import_answers_with_one_json_document(tmp_path):
    document = json.loads(answer("import", packs.folder(tmp_path / "pack"), "--json"))

    benchmark = Benchmark.objects.get()
    assert {name: document[name] for name in ("benchmark", "tasks", "criteria", "outcomes", "problems", "repairs")} == {
        "benchmark": "mini", "tasks": 1, "criteria": 2, "outcomes": 3, "problems": [], "repairs": []
    }  # fmt: skip
    assert (document["version"], document["hash"], document["id"]) == (
        "1",
        benchmark.content_hash,
        benchmark.pk,
    )


@pytest.mark.django_db
def test_a_refused_pack_answers_with_every_problem(tmp_path):
    pack = packs.folder(tmp_path / "pack", packs.files(**{"tasks/shop/request.md": None, "x.txt": "x"}))
    out = StringIO()

    with pytest.raises(CommandError) as refused:
        call_command("import", str(pack), "--json", stdout=out, stderr=StringIO())

    document = json.loads(out.getvalue())
    assert refused.value.returncode == 2
    assert document["benchmark"] is None
    assert [problem["file"] for problem in document["problems"]] == ["tasks/shop/request.md", "x.txt"]
    assert str(refused.value).startswith("Nothing was imported: 2 problems.\n")
    assert Benchmark.objects.count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nowhere"], "nowhere does not exist"),
        (
            ["PACK", "--format", "webgun"],
            "Unknown format 'webgun'; known are pack, asuka_rubric, devai, webgen.",
        ),
        (["PACK", "--protocol", "asuko"], "Unknown protocol 'asuko'"),
        (["PACK", "--protocol", "asuka"], "--protocol completes a published set; a pack says this itself."),
        (["PACK", "--scripts", "nowhere.json"], "--scripts nowhere.json is not a file"),
        (["PACK", "--request", "nowhere.md"], "--request nowhere.md is not a file"),
        (["PACK", "--as", "verdicts"], "--run is missing"),
        (["PACK", "--as", "labels", "--run", "1"], "There is no run '1'; none was launched yet."),
        (["PACK", "--as", "trajectory"], "--as trajectory is not there yet"),
        (["PACK", "--as", "poems"], "--as 'poems' is unknown; known are verdicts, labels."),
        (["PACK", "--run", "1"], "--run goes with --as"),
        (["PACK/tasks/shop"], "shop is no pack (it has no benchmark.toml)"),
        (["PACK/tasks/shop/request.md"], "request.md is no pack"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(tmp_path, words, expected):
    pack = packs.folder(tmp_path / "pack")

    refused = refusal("import", *(word.replace("PACK", str(pack)) for word in words))

    assert refused.returncode == 2
    assert expected in str(refused)
    assert "\n" not in str(refused)
    assert Benchmark.objects.count() == 0


@pytest.mark.django_db
def test_a_stored_benchmark_is_packed_again(tmp_path):
    call_command("import", str(packs.folder(tmp_path / "pack")), stdout=StringIO())

    document = json.loads(answer("pack", "mini@1", "-o", tmp_path / "out.zip", "--json"))
    unknown = refusal("pack", "maxi", "-o", tmp_path / "x.zip")

    assert document["files"] == 8
    assert (tmp_path / "out.zip").is_file()
    assert unknown.returncode == 2
    assert "No benchmark is called 'maxi'; there are mini@1" in str(unknown)


def test_a_first_command_makes_the_database_and_speaks_json_alone(tmp_path):
    pack = packs.folder(tmp_path / "pack")
    data = tmp_path / "var"
    environment = {**os.environ, "PROOFROOM_DATA_DIR": str(data)}
    environment.pop("DATABASE_URL", None)

    def proofroom(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )  # fmt: skip

    first = proofroom("import", str(pack), "--json")
    (pack / "extra.txt").write_text("x")
    second = proofroom("import", str(pack))
    usage = proofroom("import", "--help")

    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["criteria"] == 2
    assert second.returncode == 2
    assert second.stdout == ""
    assert second.stderr.startswith("Nothing was imported. extra.txt: belongs nowhere;")
    assert usage.returncode == 0
    assert "example:" in usage.stdout
