"""A control group is made where a parent hands on memory and pids, and tells which limit was held.

No machine of these tests lets its groups be written: a folder stands for the parent, with the kernel's files.
"""

import os

import pytest

from runs.adapters.sandboxes.cgroups import Group, enter

LIMITS = {"memory": 1000.0, "processes": 20.0, "cpu": 5.0}
OWN = b"4:memory:/old\n0::/app.slice/site.scope\n"


@pytest.fixture
def parent(tmp_path):
    folder = tmp_path / "app.slice"
    folder.mkdir()
    (folder / "cgroup.subtree_control").write_text("cpu memory pids\n")
    return folder


def test_group_is_made_beside_our_own_with_the_limits(tmp_path, parent):
    group = Group.made(LIMITS, root=str(tmp_path), own=OWN)
    assert group is not None

    made = parent / f"proofroom-{os.getpid()}"
    assert group.path == str(made)
    assert (made / "memory.max").read_text() == "1000"
    assert (made / "memory.oom.group").read_text() == "1"
    assert (made / "pids.max").read_text() == "20"
    enter(group.path)
    assert (made / "cgroup.procs").read_text() == "0"


def test_limit_that_the_kernel_held_is_told(tmp_path, parent):
    group = Group.made(LIMITS, root=str(tmp_path), own=OWN)
    assert group is not None
    assert group.hit() is None

    (parent / f"proofroom-{os.getpid()}" / "memory.events").write_text("low 0\nmax 7\noom 1\noom_kill 0\n")
    (parent / f"proofroom-{os.getpid()}" / "pids.events").write_text("max 3\n")
    assert group.hit() == {"kind": "processes", "limit": 20.0, "seen": 20.0}

    (parent / f"proofroom-{os.getpid()}" / "memory.events").write_text("low 0\nmax 7\noom 1\noom_kill 4\n")
    assert group.hit() == {"kind": "memory", "limit": 1000.0, "seen": 1000.0}


def test_group_of_a_keeper_that_was_killed_is_removed_by_the_next_one(tmp_path, parent):
    (parent / "proofroom-999999999").mkdir()
    (parent / f"proofroom-{os.getppid()}").mkdir()

    Group.made(LIMITS, root=str(tmp_path), own=OWN)

    assert not (parent / "proofroom-999999999").exists()
    assert (parent / f"proofroom-{os.getppid()}").exists()


@pytest.mark.parametrize(
    ("handed_on", "own", "limits"),
    [
        ("cpu\n", OWN, LIMITS),
        ("memory pids\n", b"4:memory:/old\n", LIMITS),
        ("memory pids\n", b"0::/\n", LIMITS),
        ("memory pids\n", b"0::/elsewhere/site.scope\n", LIMITS),
        ("memory pids\n", OWN, {}),
    ],
    ids=["not handed on", "version 1", "the root group", "not writable", "no limits"],
)
def test_elsewhere_there_is_no_group(tmp_path, parent, handed_on, own, limits):
    (parent / "cgroup.subtree_control").write_text(handed_on)

    assert Group.made(limits, root=str(tmp_path), own=own) is None
