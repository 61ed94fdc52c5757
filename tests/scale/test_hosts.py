"""A worker's machine that falls silent: its trials go on elsewhere, and it never writes again."""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.scale.conftest import ScaledBench
from tests.scale.hosts import HERE, relayed, second_host, why_not
from tests.scale.test_workers import FINISHED, VERDICTS, each_verdict_once, launched
from tests.whole.published import need_chromium

pytestmark = [pytest.mark.scale, pytest.mark.slow, pytest.mark.browser]

AT_WORK = """
select 1 from runs_runevent e join runs_trial t on t.id = e.trial_id
where e.run_id = ? and e.kind = 'begin' and e.criterion = 'c1' and t.claimed_by <> ''
"""
HOLDER = "select claimed_by from runs_trial where run_id = ? and claimed_by <> ''"


@pytest.fixture
def bench(scaled: ScaledBench):
    need_chromium()
    yield scaled
    scaled.end_workers()


def test_the_trial_of_a_machine_whose_cable_was_pulled_goes_on_elsewhere_after_its_lease(bench):
    if reason := why_not():
        pytest.skip(f"{reason}; the test below does the same with a process that stands still")
    with ExitStack() as stack:
        host = stack.enter_context(second_host())
        far = {
            name: bench.environment[name].replace(
                f"127.0.0.1:{(port := urlsplit(bench.environment[name]).port)}",
                f"{HERE}:{stack.enter_context(relayed(int(port or 0)))}",
            )
            for name in ("DATABASE_URL", "REDIS_URL", "PROOFROOM_S3_ENDPOINT")
        }
        there = bench.worker(host=host, **far)
        run = launched(bench, "slow", repeats=1)
        bench.wait_for(AT_WORK, run, within=240)
        (silent,) = bench.rows(HOLDER, run)

        host.pull_the_cable()
        bench.worker()
        bench.wait_for(FINISHED, run, within=240)
        marks = bench.rows(VERDICTS, run)
        host.plug_it_in_again()
        time.sleep(3)

        assert silent[0].startswith(f"{host.name}/")
        assert marks == each_verdict_once(1, last="pass")
        assert bench.rows(VERDICTS, run) == marks
        assert there.poll() is None, bench.log()
        there.kill()
        there.wait(30)


def test_the_trial_of_a_worker_that_stands_still_goes_on_elsewhere_after_its_lease(bench):
    if not why_not():
        pytest.skip("the test above shows it with a machine of its own")
    still = bench.worker()
    run = launched(bench, "slow", repeats=1)
    bench.wait_for(AT_WORK, run, within=240)
    (before,) = bench.rows(HOLDER, run)
    try:
        os.kill(still.pid, signal.SIGSTOP)
        with psycopg.connect(bench.environment["DATABASE_URL"], autocommit=True) as database:
            # A session that stood still in the middle of a transaction would keep its locks; a machine
            # that is gone is noticed by the server's keepalive, a process that stands still is not.
            database.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'"
            )
        bench.worker()

        bench.wait_for(FINISHED, run, within=240)

        assert bench.rows(VERDICTS, run) == each_verdict_once(1, last="pass")
        assert bench.rows("select count(*) from runs_trial where claimed_by = ?", before[0]) == [(0,)]
    finally:
        os.kill(still.pid, signal.SIGCONT)
