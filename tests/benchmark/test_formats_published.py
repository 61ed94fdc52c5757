"""Published sets, read from the files as their authors published them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmark.exporting import export_pack
from benchmark.importing import ImportOptions, import_path
from benchmark.models import Benchmark, Criterion, ExpectedOutcome
from benchmark.packs.problems import ImportRefused
from benchmark.packs.published import all_formats, format_of

pytestmark = pytest.mark.django_db

SHARED = Path(__file__).parents[3] / "shared" / "data"


def published(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the published file {name} is not beside this repository")
    return path


@pytest.fixture
def webgen_line() -> dict[str, Any]:
    """A line in the form of WebGen-Bench, in our own words."""
    return {
        "id": "000001",
        "instruction": "Build a page that counts clicks.",
        "Category": {"primary_category": "Tools"},
        "application_type": "Counters",
        "ui_instruct": [
            {
                "task": "Click the button.",
                "expected_result": "The number rises by one.",
                "task_category": {"primary_category": "Functional Testing"},
            },
            {
                "task": "Look at the page.",
                "expected_result": "The background is blue.",
                "task_category": {"primary_category": "Design Validation Testing"},
            },
        ],
    }


def write_lines(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


def test_every_module_of_the_folder_is_a_format():
    assert {"webgen", "asuka_rubric", "devai"} <= set(all_formats())


def test_webgen_bench_as_published_gives_101_tasks_and_647_criteria():
    imported = import_path(published("webgen-bench/test.jsonl"))

    assert (imported.tasks, imported.criteria, imported.outcomes) == (101, 647, 647)
    assert imported.repairs == ()
    benchmark = imported.benchmark
    assert (benchmark.key, benchmark.version, benchmark.protocol) == ("webgen-bench", "1", "asuka")
    assert benchmark.settings == {"mode": "flat"}
    task = benchmark.tasks.get(key="000001").spec()
    assert [criterion.key for criterion in task.criteria] == [f"c{n}" for n in range(len(task.criteria))]
    assert task.facts["underspecified"] is False
    assert task.facts["category"]["primary_category"] == "Data Management"
    # 339 functional, 186 + 122 of the two kinds that only look.
    kinds = Counter(Criterion.objects.values_list("kind", flat=True))
    assert kinds == {"functionality": 339, "presence": 308}
    tags = Counter(tag for tags in Criterion.objects.values_list("tags", flat=True) for tag in tags)
    assert tags["Data Display Testing"] == 186
    assert set(Criterion.objects.values_list("weight", flat=True)) == {1}


def test_webgen_bench_survives_the_way_through_a_pack(tmp_path):
    first = import_path(published("webgen-bench/test.jsonl")).benchmark

    export_pack(first, tmp_path / "out.zip")
    content_hash = first.content_hash
    first.delete()
    again = import_path(tmp_path / "out.zip")

    assert (again.is_new, again.benchmark.content_hash) == (True, content_hash)
    assert again.benchmark.source == "webgen"


def test_the_published_asuka_rubric_has_16_criteria_and_51_outcomes():
    imported = import_path(published("asuka-proj34/proj_34_rubric.json"))

    assert (imported.tasks, imported.criteria, imported.outcomes) == (1, 16, 51)
    benchmark, task = imported.benchmark, imported.benchmark.tasks.get().spec()
    assert (benchmark.key, benchmark.settings) == ("asuka-proj_34", {"mode": "dag"})
    assert (task.key, sum(criterion.weight for criterion in task.criteria)) == ("proj_34", 57)
    by_key = {criterion.key: criterion for criterion in task.criteria}
    assert by_key["13"].needs == ("0", "7")
    assert by_key["15"].needs == ("0", "8")
    assert by_key["0"].kind == "presence"
    assert [repair.name for repair in imported.repairs] == ["request_from_title"]
    assert imported.repairs[0].line == 3
    assert benchmark.repairs == [repair.as_json() for repair in imported.repairs]


def test_a_request_from_a_file_completes_the_rubric_without_a_repair():
    path = published("asuka-proj34/proj_34_rubric.json")
    titled = import_path(path).benchmark

    imported = import_path(path, ImportOptions(request="Rank our suppliers.", is_strict=True))

    assert imported.repairs == ()
    assert imported.benchmark.tasks.get().request == "Rank our suppliers."
    assert imported.benchmark.version == "2"
    assert imported.notes == ("asuka-proj_34 is stored with other content; this is version 2.",)
    assert import_path(path).benchmark == titled


def test_strict_refuses_what_would_be_repaired():
    path = published("asuka-proj34/proj_34_rubric.json")

    with pytest.raises(ImportRefused, match=r"line 3: the file has no request.*--strict"):
        import_path(path, ImportOptions(is_strict=True))

    assert Benchmark.objects.count() == 0


def test_devai_as_published_gives_55_tasks_and_names_two_dropped_self_loops():
    imported = import_path(published("devai"))

    assert (imported.tasks, imported.criteria) == (55, 365)
    assert [repair.name for repair in imported.repairs] == ["self_loop_dropped"] * 2
    assert all(repair.file.startswith("45_") and repair.line for repair in imported.repairs)
    assert imported.benchmark.settings == {"mode": "dag"}
    task = imported.benchmark.tasks.get(key__startswith="45_").spec()
    assert {criterion.key: criterion.needs for criterion in task.criteria}["4"] == ("0", "2", "3")
    assert task.criteria[0].tags == ("Dataset or Environment",)
    assert len(task.facts["preferences"]) == 3
    assert imported.benchmark.tasks.all()[0].key.startswith("01_")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"id": 7}, "line 1: id is 7, not a text."),
        ({"instruction": " "}, "line 1: instruction is ' ', not a text."),
        ({"ui_instruct": []}, "line 1: ui_instruct is not a list of checks."),
        ({"ui_instruct": [{"task": "T", "expected_result": ""}]}, "line 1: check 0 has no expected_result."),
        ({"id": "a b"}, "the task 'a b' does not have a name of letters"),
    ],
)
def test_a_line_that_is_wrong_is_named_and_nothing_is_imported(tmp_path, webgen_line, change, expected):
    path = write_lines(tmp_path / "test.jsonl", webgen_line | change)

    with pytest.raises(ImportRefused) as refused:
        import_path(path)

    assert expected in str(refused.value)
    assert Benchmark.objects.count() == 0


def test_lines_that_are_no_json_or_come_twice_are_named(tmp_path, webgen_line):
    path = write_lines(tmp_path / "test.jsonl", webgen_line, "", "{broken", webgen_line)

    with pytest.raises(ImportRefused) as refused:
        import_path(path)

    assert "test.jsonl, line 3: not JSON" in str(refused.value)
    assert "test.jsonl, line 4: the id '000001' occurs twice." in str(refused.value)


@pytest.mark.parametrize(
    "scripts",
    [
        {"000001": {"c1": [[{"expect_style": "body", "property": "color", "equals": "blue"}]]}},
        {"000001/c1/0": [{"expect_style": "body", "property": "color", "equals": "blue"}]},
    ],
)
def test_scripts_from_a_file_are_added_by_outcome(tmp_path, webgen_line, scripts):
    path = write_lines(tmp_path / "test.jsonl", webgen_line)
    plain = import_path(path).benchmark
    (tmp_path / "scripts.json").write_text(json.dumps(scripts))

    imported = import_path(path, ImportOptions(scripts=tmp_path / "scripts.json"))

    assert (plain.version, imported.benchmark.version) == ("1", "2")
    given = ExpectedOutcome.objects.filter(criterion__task__benchmark=imported.benchmark)
    assert [outcome.script is not None for outcome in given.order_by("criterion__position")] == [False, True]


@pytest.mark.parametrize(
    ("scripts", "expected"),
    [
        ({"000002": {}}, None),
        ({"000002": {"c0": [None]}}, "line 2: there is no task 000002; did you mean 000001?"),
        ({"000001": {"c7": [None]}}, "line 3: 000001 has no criterion c7"),
        ({"000001": {"c0": []}}, "c0 has 0 scripts; 000001 expects 1 outcomes of it"),
        ({"000001": {"c0": [[{"clik": "x"}]]}}, "task 000001, c0, outcome 1, step 1: unknown action 'clik'"),
        ({"000001/c0/1": [{"click": "x"}]}, "c0 of 000001 has no outcome 1; they go from 0 to 0."),
        ({"000001": [1]}, '000001 is not an object {"<criterion>": [[steps], ...]}.'),
        ([1], "the file is not an object"),
    ],
)
def test_a_scripts_file_that_does_not_fit_is_refused_by_line(tmp_path, webgen_line, scripts, expected):
    path = write_lines(tmp_path / "test.jsonl", webgen_line)
    (tmp_path / "scripts.json").write_text(json.dumps(scripts, indent=1))
    options = ImportOptions(scripts=tmp_path / "scripts.json")

    if expected is None:
        import_path(path, options)
        return
    with pytest.raises(ImportRefused) as refused:
        import_path(path, options)

    assert str(refused.value).startswith("Nothing was imported. scripts.json")
    assert expected in str(refused.value)
    assert Benchmark.objects.count() == 0


def test_a_request_for_a_set_that_has_its_own_is_refused(tmp_path, webgen_line):
    path = write_lines(tmp_path / "test.jsonl", webgen_line)

    with pytest.raises(ImportRefused, match="says its own requests; leave --request out"):
        import_path(path, ImportOptions(request="Another."))


def test_devai_repairs_are_named_one_by_one(tmp_path):
    requirements = [
        {"requirement_id": 0, "criteria": "A file is there.", "prerequisites": []},
        {"requirement_id": 1, "criteria": "It is right.", "prerequisites": [1, 0, 0, 9]},
    ]
    task = {"name": "t", "query": "Do it.", "requirements": requirements}
    (tmp_path / "1.json").write_text(json.dumps(task, indent=1))

    imported = import_path(tmp_path)

    assert [repair.name for repair in imported.repairs] == [
        "self_loop_dropped",
        "repeated_prerequisite_dropped",
        "unknown_prerequisite_dropped",
    ]
    assert imported.benchmark.tasks.get().spec().criteria[1].needs == ("0",)


def test_a_cycle_in_a_published_set_is_refused(tmp_path):
    requirements = [
        {"requirement_id": 0, "criteria": "A.", "prerequisites": [1]},
        {"requirement_id": 1, "criteria": "B.", "prerequisites": [0]},
    ]
    (tmp_path / "1.json").write_text(json.dumps({"name": "t", "query": "Do.", "requirements": requirements}))

    with pytest.raises(ImportRefused, match="task t: 0 needs 1, which needs 0 again: a cycle"):
        import_path(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[1, 2]", b"{", b"[" * 50_000, b"null", b'{"project": 1, "tasks": [1]}']
)
def test_looking_for_a_format_never_fails(tmp_path, content):
    for name in ("a.json", "a.jsonl", "folder/a.json", "a.zip.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        assert format_of(path) is None
    assert format_of(tmp_path / "folder") is None
