"""Folders of unknown origin are copied and removed without following links; left ones are tidied up."""

import subprocess
import sys

from runs.adapters.sandboxes.folders import copy_into, own_folder


def test_folder_of_a_killed_process_is_removed_and_that_of_a_living_one_stays(tmp_path):
    source = (
        "import os, sys; from pathlib import Path; "
        "from runs.adapters.sandboxes.folders import own_folder; "
        "print(own_folder(Path(sys.argv[1]), purpose='deploy'), flush=True); os._exit(1)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", source, str(tmp_path)], check=False, capture_output=True, text=True
    )
    left = tmp_path / ended.stdout.strip()
    assert left.is_dir()
    other = tmp_path / "deploy-notes"
    other.mkdir()

    mine = own_folder(tmp_path, purpose="deploy")
    again = own_folder(tmp_path, purpose="deploy")

    assert not left.exists()
    assert all(folder.is_dir() for folder in (mine, again, other))


def test_link_into_the_folder_through_a_link_out_of_it_is_left_out(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").symlink_to("../outside")
    (source / "b").symlink_to("a/secret.txt")
    (source / "loop").symlink_to("loop")

    copied = copy_into(tmp_path / "target", source)

    assert set(copied.left_out) >= {"a", "b"}
    assert not (tmp_path / "target" / "b").exists()
