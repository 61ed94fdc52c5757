"""Browsers of a machine: as many as there are places, whichever process asks, and none lost by a death."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from runs.adapters import browser_places
from runs.adapters.browser_places import BrowserPlaces
from runs.adapters.sandboxes import spawner
from runs.errors import Cancelled

ROOT = Path(__file__).resolve().parents[3]
HOLDER = """
import sys
from pathlib import Path
from runs.adapters.browser_places import BrowserPlaces
with BrowserPlaces(Path(sys.argv[1]), most=2).hold(lambda: False):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_whoever_finds_no_place_waits_until_one_is_free(tmp_path):
    places = BrowserPlaces(tmp_path, most=1)
    second_has_one = threading.Event()

    def second() -> None:
        with places.hold(lambda: False):
            second_has_one.set()

    with places.hold(lambda: False):
        waiting = threading.Thread(target=second)
        waiting.start()
        assert browser_places.held_here() == 1
        assert not second_has_one.wait(0.5)

    assert second_has_one.wait(10)
    waiting.join()
    assert browser_places.held_here() == 0


def test_a_cancelled_run_does_not_wait_on(tmp_path):
    places = BrowserPlaces(tmp_path, most=1)

    with places.hold(lambda: False), pytest.raises(Cancelled), places.hold(lambda: True):
        pass


def test_a_killed_process_gives_its_place_back(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        places = BrowserPlaces(tmp_path, most=2)
        with ExitStack() as stack:
            stack.enter_context(places.hold(lambda: False))
            with pytest.raises(Cancelled):
                stack.enter_context(places.hold(lambda: True))
            other.kill()
            other.wait(30)

            stack.enter_context(places.hold(lambda: False))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps niceness for each thread")
def test_what_a_run_starts_gives_way_and_this_process_does_not():
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    spawner.be_nice(3)
    try:
        with spawner.spawn([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
            given = os.getpriority(os.PRIO_PROCESS, child.pid)
            child.kill()
    finally:
        spawner.be_nice(0)

    assert given == min(19, mine + 3)
    assert os.getpriority(os.PRIO_PROCESS, 0) == mine
