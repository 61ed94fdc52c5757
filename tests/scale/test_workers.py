"""Celery workers on PostgreSQL and Redis: every verdict once, whatever is lost on the way."""

from __future__ import annotations

import time

import psycopg
import pytest
import redis

from tests.scale.conftest import ScaledBench
from tests.whole.published import need_chromium

pytestmark = [pytest.mark.scale, pytest.mark.slow, pytest.mark.browser]

FINISHED = "select 1 from runs_run where id = ? and state = 'finished'"
VERDICTS = """
select t.repeat, c.key, v.mark, count(*) from runs_verdict v
join runs_judging j on j.id = v.judging_id join runs_round r on r.id = j.round_id
join runs_trial t on t.id = r.trial_id
join benchmark_expectedoutcome o on o.id = v.outcome_id join benchmark_criterion c on c.id = o.criterion_id
where t.run_id = ? group by t.repeat, c.key, v.mark order by 1, 2
"""
HOLDERS = "select count(distinct claimed_by) from runs_trial where run_id = ? and claimed_by <> ''"


@pytest.fixture
def bench(scaled: ScaledBench):
    need_chromium()
    yield scaled
    scaled.end_workers()


def launched(bench: ScaledBench, key: str, *, repeats: int) -> int:
    return int(bench.json("launch", key, "--agent", "replay", "--repeats", str(repeats))["run"])


def each_verdict_once(repeats: int, *, last: str) -> list[tuple[int, str, str, int]]:
    return [
        row
        for repeat in range(1, repeats + 1)
        for row in ((repeat, "c0", "pass", 1), (repeat, "c1", last, 1))
    ]


def test_two_workers_share_a_run_and_give_each_verdict_once(bench):
    bench.worker(), bench.worker()
    run = launched(bench, "quick", repeats=4)

    bench.wait_for(FINISHED, run, within=240)

    assert bench.rows(VERDICTS, run) == each_verdict_once(4, last="fail")
    worked = bench.rows("select count(*) from runs_trial where run_id = ? and state = 'finished'", run)
    assert worked == [(4,)]
    scores = bench.json("report", str(run))["runs"][str(run)]
    assert scores["metrics"]["task_pass_rate"]["value"] == 0.5


def test_a_lost_broker_queue_and_a_killed_worker_delay_a_run_and_lose_nothing(bench):
    first, _second = bench.worker(), bench.worker()
    run = launched(bench, "slow", repeats=3)
    bench.wait_for(f"select 1 where ({HOLDERS}) = 2", run, within=120)

    with redis.Redis.from_url(bench.redis) as client:
        client.flushall()
    first.kill()

    try:
        bench.wait_for(FINISHED, run, within=300)
    except AssertionError:
        pytest.fail(bench.log())
    assert bench.rows(VERDICTS, run) == each_verdict_once(3, last="pass")


def test_a_worker_that_is_told_to_stop_lets_go_within_ten_seconds_and_leaves_nothing(bench):
    worker = bench.worker()
    run = launched(bench, "slow", repeats=1)
    bench.wait_for(
        "select 1 from runs_runevent where run_id = ? and kind = 'begin' and criterion = 'c1'", run
    )

    began = time.monotonic()
    worker.terminate()
    worker.wait(60)

    assert time.monotonic() - began < 10, bench.log()
    assert bench.leftovers() == []
    assert bench.rows("select state, claimed_by from runs_trial where run_id = ?", run) == [("running", "")]
    bench.worker()
    bench.wait_for(FINISHED, run, within=120)
    assert bench.rows(VERDICTS, run) == each_verdict_once(1, last="pass")


def test_a_broker_that_is_away_stops_no_launch_and_plain_work_needs_none(bench):
    done = bench.ran("launch", "quick", "--agent", "replay", "--json", REDIS_URL="redis://127.0.0.1:1")
    run = bench.rows("select max(id) from runs_run")[0][0]

    assert done.returncode == 0
    assert "the broker cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
    bench.command("work")
    assert bench.rows(VERDICTS, run) == each_verdict_once(1, last="fail")


def test_a_database_behind_its_migrations_is_one_sentence_that_names_the_command(bench):
    address = bench.environment["DATABASE_URL"]
    with psycopg.connect(address, autocommit=True) as server:
        server.execute("create database behind")

    done = bench.ran("runs", "--json", DATABASE_URL=f"{address.rpartition('/')[0]}/behind")

    assert done.returncode == 1
    assert "run `proofroom migrate` once, then this again." in done.stderr
    assert len(done.stderr.splitlines()) == 1
