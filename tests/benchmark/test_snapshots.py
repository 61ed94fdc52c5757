"""A snapshot is a folder as it was: named by its content, put back exactly, never leading outside."""

from __future__ import annotations

import json
import os

import pytest

from benchmark import blobs, snapshots


def test_a_folder_is_put_back_as_it_was(tmp_path):
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "page.html").write_text("<h1>Shop</h1>")
    (source / "start.sh").write_text("#!/bin/sh\n")
    (source / "start.sh").chmod(0o755)

    digest = snapshots.take(source)
    snapshots.restore(digest, tmp_path / "again")

    assert (tmp_path / "again/deep/page.html").read_text() == "<h1>Shop</h1>"
    assert os.access(tmp_path / "again/start.sh", os.X_OK)
    assert not os.access(tmp_path / "again/deep/page.html", os.X_OK)
    assert snapshots.take(tmp_path / "again") == digest


def test_a_name_that_is_no_text_is_left_out_and_told_in_escapes(tmp_path):
    (tmp_path / "index.html").write_text("x")
    for name in (b"caf\xe9.txt", b"b\xe9/inside.txt"):
        path = tmp_path / os.fsdecode(name)
        path.parent.mkdir(exist_ok=True)
        try:
            path.write_text("x")
        except OSError:
            pytest.skip("this file system takes UTF-8 names alone")

    stored = snapshots.load(snapshots.take(tmp_path))

    assert [file.path for file in stored.files] == ["index.html"]
    assert stored.left_out == (r"b\xe9: its name is no UTF-8", r"caf\xe9.txt: its name is no UTF-8")


def test_one_changed_byte_is_another_snapshot(tmp_path):
    (tmp_path / "a").write_text("1")
    before = snapshots.take(tmp_path)

    (tmp_path / "a").write_text("2")

    assert snapshots.take(tmp_path) != before


def test_links_and_what_can_be_made_again_are_left_out_and_named(tmp_path):
    (tmp_path / "node_modules" / "x").mkdir(parents=True)
    (tmp_path / "node_modules" / "x" / "i.js").write_text("x")
    (tmp_path / "secret").symlink_to("/etc/passwd")
    (tmp_path / "page.html").write_text("x")
    os.mkfifo(tmp_path / "pipe")

    snapshot = snapshots.load(snapshots.take(tmp_path))

    assert [file.path for file in snapshot.files] == ["page.html"]
    assert set(snapshot.left_out) == {
        "node_modules: can be made again",
        "secret: link",
        "pipe: not a regular file",
    }


def test_a_folder_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "MOST_FILES", 2)
    for name in "abc":
        (tmp_path / name).write_text(name)

    with pytest.raises(snapshots.SnapshotTooLarge, match="more than 2 files"):
        snapshots.take(tmp_path)


@pytest.mark.parametrize("path", ["../evil", "/evil", "a/../../evil", ""])
def test_a_manifest_cannot_write_outside_its_folder(tmp_path, path):
    blob = blobs.save_bytes(b"x")
    manifest = {"schema": "proofroom/snapshot/1", "files": [[path, blob, 1, False]], "left_out": []}
    digest = blobs.save_bytes(json.dumps(manifest).encode())

    with pytest.raises(ValueError, match="a path outside its folder"):
        snapshots.restore(digest, tmp_path / "in")

    assert not (tmp_path / "evil").exists()
