"""Previews start in the background, wait for their turn, end when idle, and say how they ended."""

import subprocess
import sys
import textwrap
import time

import pytest

from runs.adapters.deployers import Limits, LocalDeployer
from runs.adapters.machine_places import MachinePlaces
from runs.adapters.previews import PreviewState
from runs.adapters.sandboxes import ProcessSandbox, held_commands
from tests.runs.adapters.previews.one_level import OneLevel

DIES = """
    import http.server, os, threading
    def die():
        print("last words", flush=True)
        os._exit(3)
    threading.Timer(2, die).start()
    port = int(os.environ["PORT"])
    http.server.ThreadingHTTPServer(("127.0.0.1", port), http.server.SimpleHTTPRequestHandler).serve_forever()
    """


@pytest.fixture
def manage(tmp_path):
    """Make managers whose previews end with the test."""
    made = []

    def make(**options):
        deployer = LocalDeployer(
            sandbox=ProcessSandbox(), scratch=tmp_path / "s", cache=tmp_path / "c", limits=Limits(start=20)
        )
        limits = {"per_owner": 2, "at_once": 2, "idle_seconds": 60.0} | options
        made.append(OneLevel(deployer, scratch=tmp_path / "s", **limits))
        return made[-1]

    yield make
    for manager in made:
        manager.stop_all()
    assert held_commands() == 0
    assert not (tmp_path / "s").exists() or list((tmp_path / "s").iterdir()) == []


def page(text):
    return lambda folder: (folder / "index.html").write_text(text)


def until(manager, preview, state, seconds=25.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        seen = manager.find(preview.host_key)
        assert seen is not None
        if seen.state is state:
            return seen
        time.sleep(0.05)
    raise AssertionError(f"The preview is {seen.state}, not {state}: {seen.reason} {seen.log}")


def test_preview_starts_in_the_background_and_runs(manage):
    manager = manage()
    began = time.monotonic()

    preview = manager.begin(page("one"), {}, key="round 1", owner="ada")
    immediate = time.monotonic() - began
    running = until(manager, preview, PreviewState.RUNNING)

    assert immediate < 0.5
    assert preview.state is PreviewState.STARTING
    assert running.port > 0
    assert manager.of_owner("ada") == (running,)


def test_host_key_is_long_and_random(manage):
    manager = manage(at_once=1)

    keys = {manager.begin(page("x"), {}, key=str(n), owner="ada").host_key for n in range(20)}

    assert len(keys) == 20
    # 128 bits in base32 are 26 letters.
    assert all(len(key) == len("p-") + 26 for key in keys)


def test_same_key_of_the_same_owner_is_one_preview(manage):
    manager = manage()

    first = manager.begin(page("one"), {}, key="round 1", owner="ada")
    again = manager.begin(page("one"), {}, key="round 1", owner="ada")
    other = manager.begin(page("one"), {}, key="round 1", owner="bob")

    assert again.host_key == first.host_key
    assert other.host_key != first.host_key


def test_preview_beyond_the_cap_of_the_machine_waits_and_then_runs(manage):
    manager = manage(at_once=1, per_owner=5)
    first = manager.begin(page("1"), {}, key="1", owner="ada")
    second = manager.begin(page("2"), {}, key="2", owner="bob")
    third = manager.begin(page("3"), {}, key="3", owner="eve")
    until(manager, first, PreviewState.RUNNING)

    positions = [manager.find(preview.host_key).position for preview in (first, second, third)]
    manager.stop(second.host_key)
    moved_up = manager.find(third.host_key).position
    manager.stop(first.host_key)
    until(manager, third, PreviewState.RUNNING)

    assert positions == [None, 1, 2]
    assert moved_up == 1
    assert manager.find(first.host_key).state is PreviewState.STOPPED
    assert manager.find(second.host_key).state is PreviewState.STOPPED


def test_owner_at_the_cap_waits_while_another_owner_starts(manage):
    manager = manage(at_once=3, per_owner=1)
    manager.begin(page("1"), {}, key="1", owner="ada")

    mine = manager.begin(page("2"), {}, key="2", owner="ada")
    theirs = manager.begin(page("3"), {}, key="3", owner="bob")

    assert mine.state is PreviewState.QUEUED
    assert theirs.state is PreviewState.STARTING


def test_idle_preview_expires_and_a_used_one_lives_on(manage):
    manager = manage(idle_seconds=2.0)
    idle = manager.begin(page("1"), {}, key="1", owner="ada")
    used = manager.begin(page("2"), {}, key="2", owner="bob")
    until(manager, idle, PreviewState.RUNNING)
    until(manager, used, PreviewState.RUNNING)

    deadline = time.monotonic() + 10
    while manager.find(idle.host_key).state is PreviewState.RUNNING and time.monotonic() < deadline:
        manager.touch(used.host_key)
        time.sleep(0.1)

    assert manager.find(idle.host_key).state is PreviewState.EXPIRED
    assert manager.find(used.host_key).state is PreviewState.RUNNING


def test_candidate_that_does_not_start_fails_with_its_log(manage):
    manager = manage()

    preview = manager.begin(
        lambda folder: (folder / "app.py").write_text("raise RuntimeError('no database')"),
        {},
        key="1",
        owner="ada",
    )
    failed = until(manager, preview, PreviewState.FAILED)

    assert "ended with exit code 1" in failed.reason
    assert "no database" in failed.log


def test_application_that_dies_fails_with_its_last_words(manage):
    manager = manage()

    preview = manager.begin(
        lambda folder: (folder / "app.py").write_text(textwrap.dedent(DIES)), {}, key="1", owner="ada"
    )
    failed = until(manager, preview, PreviewState.FAILED)

    assert failed.reason == "The application ended by itself."
    assert "last words" in failed.log


def test_wrong_wish_of_the_task_fails_with_its_sentence(manage):
    manager = manage()

    preview = manager.begin(page("x"), {"kind": "cobol"}, key="1", owner="ada")

    assert "'cobol'" in until(manager, preview, PreviewState.FAILED).reason


def test_snapshot_that_cannot_be_restored_fails_and_frees_its_place(manage, caplog):
    manager = manage(at_once=1)

    def lost(folder):
        raise RuntimeError("blob is gone")

    first = manager.begin(lost, {}, key="1", owner="ada")
    failed = until(manager, first, PreviewState.FAILED)
    second = manager.begin(page("2"), {}, key="2", owner="ada")
    until(manager, second, PreviewState.RUNNING)

    assert "was logged" in failed.reason
    assert "blob is gone" in caplog.text


def test_stopping_while_it_starts_ends_it(manage):
    manager = manage()
    preview = manager.begin(
        lambda folder: (folder / "app.py").write_text("import time; time.sleep(60)"), {}, key="1", owner="ada"
    )
    time.sleep(0.5)

    manager.stop(preview.host_key)

    until(manager, preview, PreviewState.STOPPED, seconds=8)
    assert manager.of_owner("ada") == ()


def test_log_of_a_running_preview_can_be_read(manage):
    manager = manage()
    preview = manager.begin(
        lambda folder: (folder / "app.py").write_text("print('hello', flush=True)\n" + textwrap.dedent(DIES)),
        {"start": f"{sys.executable} app.py"},
        key="1",
        owner="ada",
    )
    until(manager, preview, PreviewState.RUNNING)

    assert "hello" in manager.log(preview.host_key)
    assert manager.log("p-unknown") == ""


def test_the_newest_of_an_owner_is_found_also_when_it_is_over(manage):
    manager = manage()
    first = manager.begin(page("one"), {}, key="set-1-1:9", owner="ada")
    manager.begin(page("two"), {}, key="set-2-1:9", owner="ada")
    manager.stop(first.host_key)

    found = manager.latest("ada", key_start="set-1-")

    assert found is not None
    assert found.host_key == first.host_key
    assert found.is_stopping
    assert manager.latest("bob", key_start="set-1-") is None
    assert manager.latest("ada", key_start="set-3-") is None


def test_what_died_is_told_from_what_never_ran(manage):
    manager = manage()
    dying = manager.begin(
        lambda folder: (folder / "server.py").write_text(textwrap.dedent(DIES)), {}, key="a", owner="ada"
    )
    broken = manager.begin(
        lambda folder: (folder / "server.py").write_text("import http.server\nraise SystemExit(2)\n"),
        {},
        key="b",
        owner="ada",
    )

    assert until(manager, dying, PreviewState.FAILED).has_run
    assert not until(manager, broken, PreviewState.FAILED).has_run


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def test_who_has_none_yet_goes_before_somebody_s_second(manage):
    manager = manage(at_once=1, per_owner=3)
    first = manager.begin(page("1"), {}, key="1", owner="ada")
    second = manager.begin(page("2"), {}, key="2", owner="ada")
    theirs = manager.begin(page("3"), {}, key="3", owner="bob")
    until(manager, first, PreviewState.RUNNING)

    positions = [manager.find(preview.host_key).position for preview in (second, theirs)]
    manager.stop(first.host_key)
    until(manager, theirs, PreviewState.RUNNING)

    assert positions == [2, 1]
    assert manager.find(second.host_key).position == 1


def test_who_closed_the_page_is_passed_over_keeps_the_turn_for_a_while_and_then_leaves_the_queue(manage):
    clock = Clock()
    manager = manage(at_once=1, per_owner=3, idle_seconds=10_000.0, clock=clock)
    first = manager.begin(page("1"), {}, key="1", owner="ada")
    away = manager.begin(page("2"), {}, key="2", owner="bob")
    there = manager.begin(page("3"), {}, key="3", owner="eve")
    until(manager, first, PreviewState.RUNNING)

    clock.now += 60
    manager.wait_for(there.host_key)
    manager.stop(first.host_key)
    until(manager, there, PreviewState.RUNNING)
    passed_over = manager.find(away.host_key)
    clock.now += 100
    manager.stop(there.host_key)
    left = until(manager, away, PreviewState.EXPIRED)

    assert (passed_over.state, passed_over.position) == (PreviewState.QUEUED, 1)
    assert left.reason == "Its page was closed while it waited, so it left the queue."


def test_who_comes_back_to_the_page_gets_the_free_place(manage):
    clock = Clock()
    manager = manage(at_once=1, idle_seconds=10_000.0, clock=clock)
    first = manager.begin(page("1"), {}, key="1", owner="ada")
    waits = manager.begin(page("2"), {}, key="2", owner="bob")
    until(manager, first, PreviewState.RUNNING)
    clock.now += 60
    manager.stop(first.host_key)
    until(manager, first, PreviewState.STOPPED)

    manager.wait_for(waits.host_key)

    until(manager, waits, PreviewState.RUNNING)


def test_several_processes_of_a_machine_share_its_places_and_a_dead_one_frees_its_own(manage, tmp_path):
    program = """
import pathlib, sys, time
from runs.adapters.machine_places import MachinePlaces
print(MachinePlaces(pathlib.Path(sys.argv[1]), most=1).take(), flush=True)
time.sleep(60)
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "places")], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline().strip().isdigit()
        manager = manage(at_once=5, places=MachinePlaces(tmp_path / "places", most=1))

        waits = manager.begin(page("1"), {}, key="1", owner="ada")
        queued = manager.find(waits.host_key)
        holder.kill()
        until(manager, waits, PreviewState.RUNNING)
    finally:
        holder.kill()
        holder.communicate()

    assert (queued.state, queued.position) == (PreviewState.QUEUED, 1)
    assert MachinePlaces(tmp_path / "places", most=1).take() is None
