"""Whatever file somebody brings, it is taken or refused in words: no traceback, and an end in good time."""

from __future__ import annotations

import json
import os
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from runs.models import Run
from tests import make, packs
from tests.fuzz.mutations import as_json, mutated, spoilt, zip_of
from tests.runs import judged

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:Duplicate name")]

MINUTES = float(os.environ.get("PROOFROOM_FUZZ_MINUTES", "0"))
EXAMPLES = 12
READERS = 9
"""How many readers share the minutes."""

# What one small file may take: far more than any does, far less than a reader that never ends.
MOST_SECONDS = 30.0
MOST_BYTES = 1 << 30

RUBRIC = {
    "project": "proj_1",
    "title": "Shop",
    "tasks": [
        {
            "id": "0",
            "title": "Cart",
            "type": "presence",
            "weight": 2,
            "criteria": ["A cart.", "A total."],
            "dependencies": [],
        },
        {
            "id": "1",
            "title": "Sum",
            "type": "functionality",
            "weight": 1,
            "criteria": ["It adds."],
            "dependencies": ["0"],
        },
    ],
}
WEBGEN = {
    "id": "000001",
    "instruction": "Build a page that counts clicks.",
    "Category": {"primary_category": "Tools"},
    "application_type": "Counters",
    "ui_instruct": [
        {
            "task": "Click the button.",
            "expected_result": "The number rises.",
            "task_category": {"primary_category": "Functional Testing"},
        }
    ],
}
DEVAI = {
    "name": "01_counter",
    "query": "Build a counter.",
    "tags": ["Tools"],
    "requirements": [
        {
            "requirement_id": 0,
            "prerequisites": [],
            "criteria": "It counts.",
            "category": "Other",
            "satisfied": None,
        },
        {
            "requirement_id": 1,
            "prerequisites": [0],
            "criteria": "It saves.",
            "category": "Other",
            "satisfied": None,
        },
    ],
    "preferences": [{"preference_id": 0, "criteria": "It is quick.", "satisfied": None}],
}
RESULTS = {
    "schema": "proofroom/results/1",
    "source": {"kind": "person", "name": "anna"},
    "task": "t1",
    "round": 1,
    "criteria": [
        {
            "key": "c0",
            "outcomes": [
                {"index": 0, "text": "c0 does thing 0", "mark": "pass", "note": "Fine."},
                {"index": 1, "text": "c0 does thing 1", "mark": "fail"},
            ],
        },
        {"key": "c1", "outcomes": [{"index": 0, "text": "c1 does thing 0", "mark": None}]},
    ],
}
BARE = {"passed": ["c0"], "failed": [{"key": "c1", "reason": "No."}], "skipped": []}
MARKS = {
    "protocol": "asuka",
    "settings": {"threshold": 0.5, "mode": "dag"},
    "tasks": [
        {
            "key": "t1",
            "criteria": [{"key": "c0", "kind": "presence", "weight": 2, "needs": [], "outcomes": 2}],
        }
    ],
    "rounds": [{"task": "t1", "round": 1, "marks": {"c0": ["pass", "fail"]}}],
}
SCRIPTS = {"000001": {"c0": [[{"click": "button"}, {"expect_visible": "h1"}]]}}
ROWS = [
    {"unit": f"u{unit}", "rater": rater, "label": label, "cluster": f"p{unit % 2}", "kind": "visual"}
    for unit, (first, second) in enumerate((("pass", "fail"), ("fail", "fail"), ("pass", "pass")))
    for rater, label in (("judge", first), ("ann", second))
]
CSV = "unit,rater,label,cluster,kind\n" + "".join(",".join(map(str, row.values())) + "\n" for row in ROWS)


@pytest.fixture
def run() -> Run:
    task = make.task("t1", make.criterion("c0", outcomes=2), make.criterion("c1"))
    return judged.finished_run(make.benchmark(task))


def fuzzed(one: Callable[[Random, Path], None], folder: Path) -> None:
    """Let `one` try examples: a few of always the same, or new ones until its share of the minutes is over."""
    until = time.monotonic() + MINUTES * 60 / READERS
    numbers = count(1)

    def tried(start: int) -> None:
        @seed(start)
        @hypothesis_settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(dice=st.randoms(use_true_random=False, note_method_calls=False))
        def example(dice: Random) -> None:
            place = folder / f"example-{next(numbers)}"
            place.mkdir()
            with _bounded(place.name), transaction.atomic():
                one(dice, place)
                transaction.set_rollback(True)
            shutil.rmtree(place)

        example()

    tried(0)
    for start in count(1):
        if time.monotonic() >= until:
            return
        tried(start)


@contextmanager
def _bounded(name: str) -> Iterator[None]:
    began, held = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held) << 10
    assert time.process_time() - began < MOST_SECONDS, f"example {name} took too long"
    assert grown < MOST_BYTES, f"example {name} took {grown >> 20} MiB"


def said(*words: object) -> None:
    """Run a command that succeeds, or ends with exit 2 and a sentence."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*map(str, words), stdout=out, stderr=err)
    except CommandError as error:
        refused = error
    else:
        return
    sentence = str(refused)
    assert refused.returncode == 2, sentence
    assert sentence.strip(), words
    assert "Traceback" not in sentence
    assert " object at 0x" not in sentence


def test_a_pack_as_a_folder_is_taken_or_refused_in_words(tmp_path):
    def one(dice: Random, folder: Path) -> None:
        said("import", packs.folder(folder / "pack", _spoilt_pack(dice)))

    fuzzed(one, tmp_path)


def test_a_zip_is_taken_or_refused_in_words_and_nothing_is_written_elsewhere(tmp_path):
    def one(dice: Random, folder: Path) -> None:
        contents = _spoilt_pack(dice) if dice.random() < 0.3 else packs.files()
        (folder / "pack.zip").write_bytes(zip_of(contents, dice))
        said("import", folder / "pack.zip")
        assert [path.name for path in folder.iterdir()] == ["pack.zip"]

    fuzzed(one, tmp_path)


@pytest.mark.parametrize(
    ("name", "document", "words"),
    [
        ("rubric.json", RUBRIC, ("--format", "asuka_rubric")),
        ("test.jsonl", WEBGEN, ("--format", "webgen")),
        ("01_counter.json", DEVAI, ("--format", "devai")),
    ],
    ids=["asuka_rubric", "webgen", "devai"],
)
def test_a_published_set_is_taken_or_refused_in_words(tmp_path, name, document, words):
    def one(dice: Random, folder: Path) -> None:
        lines = [_written(document, dice) for _ in range(dice.choice((1, 1, 2)))]
        content = b"\n".join(line.replace(b"\n", b" ") for line in lines) if name.endswith("l") else lines[0]
        (folder / name).write_bytes(content)
        given = words if dice.random() < 0.7 else ()
        if name.endswith("l") and dice.random() < 0.3:
            (folder / "scripts.json").write_bytes(_written(SCRIPTS, dice))
            given = (*given, "--scripts", folder / "scripts.json")
        said("import", folder / name, *given)

    fuzzed(one, tmp_path)


@pytest.mark.parametrize("kind", ["labels", "verdicts"])
def test_marks_of_elsewhere_are_taken_or_refused_in_words(tmp_path, run, kind):
    def one(dice: Random, folder: Path) -> None:
        document = RESULTS if dice.random() < 0.7 else BARE
        content = _written(document, dice)
        if dice.random() < 0.3:  # JSON lines
            path = folder / "marks.jsonl"
            content = b"\n".join(_written(document, dice).replace(b"\n", b" ") for _ in range(3))
        else:
            path = folder / "t1" / "theirs" / "round_1" / "eval_step3_results.json"
            path.parent.mkdir(parents=True)
        path.write_bytes(content)
        if dice.random() < 0.3:
            zipped = folder / "marks.zip"
            zipped.write_bytes(zip_of({path.relative_to(folder).as_posix(): content}, dice))
            path = zipped
        where = path if path.suffix != ".json" else folder
        said(
            "import", where, "--as", kind, "--run", run.pk, "--rater" if kind == "labels" else "--judge", "x"
        )

    fuzzed(one, tmp_path)


def test_a_file_of_ratings_is_taken_or_refused_in_words(tmp_path):
    def one(dice: Random, folder: Path) -> None:
        match dice.randrange(3):
            case 0:
                content = _spoilt_csv(dice)
            case 1:
                rows = mutated(ROWS, dice, times=dice.choice((0, 1, 2)))
                rows = rows if isinstance(rows, list) else [rows]
                content = b"\n".join(as_json(row, dice).replace(b"\n", b" ") for row in rows)
            case _:
                content = _written({"ratings": ROWS, "labels": ["fail", "pass"]}, dice)
        if dice.random() < 0.3:
            content = spoilt(content, dice)
        (folder / "ratings").write_bytes(content)
        numeric = ("--numeric",) if dice.random() < 0.2 else ()
        said("agreement", folder / "ratings", "--resamples", 20, "--json", *numeric)

    fuzzed(one, tmp_path)


def test_a_file_of_marks_is_scored_or_refused_in_words(tmp_path):
    def one(dice: Random, folder: Path) -> None:
        (folder / "marks.json").write_bytes(_written(MARKS, dice))
        said("score", folder / "marks.json", "--protocol", "asuka", "--json")

    fuzzed(one, tmp_path)


def _written(document: Any, dice: Random) -> bytes:
    content = as_json(mutated(document, dice, times=dice.choice((0, 1, 1, 2, 4))), dice)
    return spoilt(content, dice) if dice.random() < 0.25 else content


def _spoilt_pack(dice: Random) -> dict[str, bytes]:
    contents = packs.files()
    for _ in range(dice.choice((1, 1, 2, 3))):
        name = dice.choice(list(contents))
        if name.endswith(".json") and dice.random() < 0.7:
            contents[name] = as_json(mutated(json.loads(packs.files()[name]), dice, times=2), dice)
        elif dice.random() < 0.15:
            del contents[name]
            contents = contents or packs.files()
        elif name.endswith(".toml") and dice.random() < 0.6:
            contents[name] = _spoilt_lines(contents[name], dice)
        else:
            contents[name] = spoilt(contents[name], dice)
    return contents


def _spoilt_lines(content: bytes, dice: Random) -> bytes:
    lines = content.split(b"\n")
    at = dice.randrange(len(lines))
    key = lines[at].partition(b"=")[0].strip() or b"key"
    values = (
        b'""',
        b"1",
        b"[]",
        b"{}",
        b"nan",
        b"1979-05-27",
        b'"\\u0000"',
        b'["shop", "shop"]',
        b"0xFFFFFFFFFFFFFFFFFFFF",
        b"",
        b"= =",
    )
    match dice.randrange(3):
        case 0:
            lines[at] = key + b" = " + dice.choice(values)
        case 1:
            del lines[at]
        case _:
            lines.insert(at, lines[dice.randrange(len(lines))])
    return b"\n".join(lines)


def _spoilt_csv(dice: Random) -> bytes:
    rows = [line.split(",") for line in CSV.splitlines()]
    for _ in range(dice.choice((0, 1, 2, 4))):
        row = dice.choice(rows)
        at = dice.randrange(len(row)) if row else 0
        match dice.randrange(4):
            case 0 if row:
                row[at] = dice.choice(
                    ("", " ", '"', "\0", "1e999", "nan", "-1", "x" * 70_000, "é", "=1+1", "\n")
                )
            case 1 if row:
                del row[at]
            case 2:
                row.insert(at, "more")
            case _:
                rows.append(list(row))
    return "\n".join(dice.choice((",", ",", ",", ";")).join(row) for row in rows).encode()
