"""Agents that break out: as root and as an ordinary user, nothing outside their box is reached."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.hostile.users import NOBODY, as_ordinary_user
from tests.whole.bench import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to look for leftovers"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bubblewrap: apt install bubblewrap"),
]

IS_SOAK = bool(os.environ.get("PROOFROOM_CHAOS"))
USERS = ("root", "ordinary")

# What each act must have tried: without a refusal an act may only have failed to begin.
REFUSED = (
    "read_another_workspace",
    "read_the_site_s_own_files",
    "read_hidden_criteria",
    "read_environments",
    "kill_by_number",
    "trace_the_keeper",
    "reach_the_site",
    "reach_the_network",
    "reach_unix_sockets",
    "link_out_of_the_workspace",
    "gain_rights",
    "mount_something",
    "touch_the_kernel",
    "change_the_clock",
    "push_the_terminal",
)
QUIET = (
    "follow_inherited_descriptors",
    "kill_by_name",
    "kill_everything",
    "daemonise",
    "bind_foreign_ports",
    "write_outside",
    "fill_shared_folders",
    "leave_a_setuid_program",
    "touch_devices",
    "delete_the_workspace",
)
# What may be tried without a box too, because it only looks.
SEEN_WITHOUT = (
    "read_another_workspace",
    "read_the_site_s_own_files",
    "read_environments",
    "reach_the_site",
    "reach_unix_sockets",
)
STUBBORN = ({"name": "ignore_the_end", "seconds": 3.0},)
STORMS: dict[str, dict[str, Any]] = {
    "fork_without_end": {"seconds": 20.0},
    "fill_the_memory": {"seconds": 120.0},
    "fill_the_memory_with_many": {"seconds": 120.0},
    "fill_the_disk": {"seconds": 240.0},
    "fill_the_disk_with_names": {"seconds": 120.0},
    "flood_the_output": {"seconds": 240.0, "more": {"flood_bytes": 5 << 30}},
}


def tried(user: str, orders: list[dict[str, Any]], *, timeout: float) -> dict[str, Any]:
    """Let agents of a user's bench try these acts; answers what came of each."""
    if user == "root" and os.geteuid() != 0:
        pytest.skip("these tests do not run as root")
    secret = f"treasure-{uuid4().hex}"
    # An ordinary user cannot enter pytest's own folders, and names of sockets are short.
    folder = Path(tempfile.mkdtemp(prefix="proofroom-hostile-", dir="/tmp"))
    argv = [
        *(sys.executable, "-m", "tests.hostile.holding"),
        *(str(folder), secret, json.dumps(orders)),
    ]
    if user == "ordinary":
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        found = as_ordinary_user(argv)
        if isinstance(found, str):
            pytest.skip(found)
        argv = found
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            cwd=ROOT,
            env=os.environ | {"DATABASE_URL": f"postgres://site:{secret}@127.0.0.1/site"},
            timeout=timeout,
            check=False,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-3000:]
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.fixture(scope="module", params=USERS)
def answers(request) -> dict[str, Any]:
    """What came of every quick act, of one user."""
    orders = [{"name": name} for name in (*REFUSED, *QUIET)] + list(STUBBORN)
    return tried(request.param, orders, timeout=600)


def check_held(answer: dict[str, Any], *, limits: list[str] | None = None) -> None:
    """Nothing outside is changed, and nothing of the agent is left."""
    assert answer["outside"] == []
    contained = answer["containment"]
    assert contained["level"] == "bubblewrap"
    assert (contained["processes_left"], contained["ports_left"], contained["files_left"]) == (0, [], [])
    if limits is not None and answer["exit"] != "timeout":
        # Where the kernel itself refuses more, an agent may go on asking until its time is over.
        assert set(contained["limits_hit"]) & set(limits)


@pytest.mark.parametrize("name", REFUSED)
def test_what_lies_outside_is_refused(answers, name):
    answer = answers[name]

    check_held(answer)
    assert answer["said"] is not None, answer
    assert answer["said"]["reached"] == []
    assert answer["said"]["refused"]


@pytest.mark.parametrize("name", QUIET)
def test_what_an_agent_does_inside_harms_nobody_outside(answers, name):
    answer = answers[name]

    check_held(answer)
    assert answer["said"] is not None, answer
    assert answer["said"]["reached"] == []


def test_an_agent_that_ignores_every_polite_signal_is_ended_at_its_limit(answers):
    answer = answers["ignore_the_end"]

    check_held(answer)
    assert answer["exit"] == "timeout"


def test_without_a_box_the_same_agents_reach_what_lies_outside():
    """Else the walls would pass for tight because nobody pushed."""
    answers = tried("ordinary", [{"name": name, "is_boxed": False} for name in SEEN_WITHOUT], timeout=300)

    for name in SEEN_WITHOUT:
        assert answers[name]["said"]["reached"], name
        assert answers[name]["outside"] or name == "read_environments"


@pytest.mark.skipif(not IS_SOAK, reason="a storm of minutes: `make soak` lets it loose")
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("fork_without_end", ["processes"]),
        ("fill_the_memory", ["memory"]),
        ("fill_the_memory_with_many", ["memory"]),
        ("fill_the_disk", ["disk"]),
        ("fill_the_disk_with_names", None),
        ("flood_the_output", None),
    ],
)
def test_a_storm_stays_in_its_box_and_ends_with_it(user, name, limits):
    answer = tried(user, [{"name": name, **STORMS[name]}], timeout=600)[name]

    check_held(answer, limits=limits)
