"""Workers: names that tell whether their process lives, claims of the dead, and whose turn it is."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmark.rules.vocabulary import RunState, TrialState
from runs import workers
from runs.models import Run, Trial
from runs.queues import EVERY, Queue
from tests import make

LEASE = timedelta(seconds=30)
# A container or another machine that is called as this one is.
SAME_NAME = f"{socket.gethostname()}/other/1|abcd|1|1|1"


def claimed(trial: Trial, worker: str) -> None:
    assert trial.claim(worker=worker, now=timezone.now(), lease=LEASE)


def name_of(pid: int, *, started: str | None = None) -> str:
    host, boot, _, _, thread = workers.worker_name().split("|")
    return "|".join((host, boot, str(pid), started or workers._started(pid), thread))


def ids(trials: list[workers.OpenTrial]) -> list[int]:
    return [trial.pk for trial in trials]


@pytest.fixture
def ended() -> str:
    """The name of a worker in a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        return name_of(process.pid)


@pytest.mark.django_db
def test_the_claim_of_a_process_that_ended_is_freed_and_that_of_a_living_one_stays(ended):
    run = make.run(repeats=2)
    dead, living = run.trials.order_by("repeat")
    claimed(dead, ended)
    claimed(living, workers.worker_name())

    freed = workers.release_claims_of_the_dead()

    assert freed == 1
    assert [trial.claimed_by for trial in run.trials.order_by("repeat")] == ["", workers.worker_name()]
    assert ids(workers.open_trials(now=timezone.now(), at_most=5)) == [dead.pk]


@pytest.mark.django_db
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="when a process began is read from /proc")
def test_another_process_that_got_the_same_number_does_not_pass_for_the_dead_one():
    trial = make.run().trials.get()
    claimed(trial, name_of(os.getpid(), started="1"))

    assert workers.release_claims_of_the_dead() == 1


@pytest.mark.django_db
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the boot's id is read from /proc")
def test_a_claim_from_before_the_machine_started_anew_is_freed():
    trial = make.run().trials.get()
    host, _, *others = workers.worker_name().split("|")
    claimed(trial, "|".join((host, "another0", *others)))

    assert workers.release_claims_of_the_dead() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["elsewhere|abcd|1|1|1", SAME_NAME, "worker-a", "a|b", "||||"])
def test_a_claim_that_this_machine_cannot_judge_waits_for_its_lease(name):
    trial = make.run().trials.get()
    claimed(trial, name)

    assert workers.release_claims_of_the_dead() == 0
    assert workers.open_trials(now=timezone.now(), at_most=5) == []
    assert ids(workers.open_trials(now=timezone.now() + LEASE * 2, at_most=5)) == [trial.pk]


@pytest.mark.django_db
def test_of_two_runs_the_one_with_fewer_trials_at_work_comes_first():
    busy, idle = make.run(repeats=3), make.run(repeats=2)
    claimed(busy.trials.order_by("repeat")[0], "a")

    first, second, *_ = ids(workers.open_trials(now=timezone.now(), at_most=4))

    assert {first, second} == set(idle.trials.values_list("pk", flat=True))


@pytest.mark.django_db
def test_trials_that_wait_ended_or_are_cancelled_are_nobodys_turn():
    now = timezone.now()
    waiting, ended, cancelled = (make.run().trials.get() for _ in range(3))
    Trial.objects.filter(pk=waiting.pk).update(not_before=now + timedelta(minutes=1))
    Trial.objects.filter(pk=ended.pk).update(state=TrialState.FINISHED)
    Run.objects.filter(pk=cancelled.run_id).update(cancelled_at=now)

    assert workers.open_trials(now=now, at_most=5) == []
    assert ids(workers.open_trials(now=now + timedelta(minutes=2), at_most=5)) == [waiting.pk]
    assert workers.is_anything_left()


@pytest.mark.django_db(transaction=True)
def test_of_four_threads_one_claims_a_trial():
    trial = make.run().trials.get()

    for _ in range(10):
        Trial.objects.update(claimed_by="", claimed_until=None)
        start = threading.Barrier(4)
        won: list[str] = []

        def race(name: str, start: threading.Barrier = start, won: list[str] = won) -> None:
            start.wait()
            if trial.claim(worker=name, now=timezone.now(), lease=LEASE):
                won.append(name)
            connection.close()

        threads = [threading.Thread(target=race, args=(f"worker-{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        trial.refresh_from_db()
        assert won == [trial.claimed_by]


@pytest.mark.django_db
@pytest.mark.parametrize("queues", [EVERY, frozenset({Queue.JUDGE})])
def test_what_is_open_is_found_by_an_index_however_many_trials_are_over(queues):
    if connection.vendor != "sqlite":
        pytest.skip("reads the plan as SQLite words it")
    done, unfinished = make.run(), make.run()
    task = done.trials.get().task
    Trial.objects.bulk_create(
        Trial(run=done, task=task, repeat=number, state=TrialState.FINISHED) for number in range(2, 1500)
    )
    Run.objects.bulk_create(_finished_copies(done, 100))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")

    with CaptureQueriesContext(connection) as asked:
        found = workers.open_trials(now=timezone.now(), at_most=1, queues=queues)
        workers.release_claims_of_the_dead()

    assert bool(found) == (queues == EVERY), unfinished
    with connection.cursor() as cursor:
        for query in list(asked.captured_queries):
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            scans = [row[3] for row in cursor.fetchall() if row[3].startswith("SCAN")]
            # The index of runs that are not over holds nothing else, so all of it may be read.
            assert scans in ([], ["SCAN runs_run USING INDEX run_not_over"]), query["sql"]


def _finished_copies(run: Run, count: int) -> list[Run]:
    copies = []
    for _ in range(count):
        copy = Run.objects.get(pk=run.pk)
        copy.pk, copy.state, copy.finished_at = None, RunState.FINISHED, timezone.now()
        copies.append(copy)
    return copies
