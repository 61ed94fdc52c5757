"""Celery workers whose worker, broker or database dies in the middle, and rings that come twice or never."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
import redis

from tests.chaos import world
from tests.chaos.conftest import in_soak
from tests.chaos.servers import Database, database
from tests.chaos.world import BEGAN, FINISHED, check_end, launched
from tests.scale.conftest import ScaledBench
from tests.scale.servers import Broker, broker
from tests.whole import small
from tests.whole.bench import ROOT

pytestmark = [pytest.mark.scale, pytest.mark.slow, pytest.mark.browser]

RING = """
import sys
from proofroom import celery
from runs.jobs import advance
for _ in range(int(sys.argv[2])):
    advance.delay(trial_id=int(sys.argv[1]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Farm:
    """A bench with workers, and the servers that they stand on."""

    bench: ScaledBench
    broker: Broker
    database: Database

    def wait_for(self, query: str, *values: object, within: float = 240) -> None:
        """Wait for a row; a failure shows what the workers wrote."""
        try:
            self.bench.wait_for(query, *values, within=within)
        except AssertionError as error:
            pytest.fail(f"{error}\n{self.bench.log()}")

    def ring(self, trial: int, *, times: int) -> None:
        """Ring for a trial, as often as it is wanted, wanted or not."""
        subprocess.run(
            [sys.executable, "-c", f"import django; django.setup(){RING}", str(trial), str(times)],
            env=self.bench._environment() | {"DJANGO_SETTINGS_MODULE": "proofroom.settings"},
            cwd=ROOT,
            check=True,
            timeout=120,
        )

    def trial(self, run: str) -> int:
        """The run's first trial."""
        return int(self.bench.rows("select min(id) from runs_trial where run_id = ?", run)[0][0])


@pytest.fixture(scope="module")
def servers_of_this_file() -> Iterator[tuple[Broker, Database]]:
    with broker() as its_broker, database() as its_database:
        yield its_broker, its_database


@pytest.fixture(scope="module")
def prepared(servers_of_this_file, tmp_path_factory) -> Iterator[Farm]:
    broker, database = servers_of_this_file
    folder = tmp_path_factory.mktemp("farm")
    (folder / "var").mkdir()
    with psycopg.connect(f"{database.address}/postgres", autocommit=True) as server:
        server.execute("create database chaos")
    bench = ScaledBench(
        data=folder / "var",
        redis=broker.address,
        environment={
            "DATABASE_URL": f"{database.address}/chaos",
            "REDIS_URL": broker.address,
            "PROOFROOM_WORKER_THREADS": "1",
            **world.SETTINGS,
        },
    )
    bench.command("migrate", "-v", "0")
    bench.command("import", str(small.pack(folder, key=world.KEY, scripts=world.SCRIPTS)))
    yield Farm(bench=bench, broker=broker, database=database)
    bench.end_workers()


@pytest.fixture
def farm(prepared) -> Iterator[Farm]:
    """The servers at work, and no worker yet; workers end with the test."""
    yield prepared
    prepared.bench.end_workers()


def test_a_broker_that_dies_with_all_it_held_and_comes_back_loses_no_trial(farm, expected):
    farm.bench.worker()
    run = launched(farm.bench)
    farm.wait_for(BEGAN, run, "c1")

    farm.broker.kill()
    time.sleep(2)
    farm.broker.start()

    farm.wait_for(FINISHED, run)
    farm.bench.end_workers()
    check_end(farm.bench, run, expected=expected)


@in_soak
def test_a_broker_that_dies_while_other_trials_wait_in_it_loses_none_of_them(farm, expected):
    farm.bench.worker()
    run = launched(farm.bench, repeats=2)
    farm.wait_for(BEGAN, run, "c1")

    farm.broker.kill()
    farm.broker.start()

    farm.wait_for(FINISHED, run)
    farm.bench.end_workers()
    check_end(farm.bench, run, expected=expected, repeats=2)


@in_soak
def test_a_broker_that_is_away_when_a_run_is_launched_only_delays_it(farm, expected):
    farm.bench.worker()
    farm.broker.kill()
    run = launched(farm.bench)
    farm.broker.start()

    farm.wait_for(FINISHED, run)
    farm.bench.end_workers()
    check_end(farm.bench, run, expected=expected)


@in_soak
def test_a_killed_worker_s_trial_goes_on_with_the_other_worker(farm, expected):
    first = farm.bench.worker()
    run = launched(farm.bench)
    farm.wait_for(BEGAN, run, "c1")
    farm.bench.worker()

    first.kill()
    first.wait(30)

    farm.wait_for(FINISHED, run)
    farm.bench.end_workers()
    check_end(farm.bench, run, expected=expected)


@in_soak
def test_a_database_that_goes_down_at_once_and_comes_back_loses_no_trial(farm, expected):
    farm.bench.worker(), farm.bench.worker()
    run = launched(farm.bench, repeats=2)
    farm.wait_for(BEGAN, run, "c1")

    farm.database.kill()
    time.sleep(3)
    farm.database.start()

    farm.wait_for(FINISHED, run)
    farm.bench.end_workers()
    check_end(farm.bench, run, expected=expected, repeats=2)


@in_soak
def test_a_ring_that_comes_ten_times_is_answered_once(farm, expected):
    run = launched(farm.bench)
    farm.ring(farm.trial(run), times=10)
    farm.bench.worker(), farm.bench.worker()

    farm.wait_for(BEGAN, run, "c1")
    farm.ring(farm.trial(run), times=10)
    farm.wait_for(FINISHED, run)
    farm.ring(farm.trial(run), times=3)
    time.sleep(2)

    farm.bench.end_workers()
    check_end(farm.bench, run, expected=expected)


@in_soak
def test_a_ring_that_is_lost_is_made_good_by_the_sweep(farm, expected):
    run = launched(farm.bench)
    with redis.Redis.from_url(farm.broker.address) as client:
        client.flushall()

    farm.bench.worker()

    farm.wait_for(FINISHED, run)
    farm.bench.end_workers()
    check_end(farm.bench, run, expected=expected)


@in_soak
def test_a_site_that_is_killed_beside_its_workers_changes_nothing(farm, expected):
    farm.bench.worker()
    farm.bench.serve("--no-worker")
    run = launched(farm.bench)
    farm.wait_for(BEGAN, run, "c1")

    farm.bench.kill()

    farm.wait_for(FINISHED, run)
    farm.bench.end_workers()
    check_end(farm.bench, run, expected=expected)
