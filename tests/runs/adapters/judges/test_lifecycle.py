"""Browser and driver die with the session, come back when they crash, and never outlive their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from benchmark.rules.vocabulary import Mark
from runs.adapters.browsers import FoundBrowser
from runs.adapters.judges.scripted.judge import ScriptedJudge
from runs.adapters.judges.scripted.work import Work
from tests.runs.adapters.judges.conftest import Site, criterion

PROC = Path("/proc")
needs_proc = pytest.mark.skipif(not PROC.is_dir(), reason="There is no /proc here to count processes with.")


@pytest.mark.browser
@pytest.mark.slow
@needs_proc
def test_no_process_is_left_after_the_session(judge: Callable[..., ScriptedJudge], site: Site):
    site.pages["/"] = "<h1>Hi</h1>"

    with judge().session(site.app, uploads=None, is_cancelled=lambda: False) as session:
        list(session.judge([criterion("c", [{"expect_visible": "h1"}])], on_start=lambda _key: None))
        started = _descendants(_child(session))
        names = {_name(pid) for pid in started}

    assert any("chrom" in name for name in names), names
    assert len(started) >= 4
    assert [pid for pid in started if _is_running(pid)] == []


@pytest.mark.browser
@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("victim", ["browser", "driver", "session"])
def test_a_crash_is_tried_again_and_the_marks_are_right(
    judge: Callable[..., ScriptedJudge], site: Site, victim: str
):
    killed: list[int] = []

    def kill_once(_path: str):
        if not killed:
            killed.append(_victim(_child(session), victim))
            os.kill(killed[0], signal.SIGKILL)
            time.sleep(0.3)
        return 200, {"Content-Type": "text/html"}, b"<h1>Hi</h1>"

    site.pages["/"] = "<h1>Hi</h1>"
    site.pages["/kill"] = kill_once
    criteria = [
        criterion("struck", [{"goto": "/kill"}, {"expect_visible": "h1"}]),
        criterion("beside", [{"wait": 500}, {"expect_visible": "h1"}], [{"expect_count": "h1", "is": 2}]),
    ]

    with judge().session(site.app, uploads=None, is_cancelled=lambda: False) as session:
        begun: list[str] = []
        verdicts = {each.key: each for each in session.judge(criteria, on_start=begun.append)}

    assert killed
    assert [each.mark for each in verdicts["struck"].outcomes] == [Mark.PASS]
    assert [each.mark for each in verdicts["beside"].outcomes] == [Mark.PASS, Mark.FAIL]
    assert sorted(begun) == ["beside", "struck"]


@pytest.mark.browser
@pytest.mark.slow
@needs_proc
def test_a_browser_that_dies_the_moment_a_criterion_begins_leaves_nobody_waiting(
    judge: Callable[..., ScriptedJudge], site: Site
):
    """Each criterion's browser dies a little later: while its context is made, its page, or its first step."""
    site.pages["/"] = "<h1>Hi</h1>"
    moments = {f"c{number}": number * 0.02 for number in range(8)}
    deaths: list[threading.Timer] = []

    def strike(key: str) -> None:
        victim = _victim(_child(session), "browser")
        deaths.append(threading.Timer(moments[key], _kill, [victim]))
        deaths[-1].start()

    with judge(concurrency=1).session(site.app, uploads=None, is_cancelled=lambda: False) as session:
        criteria = [criterion(key, [{"wait": 200}, {"expect_visible": "h1"}]) for key in moments]
        marks = {
            each.key: [outcome.mark for outcome in each.outcomes]
            for each in session.judge(criteria, on_start=strike)
        }

    assert len(deaths) == len(moments)
    assert marks == {key: [Mark.PASS] for key in moments}


@pytest.mark.browser
@pytest.mark.slow
@needs_proc
def test_what_crashes_again_and_again_is_an_error_with_its_reason(
    judge: Callable[..., ScriptedJudge], site: Site
):
    def kill(_path: str):
        os.kill(_victim(_child(session), "browser"), signal.SIGKILL)
        time.sleep(0.3)
        return 200, {}, b""

    site.pages["/"] = "<h1>Hi</h1>"
    site.pages["/kill"] = kill
    scripts = [{"expect_visible": "h1"}], [{"goto": "/kill"}, {"expect_visible": "h1"}]

    with judge(retries=1).session(site.app, uploads=None, is_cancelled=lambda: False) as session:
        verdicts = list(session.judge([criterion("c", *scripts)], on_start=lambda _key: None))

    first, second = verdicts[0].outcomes
    assert first.mark is Mark.PASS
    assert (second.mark, second.reason) == (Mark.ERROR, "browser_crashed")
    assert site.requests.count("/kill") == 2


@pytest.mark.browser
@pytest.mark.slow
@needs_proc
def test_nothing_outlives_a_parent_that_is_killed(chromium: FoundBrowser, site: Site, tmp_path: Path):
    site.pages["/"] = "<h1>Hi</h1>"
    program = tmp_path / "parent.py"
    program.write_text(_PARENT)
    root = Path(__file__).parents[4]
    with subprocess.Popen(
        [sys.executable, str(program), str(site.port), str(chromium.path), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"judging\n"
        deadline = time.monotonic() + 60
        while len(_browsers(parent.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        below = _descendants(parent.pid)

        parent.kill()

    assert len(below) >= 5
    deadline = time.monotonic() + 20
    while any(_is_running(pid) for pid in below) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [_name(pid) for pid in below if _is_running(pid)] == []


def test_suspects_of_a_crash_are_tried_one_by_one():
    work = Work([criterion(key, [{"wait": 0}]) for key in "abcd"], retries=1)

    assert [each.key for each in work.to_send()] == ["a", "b", "c", "d"]
    work.begin("a")
    work.begin("b")
    assert work.lost() == []
    assert [each.key for each in work.to_send()] == ["a"]
    assert work.to_send() == []
    work.begin("a")
    assert [each.key for each in work.lost()] == ["a"]
    assert [each.key for each in work.to_send()] == ["b"]
    assert work.finish("b")
    assert not work.finish("b")
    assert [each.key for each in work.to_send()] == ["c", "d"]


_PARENT = """
import sys
from pathlib import Path
from typing import Any
from benchmark.rules.records import CriterionSpec, OutcomeSpec
from runs.adapters.browsers import FoundBrowser
from runs.adapters.judges.scripted.judge import ScriptedJudge
from runs.ports import DeploymentReport, RunningApp

port, chromium, scratch = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
app = RunningApp(address=f"http://127.0.0.1:{port}", port=port, server_log=lambda: "", is_alive=lambda: True,
                 report=DeploymentReport(kind=None, healthy=True))
script = ({"wait": 10000},) * 5
criterion = CriterionSpec(key="c", kind="presence", outcomes=(OutcomeSpec(text="", script=script),))
with ScriptedJudge(browser=FoundBrowser(path=chromium), scratch=scratch).session(
    app, uploads=None, is_cancelled=lambda: False
) as session:
    list(session.judge([criterion], on_start=lambda _key: print("judging", flush=True)))
"""


def _child(session: Any) -> int:
    return int(session._child.pid)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _victim(session: int, kind: str) -> int:
    if kind == "session":
        return session
    below = [pid for pid in _descendants(session) if pid != session]
    sign = {"browser": "chrom", "driver": "node"}[kind]
    return next(pid for pid in below if sign in _name(pid))


def _browsers(ancestor: int) -> list[int]:
    return [pid for pid in _descendants(ancestor) if "chrom" in _name(pid)]


def _descendants(ancestor: int) -> list[int]:
    """Return a process and everything below it, parents first."""
    children: dict[int, list[int]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found, waiting = [], [ancestor]
    while waiting:
        pid = waiting.pop(0)
        found.append(pid)
        waiting.extend(sorted(children.get(pid, ())))
    return found


def _stat(pid: int) -> list[str]:
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return []
    return text[text.rindex(")") + 2 :].split()


def _is_running(pid: int) -> bool:
    fields = _stat(pid)
    return bool(fields) and fields[0] not in {"Z", "X"}


def _name(pid: int) -> str:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().partition(b"\0")[0].decode()
    except OSError:
        return ""
