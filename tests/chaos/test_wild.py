"""Code agents and candidates that take all they can get: their neighbours' numbers stay what they were."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chaos import world
from tests.chaos.conftest import in_soak
from tests.chaos.world import FINISHED, TWICE, numbers
from tests.whole import small
from tests.whole.bench import Bench

HOSTILE = Path(__file__).parents[1] / "hostile"
FLOOD_BYTES = 5 << 30
# The system's own: what a version manager puts on the PATH may not work in a box.
PYTHON = "/usr/bin/python3"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bubblewrap: apt install bubblewrap"),
    pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"no {PYTHON} for agents to be written in"),
]

DEPLOY = """\
title = "Page"

[deploy]
kind = "python"
install = []
start = ["/usr/bin/python3", "data/wild.py", "serve", "{port}"]
"""

# What an agent does beside its work, and how many seconds it gets. What it left is judged as usual.
AGENTS = {
    "fork_without_end": 10,
    "fill_the_memory": 60,
    "fill_the_disk": 120,
    "flood_the_output": 240,
    "ignore_the_end": 4,
    "bind_foreign_ports": 20,
    "kill_by_name": 20,
    "kill_everything": 20,
    "daemonise": 20,
    "link_out_of_the_workspace": 20,
    "delete_the_workspace": 20,
}
CANDIDATES = (
    "fork_without_end",
    "fill_the_memory",
    "fill_the_disk",
    "flood_the_output",
    "ignore_the_end",
    "bind_foreign_ports",
    "kill_by_name",
    "kill_everything",
)
# Those that leave their own page as it was; of the others something is left to be judged, or nothing.
HARMLESS = {
    *("ignore_the_end", "bind_foreign_ports", "kill_by_name", "daemonise"),
    *("flood_the_output", "link_out_of_the_workspace"),
}
# What these leave cannot be stored, so nobody judges it: a person decides, and no mark is given.
UNJUDGED = {"fill_the_disk": "The workspace of round 1 was not stored."}


@dataclass(frozen=True, slots=True, kw_only=True)
class Zoo:
    """A bench with a tame benchmark and two wild ones, and a treasure beside its scratch folder."""

    bench: Bench
    treasure: Path
    door: socket.socket


@pytest.fixture(scope="module")
def prepared_zoo(tmp_path_factory) -> Iterator[Zoo]:
    folder = tmp_path_factory.mktemp("zoo")
    bench = world.bench_with_pack(folder, PROOFROOM_SANDBOX="bubblewrap", PROOFROOM_WORKER_THREADS="2")
    treasure = bench.data / "treasure"
    treasure.write_text("gold")
    with socket.create_server(("127.0.0.1", 0)) as door:
        facts = {
            "pid_namespace": str(Path("/proc/self/ns/pid").readlink()),
            "names": ["manage.py", "keeper.py", "chrom", "celery"],
            "pids": [],
            "ports": [door.getsockname()[:2]],
            "own_files": [str(treasure)],
            "folders": [str(bench.data)],
            "marker": "wild-marker",
            "secret": "gold",
            "python": sys.base_prefix,
            "flood_bytes": FLOOD_BYTES,
        }
        for key in ("wild-agent", "wild-app"):
            pack = small.pack(folder, key=key, scripts=world.SCRIPTS)
            data = pack / "tasks" / "page" / "data"
            data.mkdir()
            shutil.copy(Path(__file__).with_name("wild.py"), data)
            shutil.copy(HOSTILE / "acts.py", data)
            (data / "facts.json").write_text(json.dumps(facts))
            if key == "wild-app":
                (pack / "tasks" / "page" / "task.toml").write_text(DEPLOY)
            bench.command("import", str(pack))
        yield Zoo(bench=bench, treasure=treasure, door=door)


@pytest.fixture
def zoo(prepared_zoo: Zoo) -> Iterator[Zoo]:
    """The same for every test; what a failed test left is cancelled."""
    yield prepared_zoo
    bench = prepared_zoo.bench
    bench.end_all()
    for run in bench.rows("select id from runs_run where state in ('queued', 'running')"):
        bench.command("cancel", str(run[0]))


def launched(bench: Bench, key: str, command: str, *, seconds: int) -> str:
    words = ("--agent", "command", "--command", command, "--set", f"agent.wall_clock={seconds}")
    return str(bench.json("launch", key, *words)["run"])


def check_neighbours(
    zoo: Zoo, wild: str, *, expected: world.Expected, is_harmless: bool, paused_because: str = ""
) -> None:
    """A tame run beside the wild one ends as ever; the wild one ends too, or pauses for the reason given."""
    bench = zoo.bench
    tame = world.launched(bench)

    assert bench.json("work") == {"stopped": False}

    assert bench.rows(FINISHED, tame), bench.json("show", tame)
    if paused_because:
        ((trouble,),) = bench.rows(
            "select trouble from runs_trial where run_id = ? and state = 'paused'", wild
        )
        assert paused_because in trouble
    else:
        assert bench.rows(FINISHED, wild), bench.json("show", wild)
    assert numbers(bench, tame) == expected[1]
    if is_harmless:
        assert numbers(bench, wild) == expected[1]
    assert bench.rows(TWICE) == []
    assert bench.leftovers() == []
    assert zoo.treasure.read_text() == "gold"
    assert not list(bench.data.glob("wild-marker"))


@in_soak
@pytest.mark.parametrize("act", AGENTS)
def test_an_agent_that_misbehaves_changes_no_number_of_another_run(zoo, expected, act):
    wild = launched(zoo.bench, "wild-agent", f"{PYTHON} data/wild.py agent {act}", seconds=AGENTS[act])

    check_neighbours(
        zoo,
        wild,
        expected=expected,
        is_harmless=act in HARMLESS,
        paused_because=UNJUDGED.get(act, ""),
    )


@in_soak
@pytest.mark.parametrize("act", CANDIDATES)
def test_a_candidate_that_misbehaves_changes_no_number_of_another_run(zoo, expected, act):
    wild = launched(zoo.bench, "wild-app", f"{PYTHON} data/wild.py candidate {act}", seconds=60)

    check_neighbours(zoo, wild, expected=expected, is_harmless=act in HARMLESS)
