"""What the trial page shows: changes between rounds, differences of files, evidence."""

from __future__ import annotations

import json

import pytest

from benchmark import blobs, snapshots
from benchmark.display import Look
from benchmark.rules.vocabulary import Mark
from runs.models import Evidence
from runs.pages.changes import Change, change_groups, marked_feedback
from runs.pages.diffs import FileChange, workspace_diff
from runs.pages.evidence import outcome_evidence

P, F, S = (Mark.PASS,), (Mark.FAIL,), (Mark.SKIPPED,)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (F, P, Change.FIXED),
        (P, F, Change.REGRESSED),
        (P, (Mark.PASS, Mark.FAIL), Change.REGRESSED),
        (S, F, Change.REACHED),
        (P, S, Change.UNREACHED),
        (F, F, Change.FAILING),
        (P, P, Change.UNCHANGED),
        (S, S, Change.UNCHANGED),
        ((Mark.ERROR,), P, Change.UNCHANGED),
    ],
)
def test_a_criterion_is_grouped_by_how_its_mark_moved(before, after, change):
    groups = change_groups([("c0", "Layout")], {"c0": before}, {"c0": after})

    assert [group.change for group in groups] == [change]


def test_no_criterion_is_lost_and_the_telling_groups_come_first():
    before = {"c0": P, "c1": F, "c2": S}

    groups = change_groups(
        [("c0", "a"), ("c1", "b"), ("c2", "c"), ("c3", "d")], before, {"c0": F, "c1": P, "c2": P}
    )

    assert [group.change for group in groups] == [
        Change.FIXED,
        Change.REGRESSED,
        Change.REACHED,
        Change.UNCHANGED,
    ]
    assert sum(group.count for group in groups) == 4
    assert groups[-1].criteria[0].before is Look.WAITING


def test_the_sentence_that_shares_most_words_with_a_criterion_is_marked_as_likely():
    feedback = "The search misses plants. A sixth packet goes into my basket. Please mend both."

    pieces = marked_feedback(feedback, about=["Basket refuses a sixth packet"])

    assert [piece.text.strip() for piece in pieces if piece.is_likely] == [
        "A sixth packet goes into my basket."
    ]
    assert "".join(piece.text for piece in pieces) == feedback


def test_feedback_that_shares_too_little_is_tied_to_nothing():
    pieces = marked_feedback("Everything looks odd.", about=["Basket refuses a sixth packet"])

    assert not any(piece.is_likely for piece in pieces)


def _snapshot(**files: bytes) -> str:
    return snapshots.save(
        snapshots.Snapshot(
            files=tuple(
                snapshots.SnapshotFile(
                    path=path, digest=blobs.save_bytes(content), size=len(content), executable=False
                )
                for path, content in files.items()
            )
        )
    )


def test_a_difference_names_added_changed_and_deleted_files_and_counts_the_rest():
    before = _snapshot(kept=b"same\n", changed=b"one\ntwo\n", gone=b"x\n")
    after = _snapshot(kept=b"same\n", changed=b"one\nzwei\n", fresh=b"y\n")

    diff = workspace_diff(before, after)

    assert {file.path: file.change for file in diff.files} == {
        "changed": FileChange.MODIFIED,
        "fresh": FileChange.ADDED,
        "gone": FileChange.DELETED,
    }
    assert diff.unchanged == 1
    assert diff.summary == "3 files, +2 −2"
    changed = next(file for file in diff.files if file.path == "changed")
    assert [(line.sign, line.before, line.after, line.text) for line in changed.lines] == [
        ("", 1, 1, "one"),
        ("−", 2, None, "two"),
        ("+", None, 2, "zwei"),
    ]


def test_binary_and_too_large_files_are_named_instead_of_shown():
    diff = workspace_diff("", _snapshot(picture=b"\x89PNG\0", bundle=b"x" * 300_000))

    assert {file.path: file.note for file in diff.files} == {
        "bundle": "Too large to compare here: 300 kB.",
        "picture": "Binary file.",
    }


def test_a_lost_snapshot_is_a_sentence_with_its_hash():
    diff = workspace_diff("", "ab" * 32)

    assert diff.files == ()
    assert "abababab" in diff.note


def _piece(kind: str, content: bytes, media_type: str = "application/json") -> Evidence:
    return Evidence(
        kind=kind, name=kind, media_type=media_type, digest=blobs.save_bytes(content), size=len(content)
    )


def test_the_touched_box_and_what_was_read_come_from_the_action_log():
    actions = {
        "box": {"x": 10, "y": 20, "width": 30, "height": 40},
        "window": {"width": 390, "height": 844},
        "steps": [
            {"words": "read the count", "ok": False, "ms": 3000, "reading": "6", "problem": "It was 6."}
        ],
    }

    found = outcome_evidence(
        [_piece("screenshot", b"png", "image/png"), _piece("actions", json.dumps(actions).encode())]
    )

    picture = found.pictures[0]
    assert (picture.width, picture.height, picture.is_missing) == (390, 844, False)
    assert picture.box is not None
    assert (picture.box.x, picture.box.width, picture.box.label) == (7, 36, "6")
    assert (found.steps[0].words, found.steps[0].time, found.steps[0].problem) == (
        "Read the count",
        "3.0 s",
        "It was 6.",
    )


def test_logs_say_what_was_cut_and_what_was_held_back():
    document = {"entries": [{"method": "GET", "url": "/a", "status": 404}], "cut": 1, "blocked": 2}

    log = outcome_evidence([_piece("network", json.dumps(document).encode())]).logs[0]

    assert (log.lines[0].text, log.lines[0].is_trouble) == ("404 GET /a", True)
    assert log.note == (
        "1 entry came after the limit and was counted only. 2 requests to other hosts were held back."
    )


@pytest.mark.parametrize("content", [b"", b"{not json", b"[1, 2]", b'{"steps": 3, "box": {"x": "wide"}}'])
def test_a_damaged_action_log_breaks_no_page(content):
    found = outcome_evidence([_piece("screenshot", b"png", "image/png"), _piece("actions", content)])

    assert found.steps == ()
    assert found.pictures[0].box is None


def test_a_lost_picture_is_called_missing():
    shot = Evidence(kind="screenshot", name="end.png", media_type="image/png", digest="cd" * 32, size=3)

    assert outcome_evidence([shot]).pictures[0].is_missing
