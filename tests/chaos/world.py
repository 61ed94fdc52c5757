"""What a disturbed run is held to: the numbers of an undisturbed one, no process left, no verdict twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.whole import small
from tests.whole.bench import Bench

type Expected = Mapping[int, dict[str, Any]]
"""Every number of an undisturbed run, by how many repeats it has."""

KEY = "chaos"
SETTINGS = {"PROOFROOM_LEASE_SECONDS": "10", "PROOFROOM_SWEEP_SECONDS": "1"}
# Two waits give a test time to step in; the last criterion fails, so that the numbers are no round ones.
SCRIPTS = {
    "c0": small.QUICK,
    "c1": [{"wait": 2500}, *small.QUICK],
    "c2": [{"wait": 2500}, *small.QUICK],
    "c3": small.ABSENT,
}
MARKS = {"c0": "pass", "c1": "pass", "c2": "pass", "c3": "fail"}

BEGAN = "select 1 from runs_runevent where run_id = ? and kind = 'begin' and criterion = ?"
FINISHED = "select 1 from runs_run where id = ? and state = 'finished'"
TWICE = "select 1 from runs_verdict group by judging_id, outcome_id, role having count(*) > 1"
VERDICTS = """
select count(*) from runs_verdict v join runs_judging j on j.id = v.judging_id
join runs_round r on r.id = j.round_id join runs_trial t on t.id = r.trial_id where t.run_id = ?
"""


def bench_with_pack(folder: Path, **environment: str) -> Bench:
    """A bench of its own in `folder` that holds the small benchmark."""
    bench = Bench(data=folder / "var", environment=SETTINGS | environment)
    bench.data.mkdir(exist_ok=True)
    bench.command("import", str(small.pack(folder, key=KEY, scripts=SCRIPTS)))
    return bench


def launched(bench: Bench, *words: str, repeats: int = 1) -> str:
    """Launch a run of the small benchmark and return its number."""
    agent = words or ("--agent", "replay")
    return str(bench.json("launch", KEY, *agent, "--repeats", str(repeats))["run"])


def numbers(bench: Bench, run: str) -> dict[str, Any]:
    """Every number that the report gives on a run."""
    found: dict[str, Any] = bench.json("report", run)["runs"][run]
    return found


def check_end(bench: Bench, run: str, *, expected: Expected, repeats: int = 1) -> None:
    """Hold a run that is over to the numbers of an undisturbed one; nothing may be left of it."""
    assert numbers(bench, run) == expected[repeats]
    assert bench.rows(TWICE) == []
    assert bench.rows(VERDICTS, run) == [(len(MARKS) * repeats,)]
    claimed = bench.rows("select id from runs_trial where run_id = ? and claimed_by <> ''", run)
    assert claimed == []
    assert bench.leftovers() == []


def processes_of(bench: Bench, wanted: Callable[[str], bool]) -> list[int]:
    """Process numbers of what works for this bench and whose whole command line is wanted."""
    found = []
    for line in bench._processes():
        pid = int(line.partition(" ")[0])
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if wanted(words):
                found.append(pid)
    return found


def is_browser(words: str) -> bool:
    """Whether a command line is that of a browser's first process; its helpers have a type."""
    return "chrom" in words and "--remote-debugging" in words and "--type=" not in words


def keepers_below(bench: Bench, *roots: int) -> list[int]:
    """The keepers that a process of this bench has started."""
    found = []
    for pid in children_of(*roots):
        with suppress(OSError):
            if b"keeper.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def children_of(*roots: int) -> list[int]:
    """The direct children of some processes."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                stat = (entry / "stat").read_text()
                if int(stat.rpartition(")")[2].split()[1]) in roots:
                    found.append(int(entry.name))
    return found


def killed(pids: list[int]) -> int:
    """Kill processes by their numbers and return how many still were there."""
    count = 0
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            count += 1
    return count
