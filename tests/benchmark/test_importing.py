"""An import is all of a benchmark or nothing, the same content only once, and never a change in place."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from benchmark import blobs, snapshots, taskfiles
from benchmark.curating import copy_as_new_version, hash_anew
from benchmark.exporting import ExportRefused, export_pack
from benchmark.importing import import_path, import_spec
from benchmark.models import (
    Benchmark,
    Criterion,
    ExpectedOutcome,
    Prerequisite,
    RecordedWorkspace,
    Task,
    TaskFile,
)
from benchmark.packs.problems import ImportRefused
from benchmark.packs.specs import BenchmarkFacts, FileRole, PackSpec, PackTask
from benchmark.packs.texts import tidy
from benchmark.rules.records import CriterionSpec, OutcomeSpec, TaskSpec
from tests import make, packs

pytestmark = pytest.mark.django_db

TABLES = (Benchmark, Task, Criterion, Prerequisite, ExpectedOutcome, TaskFile, RecordedWorkspace)


def rows() -> list[int]:
    return [table.objects.count() for table in TABLES]


def test_a_pack_becomes_rows_that_read_back_as_they_were(tmp_path):
    imported = import_path(packs.folder(tmp_path / "pack"))

    assert (imported.is_new, imported.tasks, imported.criteria, imported.outcomes) == (True, 1, 2, 3)
    task = imported.benchmark.tasks.get()
    spec = task.spec()
    assert [criterion.key for criterion in spec.criteria] == ["c0", "c1"]
    assert spec.criteria[1].outcomes[0].script == ({"click": "button"}, {"expect_visible": "#total"})
    assert [str(row) for row in RecordedWorkspace.objects.all()] == [
        "ours, shop, round 1",
        "ours, shop, round 2",
    ]
    assert snapshots.load(RecordedWorkspace.objects.all()[0].snapshot).files[0].path == "index.html"


def test_files_of_a_task_are_put_into_a_folder_by_role(tmp_path):
    contents = packs.files(**{"tasks/shop/uploads/deep/a.csv": "a"})
    task = import_path(packs.folder(tmp_path / "pack", contents)).benchmark.tasks.get()

    written = taskfiles.put_files(task, FileRole.DATA, tmp_path / "work" / "data")
    taskfiles.put_files(task, FileRole.UPLOADS, tmp_path / "uploads")
    none = taskfiles.put_files(task, FileRole.ATTACHMENTS, tmp_path / "attachments")

    assert written == [tmp_path / "work" / "data" / "items.csv"]
    assert written[0].read_bytes() == b"name,price\nlamp,3\n"
    assert (tmp_path / "uploads/deep/a.csv").read_text() == "a"
    assert none == []
    assert not (tmp_path / "attachments").exists()


def test_the_same_content_again_is_the_same_benchmark(tmp_path):
    first = import_path(packs.folder(tmp_path / "pack"))
    before = rows()

    again = import_path(packs.zipped(tmp_path / "pack.zip", dict(reversed(packs.files().items()))))

    assert again.benchmark == first.benchmark
    assert not again.is_new
    assert again.notes == ("mini v1 is already stored with the same content; nothing was changed.",)
    assert rows() == before


@pytest.mark.parametrize(
    "changed",
    [
        {"tasks/shop/request.md": "Please build a bank."},
        {"tasks/shop/prd.md": None},
        {"tasks/shop/data/items.csv": "name,price\n"},
        {"tasks/shop/task.toml": 'title = "Shop"\n[facts]\ncategory = "bank"'},
        {"tasks/shop/rubric.json": json.dumps(packs.RUBRIC).replace("A total.", "Two totals.")},
        {"tasks/shop/rubric.json": json.dumps(packs.RUBRIC).replace("#total", "#sum")},
        {"benchmark.toml": packs.HEAD.replace("0.5", "1.0")},
    ],
)
def test_other_content_under_the_same_version_is_refused(tmp_path, changed):
    import_path(packs.folder(tmp_path / "pack"))
    before = rows()

    with pytest.raises(ImportRefused) as refused:
        import_path(packs.folder(tmp_path / "changed", packs.files(**changed)))

    assert "mini v1 is stored with other content" in str(refused.value)
    assert "raise `version`." in str(refused.value)
    assert rows() == before


def test_a_task_that_a_run_used_is_never_changed_in_place(tmp_path):
    benchmark = import_path(packs.folder(tmp_path / "pack")).benchmark
    make.run(benchmark)
    changed = {"tasks/shop/request.md": "Please build a bank."}

    with pytest.raises(
        ImportRefused, match=r"tasks that differ: shop\) and runs rest on it; raise `version`"
    ):
        import_path(packs.folder(tmp_path / "changed", packs.files(**changed)))
    changed["benchmark.toml"] = packs.HEAD.replace('version = "1"', 'version = "2"')
    newer = import_path(packs.folder(tmp_path / "newer", packs.files(**changed)))

    assert newer.is_new
    assert benchmark.tasks.get().request == "Please build a shop."
    assert newer.benchmark.tasks.get().request == "Please build a bank."


def test_candidates_are_added_to_a_stored_benchmark_and_never_replaced(tmp_path):
    stored = import_path(packs.folder(tmp_path / "pack")).benchmark
    more = packs.files(**{"candidates/theirs/shop/round_1/index.html": "<p>Theirs</p>"})
    other = packs.files(**{"candidates/ours/shop/round_2/index.html": "<p>Other</p>"})

    added = import_path(packs.folder(tmp_path / "more", more))
    with pytest.raises(ImportRefused, match="mini v1 holds this round with other files"):
        import_path(packs.folder(tmp_path / "other", other))

    assert added.benchmark == stored
    assert "1 recorded rounds of candidates were added to it." in added.notes
    assert RecordedWorkspace.objects.count() == 3


def test_nothing_is_half_imported_when_the_last_row_fails(tmp_path):
    # Two candidates' rounds are equal but for a row that the first import already holds.
    import_path(packs.folder(tmp_path / "pack"))
    before = rows()
    files = packs.files(
        **{
            "candidates/new/shop/round_1/index.html": "<p>New</p>",
            "candidates/ours/shop/round_1/index.html": "<p>Other</p>",
        }
    )

    with pytest.raises(ImportRefused):
        import_path(packs.folder(tmp_path / "more", files))

    assert rows() == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(path.read_bytes()[:200]),
        lambda path: path.write_bytes(b"PK\x03\x04 and nothing more"),
        lambda path: _add(path, "../evil", b"x"),
        lambda path: _add(path, "tasks/shop/rubrik.json", b"x"),
        lambda path: _add(path, "candidates/ours/shop/round_9/x", b"x"),
    ],
)
def test_a_broken_zip_leaves_no_row(tmp_path, spoil):
    archive = packs.zipped(tmp_path / "pack.zip")
    spoil(archive)

    with pytest.raises(ImportRefused, match="Nothing was imported"):
        import_path(archive)

    assert rows() == [0] * len(TABLES)


def test_a_rubric_of_5000_criteria_is_imported(tmp_path):
    criteria = [
        {
            "key": f"c{number}",
            "title": f"Criterion {number}",
            "kind": "functionality",
            "weight": number % 5 + 1,
            "needs": [f"c{number - 1}"] if number % 10 else [],
            "outcomes": [
                {"text": f"Outcome {index} of {number}", "script": [{"expect_visible": f"#x{number}"}]}
                for index in range(2)
            ],
        }
        for number in range(5000)
    ]
    rubric = json.dumps({"criteria": criteria})

    imported = import_path(packs.folder(tmp_path / "p", packs.files(**{"tasks/shop/rubric.json": rubric})))

    assert (imported.criteria, imported.outcomes) == (5000, 10_000)
    assert Prerequisite.objects.count() == 4500
    assert imported.benchmark.tasks.get().spec().criteria[4999].needs == ("c4998",)


def test_a_chain_of_5000_prerequisites_that_closes_is_named_as_a_cycle(tmp_path):
    criteria = [{"key": f"c{number}", "needs": [f"c{(number + 1) % 5000}"]} for number in range(5000)]

    with pytest.raises(
        ImportRefused, match=r"c0 needs c1, .* which needs \(4992 more\), which needs c4998, .*"
    ) as refused:
        import_path(
            packs.folder(tmp_path / "p", packs.files(**{"tasks/shop/rubric.json": packs.rubric(*criteria)}))
        )

    assert len(refused.value.problems) == 1
    assert len(str(refused.value)) < 1000


def test_an_exported_pack_is_imported_as_the_same_content(tmp_path):
    benchmark = import_path(packs.folder(tmp_path / "pack")).benchmark

    for name in ("out.zip", "out"):
        export_pack(benchmark, tmp_path / name)
        again = import_path(tmp_path / name)
        assert not again.is_new
    Benchmark.objects.all().delete()
    fresh = import_path(tmp_path / "out.zip")

    assert fresh.is_new
    assert fresh.benchmark.content_hash == benchmark.content_hash
    assert RecordedWorkspace.objects.count() == 2


def test_two_exports_are_the_same_bytes(tmp_path):
    benchmark = import_path(packs.folder(tmp_path / "pack")).benchmark

    export_pack(benchmark, tmp_path / "a.zip")
    export_pack(benchmark, tmp_path / "b.zip")

    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_an_export_keeps_executable_files_and_empty_rounds(tmp_path):
    root = packs.folder(tmp_path / "pack")
    start = root / "candidates/ours/shop/round_1/start.sh"
    start.write_text("#!/bin/sh\n")
    start.chmod(0o755)
    (root / "candidates/ours/shop/round_3").mkdir()
    benchmark = import_path(root).benchmark
    snapshots_before = set(RecordedWorkspace.objects.values_list("round_number", "snapshot"))

    export_pack(benchmark, tmp_path / "out.zip")
    Benchmark.objects.all().delete()
    import_path(tmp_path / "out.zip")

    assert set(RecordedWorkspace.objects.values_list("round_number", "snapshot")) == snapshots_before


def test_an_export_never_overwrites_and_leaves_nothing_half_written(tmp_path, own_blobs):
    benchmark = import_path(packs.folder(tmp_path / "pack")).benchmark
    (tmp_path / "there").mkdir()
    (own_blobs / blobs._name(TaskFile.objects.get().digest)).unlink()

    with pytest.raises(ExportRefused, match="exists already"):
        export_pack(benchmark, tmp_path / "there")
    with pytest.raises(ExportRefused, match="not in the blob store"):
        export_pack(benchmark, tmp_path / "out")
    with pytest.raises(ExportRefused, match="does not exist; make it first"):
        export_pack(benchmark, tmp_path / "nowhere" / "out")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["pack", "there"]


def test_a_copy_as_a_new_version_has_the_same_content_and_its_own_rows(tmp_path):
    benchmark = import_path(packs.folder(tmp_path / "pack")).benchmark

    copy = copy_as_new_version(benchmark)
    second = copy_as_new_version(benchmark)

    assert (copy.version, second.version) == ("2", "3")
    assert copy.content_hash == benchmark.content_hash == hash_anew(copy)
    assert copy.tasks.get().spec() == benchmark.tasks.get().spec()
    Criterion.objects.filter(task__benchmark=copy, key="c0").update(weight=5)
    assert hash_anew(copy) != benchmark.content_hash
    assert benchmark.tasks.get().spec().criteria[0].weight == 2
    assert RecordedWorkspace.objects.count() == 6


words = some.text(
    some.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=20
)
prose = words.map(tidy).filter(bool)
keys = some.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,8}", fullmatch=True)
facts = some.recursive(
    some.booleans()
    | some.integers(-(2**53), 2**53)
    | words
    | some.floats(allow_nan=False, allow_infinity=False),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


@some.composite
def rubrics(draw: some.DrawFn) -> tuple[CriterionSpec, ...]:
    names = draw(some.lists(keys, min_size=1, max_size=5, unique=True))
    return tuple(
        CriterionSpec(
            key=name,
            title=draw(words),
            kind=draw(some.sampled_from(["presence", "functionality", "robustness"])),
            weight=draw(some.integers(1, 5)),
            # Only earlier ones are needed, so that there is no cycle.
            needs=tuple(draw(some.lists(some.sampled_from(names[:place]), unique=True))) if place else (),
            tags=tuple(draw(some.lists(words, max_size=2))),
            outcomes=tuple(
                OutcomeSpec(text=text, script=script)
                for text, script in draw(
                    some.lists(
                        some.tuples(
                            words.filter(str.strip),
                            some.none()
                            | some.just(({"click": "a", "note": "Press it"}, {"expect_hidden": "b"})),
                        ),
                        min_size=1,
                        max_size=3,
                    )
                )
            ),
        )
        for place, name in enumerate(names)
    )


@some.composite
def specs(draw: some.DrawFn) -> PackSpec:
    names = draw(some.lists(keys, min_size=1, max_size=3, unique_by=str.casefold))
    return PackSpec(
        facts=BenchmarkFacts(
            key=draw(keys),
            version=draw(keys),
            title=draw(prose),
            description=draw(prose),
            protocol="asuka",
            settings=draw(some.fixed_dictionaries({}, optional={"threshold": some.floats(0, 1), "max_rounds": some.integers(1, 10)})),
        ),
        tasks=tuple(
            PackTask(
                spec=TaskSpec(
                    key=name,
                    title=draw(prose),
                    request=draw(prose),
                    prd=draw(some.just("") | prose),
                    criteria=draw(rubrics()),
                    deploy=draw(some.just({}) | some.just({"kind": "node", "start": "npm start"})),
                    facts=draw(some.dictionaries(words, facts, max_size=3)),
                )
            )
            for name in names
        ),
    )  # fmt: skip


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(spec=specs())
def test_whatever_is_exported_is_imported_with_the_same_hash(spec, tmp_path_factory):
    folder = tmp_path_factory.mktemp("round-trip")
    Benchmark.objects.all().delete()
    first = import_spec(spec).benchmark

    for name in ("pack", "pack.zip"):
        export_pack(first, folder / name)
    stored = [task.spec() for task in first.tasks.all()]
    first.delete()
    again = import_path(folder / "pack.zip").benchmark
    same = import_path(folder / "pack")

    assert again.content_hash == first.content_hash
    assert not same.is_new
    assert [task.spec() for task in again.tasks.all()] == stored
    assert [replace(task.spec, facts={}) for task in spec.tasks] == [
        replace(task, facts={}) for task in stored
    ]


def _add(path: Path, name: str, content: bytes) -> Any:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, content)
