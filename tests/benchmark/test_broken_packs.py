"""Every broken pack is refused with a sentence that names the place, and leaves no row behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from benchmark.importing import import_path
from benchmark.models import Benchmark, Criterion, ExpectedOutcome, RecordedWorkspace, Task, TaskFile
from benchmark.packs.problems import ImportRefused
from tests.fixtures.packs import broken_packs as broken

pytestmark = pytest.mark.django_db

TABLES = (Benchmark, Task, Criterion, ExpectedOutcome, TaskFile, RecordedWorkspace)
RUBRIC = f"tasks/{broken.TASK}/rubric.json, line "


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (broken.pack_with_cycle, [RUBRIC, "again: a cycle"]),
        (broken.pack_with_self_loop, [RUBRIC, "needs itself"]),
        (broken.pack_with_unknown_prerequisite, [RUBRIC, "needs nowhere, which does not exist."]),
        (broken.pack_with_duplicate_key, [RUBRIC, "occurs twice"]),
        (
            partial(broken.pack_with_weight, weight=6),
            [RUBRIC, "has weight 6; a weight is a whole number from 1 to 5"],
        ),
        (partial(broken.pack_with_weight, weight="3"), [RUBRIC, "has weight '3'"]),
        (broken.pack_with_empty_outcomes, [RUBRIC, "has no outcomes"]),
        (broken.pack_with_unknown_action, [RUBRIC, "step 2: unknown action 'teleport'"]),
        (broken.pack_without_request, ["request.md: the file is missing."]),
        (broken.pack_with_unknown_task, ["benchmark.toml, line ", "has no folder"]),
        (broken.rubric_with_syntax_error, [f"{RUBRIC}{broken.SYNTAX_ERROR_LINE}: not JSON"]),
        (broken.pack_with_round_hole, ["round_2 is missing before round_3"]),
        (broken.pack_with_other_encoding, ["request.md, line 2", "is not UTF-8"]),
        (broken.zip_with_path_outside, ["../evil.txt: the path leads out of the pack."]),
        (broken.zip_with_hidden_path_outside, ["the path leads out of the pack."]),
        (broken.zip_with_absolute_path, ["the path is absolute"]),
        (broken.zip_with_backslash, ["the name holds a backslash"]),
        (broken.zip_with_link, ["is a link; a pack holds only files and folders."]),
        (broken.zip_with_duplicate_members, ["the zip holds this name 2 times."]),
        (broken.zip_with_colliding_names, ["only in case or accents."]),
        (broken.zip_with_file_as_folder, ["is a file and a folder."]),
        (broken.zip_bomb, ["as only a zip bomb does."]),
        (broken.zip_bomb_with_false_size, ["Nothing was imported. "]),
        (broken.zip_bomb_of_overlapping_members, ["Nothing was imported"]),
        (broken.truncated_zip, ["not a readable zip"]),
        (broken.damaged_zip, ["cannot be unpacked"]),
        (broken.text_called_zip, ["not a readable zip"]),
        (broken.zip_with_many_members, ["at most 50000 are read."]),
    ],
)
def test_a_broken_pack_is_refused_with_its_place_and_leaves_no_row(
    tmp_path, make: Callable[[Path], Path], expected: list[str]
):
    path = make(tmp_path / "pack")

    with pytest.raises(ImportRefused) as refused:
        import_path(path)

    for part in expected:
        assert part in str(refused.value)
    assert [table.objects.count() for table in TABLES] == [0] * len(TABLES)
    assert not list(tmp_path.rglob("evil*"))


def test_many_problems_are_reported_together(tmp_path):
    with pytest.raises(ImportRefused) as refused:
        import_path(broken.pack_with_many_problems(tmp_path / "pack"))

    assert len(refused.value.problems) == 4
    assert len({problem.file for problem in refused.value.problems}) == 3


def test_a_pack_whose_texts_begin_with_a_byte_order_mark_is_imported(tmp_path):
    imported = import_path(broken.pack_with_byte_order_marks(tmp_path / "pack"))

    assert (imported.is_new, imported.tasks) == (True, 1)
