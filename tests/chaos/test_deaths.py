"""Processes that die in the middle of judging: workers, servers, browsers, keepers."""

from __future__ import annotations

import signal
import time

import pytest

from tests.chaos.conftest import TIMES, in_soak
from tests.chaos.world import (
    BEGAN,
    FINISHED,
    check_end,
    is_browser,
    keepers_below,
    killed,
    launched,
    processes_of,
)

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_a_run_whose_worker_is_killed_ends_as_if_nothing_had_happened(bench, expected):
    run = launched(bench)
    # Twice in the soak: the second one goes on with what is already judged twice over.
    for criterion in ("c1", "c2") if TIMES else ("c1",):
        worker = bench.begun("work")
        bench.wait_for(BEGAN, run, criterion)
        worker.kill()
        worker.wait(30)
        assert bench.leftovers() == []

    assert bench.json("work") == {"stopped": False}
    check_end(bench, run, expected=expected)


@in_soak
def test_a_browser_that_is_killed_while_it_judges_is_replaced(bench, expected):
    run = launched(bench)
    worker = bench.begun("work")
    bench.wait_for(BEGAN, run, "c1")

    assert killed(processes_of(bench, is_browser)) >= 1

    assert worker.wait(120) == 0
    check_end(bench, run, expected=expected)


@in_soak
def test_a_browser_that_is_killed_again_and_again_delays_a_run_and_changes_no_mark(bench, expected):
    run = launched(bench)
    worker = bench.begun("work")
    deaths = 0
    for criterion in ("c1", "c2", "c3"):
        bench.wait_for(BEGAN, run, criterion)
        deaths += killed(processes_of(bench, is_browser))

    assert deaths >= 2
    assert worker.wait(180) == 0
    check_end(bench, run, expected=expected)


@in_soak
def test_a_server_that_is_killed_twice_leaves_nothing_and_its_successor_ends_the_run(bench, expected):
    run = launched(bench)
    for criterion in ("c1", "c2"):
        bench.serve()
        bench.wait_for(BEGAN, run, criterion)
        bench.kill()
        assert bench.leftovers() == []

    bench.serve()
    bench.wait_for(FINISHED, run)
    assert bench.stop() < 10
    check_end(bench, run, expected=expected)


@in_soak
@pytest.mark.parametrize("which", ["the-server-s", "the-judge-s", "both"])
def test_a_killed_keeper_takes_its_tree_along_and_the_trial_goes_on(bench, expected, which):
    run = launched(bench)
    worker = bench.begun("work")
    bench.wait_for(BEGAN, run, "c1")
    keepers = sorted(keepers_below(bench, worker.pid))
    assert keepers
    chosen = {"the-server-s": keepers[:1], "the-judge-s": keepers[-1:], "both": keepers}[which]

    assert killed(chosen) == len(chosen)

    assert worker.wait(240) == 0
    if bench.rows(FINISHED, run) == []:
        assert bench.json("retry", run, "--wait")["state"] == "finished"
    check_end(bench, run, expected=expected)


@in_soak
def test_workers_that_start_at_the_same_moment_share_the_trials(bench, expected):
    run = launched(bench, repeats=2)
    workers = [bench.begun("work") for _ in range(3)]

    assert [worker.wait(240) for worker in workers] == [0, 0, 0]

    bench.wait_for(FINISHED, run, within=5)
    check_end(bench, run, expected=expected, repeats=2)


@in_soak
def test_a_worker_that_stands_still_longer_than_its_lease_saves_nothing_afterwards(bench, expected):
    """A suspended machine wakes up in the belief that the trial is still its own."""
    run = launched(bench)
    first = bench.begun("work")
    bench.wait_for(BEGAN, run, "c1")
    first.send_signal(signal.SIGSTOP)
    time.sleep(11)
    second = bench.begun("work")
    bench.wait_for(FINISHED, run)

    first.send_signal(signal.SIGCONT)

    assert [first.wait(120), second.wait(120)] == [0, 0]
    check_end(bench, run, expected=expected)
