"""Logs name no folder of this machine."""

import time

import pytest

from runs.adapters.previews.places import without_places

PLACE = "/data/bench/scratch/deploy-0123abcd-4711-a_b1c2d3"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"at {PLACE}/app/src/a.js:3:7", "at /workspace/src/a.js:3:7"),
        (f"Error({PLACE}/app)", "Error(/workspace)"),
        (f'"{PLACE}/home/.npm/x"', '"/workspace/home/.npm/x"'),
        (f"file://{PLACE}/app/x", "file:/workspace/x"),
        ("cwd=/tmp/preview-0123abcd-1-zzzzzzzz", "cwd=/workspace"),
        ("/srv/deploy-notes/readme", "/srv/deploy-notes/readme"),
        ("nothing to hide\n", "nothing to hide\n"),
    ],
)
def test_the_applications_folder_is_called_workspace(written, shown):
    assert without_places(written) == shown


@pytest.mark.parametrize("log", ["/a" * 200_000, "/deploy-0123abcd-4711-abc" * 15_000, "x" * 400_000])
def test_a_hostile_log_takes_no_longer_than_another(log):
    began = time.thread_time()

    without_places(log)

    # Quadratic work would take minutes of processor time.
    assert time.thread_time() - began < 20
