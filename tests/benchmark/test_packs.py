"""Packs that are wrong are refused with every problem by file and line; those that are right are read."""

from __future__ import annotations

import json
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from benchmark.packs.archive import Limits
from benchmark.packs.problems import ImportRefused
from benchmark.packs.reading import opened_pack
from tests import packs


def problems_of(path: Path, *, limits: Limits | None = None) -> list[str]:
    with pytest.raises(ImportRefused) as refused, opened_pack(path, limits=limits):
        pytest.fail("the pack was read")
    return [str(problem) for problem in refused.value.problems]


def problems_with(tmp_path: Path, **changed: str | bytes | None) -> list[str]:
    return problems_of(packs.folder(tmp_path / "pack", packs.files(**changed)))


RUBRIC = "tasks/shop/rubric.json"


def test_a_pack_is_read_with_tasks_files_and_recorded_rounds(tmp_path):
    with opened_pack(packs.folder(tmp_path / "pack")) as spec:
        task = spec.tasks[0]

        assert (spec.facts.key, spec.facts.version, spec.facts.protocol) == ("mini", "1", "asuka")
        assert spec.facts.settings == {"threshold": 0.5, "mode": "dag"}
        assert task.spec.request == "Please build a shop."
        assert task.spec.prd == "The shop has a cart."
        assert task.spec.facts == {"category": "shop"}
        assert [criterion.key for criterion in task.spec.criteria] == ["c0", "c1"]
        assert task.spec.criteria[1].needs == ("c0",)
        assert task.spec.criteria[1].outcomes[1].script is None
        assert [(file.role, file.path) for file in task.files] == [("data", "items.csv")]
        assert [(round_.candidate, round_.number) for round_ in spec.recorded] == [("ours", 1), ("ours", 2)]


@pytest.mark.parametrize("inside", ["", "mini/"])
def test_a_zip_of_the_folder_or_of_its_contents_reads_like_the_folder(tmp_path, inside):
    archive = packs.zipped(tmp_path / "pack.zip", inside=inside)

    with opened_pack(archive) as spec, opened_pack(packs.folder(tmp_path / "pack")) as same:
        assert [task.spec for task in spec.tasks] == [task.spec for task in same.tasks]


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path):
    changed = {
        "benchmark.toml": b"\xef\xbb\xbf" + packs.HEAD.encode(),
        "tasks/shop/request.md": b"\xef\xbb\xbfPlease build\r\na shop.\r\n",
        RUBRIC: b"\xef\xbb\xbf" + json.dumps(packs.RUBRIC).encode(),
    }

    with opened_pack(packs.folder(tmp_path / "pack", packs.files(**changed))) as spec:
        assert spec.tasks[0].spec.request == "Please build\na shop."


def test_what_operating_systems_and_version_control_leave_behind_is_passed_over(tmp_path):
    extra = {".DS_Store": "x", "__MACOSX/._a": "x", "tasks/shop/data/Thumbs.db": "x", ".git/config": "x",
             "README.md": "x", "LICENSE": "x", ".gitignore": "x"}  # fmt: skip

    with opened_pack(packs.folder(tmp_path / "pack", packs.files(**extra))) as spec:
        assert [file.path for file in spec.tasks[0].files] == ["items.csv"]


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ([{"key": "c9", "needs": ["c14"]}], "line 11: c9 needs c14, which does not exist."),
        ([{"key": "c1", "needs": ["c1"]}], "c1 needs itself; take c1 out of its needs."),
        ([{"key": "c1"}, {"key": "c1"}], "line 19: c1 occurs twice in this rubric; keys are there once."),
        (
            [{"key": "a", "needs": ["b"]}, {"key": "b", "needs": ["c"]}, {"key": "c", "needs": ["a"]}],
            "a needs b, which needs c, which needs a again: a cycle; take one of them out.",
        ),
        ([{"key": "c1"}, {"key": "c2", "needs": ["c1", "c1"]}], "c2 needs c1 twice; name it once."),
        ([{"key": "c1", "weight": 9}], "c1 has weight 9; a weight is a whole number from 1 to 5."),
        ([{"key": "c1", "weight": 0}], "c1 has weight 0; a weight is a whole number from 1 to 5."),
        ([{"key": "c1", "weight": 2.5}], "c1 has weight 2.5; a weight is a whole number from 1 to 5."),
        ([{"key": "c1", "weight": True}], "c1 has weight True; a weight is a whole number from 1 to 5."),
        ([{"key": "c1", "outcomes": []}], "c1 has no outcomes; give a list with at least one"),
        ([{"key": "c1", "outcomes": [{"text": " "}]}], "outcome 1 of c1 has no text."),
        ([{"key": "c1", "kind": "beauty"}], "c1 has the kind 'beauty'; protocol asuka knows presence"),
        ([{"key": "c 1"}], "the key 'c 1' is not a text of letters, digits"),
        ([{"key": 1}], "the key 1 is not a text of letters, digits"),
        ([{"title": "x"}], "criterion 1 has no key."),
        ([{"key": "c1", "wieght": 2}], "the field 'wieght' is unknown; did you mean weight?"),
        ([{"key": "c1", "needs": "c0"}], "needs of c1 is not a list of keys."),
        ([], "the rubric has no criterion; give it at least one."),
        ([{"key": "c1", "outcomes": [{"text": "T", "script": []}]}], "c1, outcome 1: has no steps"),
        ([{"key": "c1", "outcomes": [{"text": "T", "script": [{"clik": "a"}]}]}], "unknown action 'clik'"),
        ([{"key": "c1", "before": [{"goto": "http://elsewhere.example/"}]}], "c1, before, step 1"),
    ],
)  # fmt: skip
def test_each_problem_of_a_rubric_is_named_with_its_line(tmp_path, criteria, expected):
    found = problems_with(tmp_path, **{RUBRIC: packs.rubric(*criteria)})

    assert len(found) == 1
    assert found[0].startswith(f"{RUBRIC}, line ")
    assert expected in found[0]


def test_the_line_is_that_of_the_outcome_whose_script_is_malformed(tmp_path):
    text = packs.rubric(
        {"key": "c1", "outcomes": [{"text": "Fine.", "script": [{"click": "a"}]}, {"text": "T", "script": [{"x": 1}]}]}
    )  # fmt: skip

    (found,) = problems_with(tmp_path, **{RUBRIC: text})

    line = next(number for number, line in enumerate(text.split("\n"), start=1) if '"T"' in line) + 1
    assert found.startswith(f"{RUBRIC}, line {line}: c1, outcome 2, step 1: unknown action 'x'")


def test_every_problem_is_reported_at_once(tmp_path):
    found = problems_with(
        tmp_path,
        **{
            "benchmark.toml": packs.HEAD.replace("0.5", "2").replace('"dag"', '"tree"') + "colour = 1\n",
            "tasks/shop/request.md": None,
            "tasks/shop/promt.md": "x",
            RUBRIC: packs.rubric({"key": "c1", "weight": 9}, {"key": "c2", "needs": ["c3"]}),
        },
    )

    text = "\n".join(found)
    for part in (
        "threshold",
        "mode",
        "colour",
        "request.md: the file is missing",
        "promt.md",
        "weight 9",
        "c3",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('schema = "proofroom/pack/1"', 'schema = "proofroom/pack/9"', "line 1: schema is 'proofroom/pack/9'"),
        ('protocol = "asuka"', 'protocol = "asuko"', "line 5: Unknown protocol 'asuko'"),
        ("threshold = 0.5", "threshold = 1.5", "line 9: Setting 'threshold' is 1.5; it takes a number from 0 to 1"),
        ("threshold = 0.5", "treshold = 0.5", "line 9: Protocol 'asuka' has no setting 'treshold'"),
        ('version = "1"', "version = 1", "line 3: version is 1, not a text; put it in quotes."),
        ('title = "Mini"', "", "title is missing"),
        ('key = "mini"', 'key = "Mini Pack"', "line 2: key is 'Mini Pack'; it takes letters"),
        ('["shop"]', '["shop", "shop"]', "line 6: the task shop is listed twice."),
        ('["shop"]', '["shop", "bank"]', "line 6: the task bank has no folder tasks/bank."),
        ('["shop"]', '["shop"', "not TOML"),
        ('title = "Mini"', "title = 2026-01-02", "line 4: title is a date or time; put it in quotes."),
    ],
)  # fmt: skip
def test_each_problem_of_the_head_is_named_with_its_line(tmp_path, old, new, expected):
    found = problems_with(tmp_path, **{"benchmark.toml": packs.HEAD.replace(old, new)})

    assert any(line.startswith("benchmark.toml, line ") or "missing" in line for line in found)
    assert expected in "\n".join(found)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"tasks/shop/task.toml": None}, "tasks/shop/task.toml: the file is missing."),
        ({RUBRIC: None}, f"{RUBRIC}: the file is missing."),
        ({"benchmark.toml": None}, "benchmark.toml: the file is missing."),
        ({"tasks/shop/request.md": " \n"}, "the request is empty; say what is to be built."),
        ({"tasks/shop/rubrik.json": "{}"}, "belongs nowhere; did you mean rubric.json?"),
        ({"tasks/shop/date/a.csv": "x"}, "belongs nowhere; did you mean data?"),
        ({"benchmark.tml": "x"}, "belongs nowhere; did you mean benchmark.toml?"),
        ({"task/shop/request.md": "x"}, "belongs nowhere; did you mean tasks?"),
        ({"tasks/bank/request.md": "x"}, "the task is not among the tasks of benchmark.toml"),
        ({"tasks/readme.txt": "x"}, "belongs nowhere; tasks holds a folder for each task."),
        ({"tasks/shop/uploads": "x"}, "is a file; uploads is a folder of files."),
        ({"candidates/ours/shop/round_4/a": "x"}, "round_3 is missing before round_4"),
        ({"candidates/ours/bank/round_1/a": "x"}, "there is no task bank"),
        (
            {"candidates/ours/shop/index.html": "x"},
            "a candidate's files lie in candidates/<name>/<task>/round_<n>/",
        ),
        ({"candidates/ours/shop/runde_1/a": "x"}, "rounds are round_1, round_2, ..."),
        ({RUBRIC: '{"criteria": [\n{"key": "c0",}]}'}, f"{RUBRIC}, line 2: not JSON"),
        ({RUBRIC: '{"criteria": [],\n"criteria": []}'}, f"{RUBRIC}, line 2: the key 'criteria' occurs twice"),
        (
            {RUBRIC: '{"criteria":\n[{"key": "c", "weight": NaN}]}'},
            "line 2: NaN is not a number that JSON knows",
        ),
        ({RUBRIC: '{"criteria":\n[{"title": "\\u0000"}]}'}, "line 2: a text holds a NUL character"),
        ({RUBRIC: '{"criteria":\n[{"title": "\\ud800"}]}'}, "line 2: a text holds half of a surrogate pair"),
        ({RUBRIC: "[" * 100_000}, "nested too deep"),
        (
            {"tasks/shop/request.md": b"Good.\nB\xe4d."},
            "tasks/shop/request.md, line 2: the byte 0xe4 is not UTF-8",
        ),
        ({"tasks/shop/request.md": "Good".encode("utf-16")}, "the file is UTF-16; save it as UTF-8."),
        ({"tasks/shop/request.md": "a\n\0"}, "line 2: the text holds a NUL character"),
        (
            {"tasks/shop/task.toml": 'title = "x"\n[deploy]\nkind = "django"'},
            "line 3: kind is 'django'; it takes",
        ),
        (
            {"tasks/shop/task.toml": 'title = "x"\n[facts]\nd = 2026-01-01'},
            "line 3: facts.d is a date or time",
        ),
        ({"tasks/shop/data/A.csv": "x", "tasks/shop/data/a.csv": "y"}, "differs from"),
        ({"tasks/shop/data/a\\b.csv": "x"}, "the name holds a backslash"),
    ],
)
def test_each_problem_of_the_files_is_named(tmp_path, changed, expected):
    assert expected in "\n".join(problems_with(tmp_path, **changed))


def test_an_upload_that_a_script_names_must_be_there(tmp_path):
    step = {"upload": "input", "files": ["uploads/a.csv"]}
    changed = {RUBRIC: packs.rubric({"key": "c1", "outcomes": [{"text": "T", "script": [step]}]})}

    found = problems_with(tmp_path, **changed)
    with opened_pack(
        packs.folder(tmp_path / "b", packs.files(**changed, **{"tasks/shop/uploads/a.csv": "x"}))
    ) as spec:
        assert spec.tasks[0].spec.criteria[0].outcomes[0].script == (step,)

    assert "the file 'uploads/a.csv' is not among the task's uploads" in found[0]


def test_a_link_in_a_folder_is_refused(tmp_path):
    root = packs.folder(tmp_path / "pack")
    (root / "tasks/shop/data/secret").symlink_to("/etc/hostname")

    assert problems_of(root) == ["tasks/shop/data/secret: is a link; a pack holds only files and folders."]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../outside.txt", "the path leads out of the pack."),
        ("tasks/../../outside.txt", "the path leads out of the pack."),
        ("/etc/outside.txt", "the path is absolute"),
        ("C:/outside.txt", "the path is absolute"),
        ("tasks\\shop\\x.md", "the name holds a backslash"),
        ("tasks//x.md", "the path has an empty part."),
        ("tasks/a\x07.md", "the name holds a control character."),
    ],
)
def test_a_zip_cannot_write_outside_its_folder(tmp_path, name, expected):
    archive = packs.zipped(tmp_path / "pack.zip", packs.files(**{name: "x"}))

    found = problems_of(archive)

    assert len(found) == 1
    assert expected in found[0]
    assert not list(tmp_path.rglob("outside*"))


def test_links_in_a_zip_are_refused(tmp_path):
    archive = packs.zipped(tmp_path / "pack.zip")
    link = zipfile.ZipInfo("tasks/shop/data/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(link, "/etc/passwd")

    assert problems_of(archive) == ["tasks/shop/data/link: is a link; a pack holds only files and folders."]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_occur_twice_or_differ_only_in_case_are_refused(tmp_path):
    archive = packs.zipped(tmp_path / "pack.zip")
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("tasks/shop/request.md", "again")
        opened.writestr("tasks/Shop/request.md", "other")

    found = "\n".join(problems_of(archive))

    assert "tasks/shop/request.md: the zip holds this name 2 times." in found
    assert "only in case or accents" in found


def test_a_zip_bomb_is_stopped_while_it_unpacks_whatever_its_header_says(tmp_path):
    limits = Limits(file_bytes=1 << 20, total_bytes=2 << 20, ratio_from_bytes=1 << 18)
    bomb = packs.zipped(tmp_path / "bomb.zip", packs.files(**{"tasks/shop/data/x": b"\0" * (3 << 20)}))

    assert "as only a zip bomb does" in problems_of(bomb, limits=limits)[0]
    big = os.urandom(3 << 20)
    large = packs.zipped(tmp_path / "large.zip", packs.files(**{"tasks/shop/data/x": big}))
    assert "larger than 1 MiB" in problems_of(large, limits=limits)[0]
    many = packs.zipped(
        tmp_path / "many.zip", packs.files(**{f"tasks/shop/data/{n}": big[: 900_000 + n] for n in range(3)})
    )
    assert "unpacks to more than 2 MiB" in problems_of(many, limits=limits)[0]
    assert "at most 5 are read" in problems_of(bomb, limits=Limits(members=5))[0]


def test_a_size_that_the_header_makes_smaller_is_no_way_in(tmp_path):
    archive = packs.zipped(tmp_path / "pack.zip", {**packs.files(), "tasks/shop/data/x": b"\0" * 100_000})
    content = archive.read_bytes()
    forged = content.replace(struct.pack("<L", 100_000), struct.pack("<L", 10))
    archive.write_bytes(forged)

    found = problems_of(archive)

    assert "cannot be unpacked" in found[0]


def test_encrypted_damaged_and_cut_zips_are_refused(tmp_path):
    whole = packs.zipped(tmp_path / "pack.zip").read_bytes()
    cut, damaged, encrypted, text = (tmp_path / f"{n}.zip" for n in ("cut", "damaged", "encrypted", "text"))
    cut.write_bytes(whole[: len(whole) // 2])
    at = whole.index(b"PK\x03\x04") + 30 + len("benchmark.toml") + 10
    damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    flagged = bytearray(whole)
    flagged[whole.index(b"PK\x01\x02") + 8] |= 1
    encrypted.write_bytes(bytes(flagged))
    text.write_text("This is no zip.")

    assert "not a readable zip" in problems_of(cut)[0]
    assert "benchmark.toml: cannot be unpacked" in problems_of(damaged)[0]
    assert "benchmark.toml: is encrypted; pack the folder without a password." in problems_of(encrypted)
    assert "not a readable zip" in problems_of(text)[0]


def test_an_executable_file_stays_executable_through_a_zip(tmp_path):
    archive = packs.zipped(tmp_path / "pack.zip")
    info = zipfile.ZipInfo("candidates/ours/shop/round_1/start.sh")
    info.external_attr = (stat.S_IFREG | 0o755) << 16
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(info, "#!/bin/sh\n")

    with opened_pack(archive) as spec:
        assert (spec.recorded[0].folder / "start.sh").stat().st_mode & stat.S_IXUSR


def test_one_problem_is_one_sentence():
    from benchmark.packs.problems import Problem

    refused = ImportRefused(
        [Problem(file="rubric.json", line=41, text="c9 needs c14, which does not exist.")]
    )

    assert str(refused) == "Nothing was imported. rubric.json, line 41: c9 needs c14, which does not exist."
