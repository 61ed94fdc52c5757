"""Queues by need: a step waits where its worker is, and a worker takes no step of another queue."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from celery import current_app
from django.utils import timezone

from benchmark.rules.vocabulary import StageName
from runs import engine, jobs, workers
from runs.models import Trial
from runs.queues import EVERY, Queue, queue_of, stages_of
from tests import make

pytestmark = pytest.mark.django_db

LIGHT, AGENT = frozenset({Queue.LIGHT}), frozenset({Queue.AGENT})
BROWSERS = frozenset({Queue.JUDGE, Queue.PREVIEW})


@pytest.fixture(autouse=True)
def quiet_bell() -> Iterator[None]:
    """An empty broker, no memory of earlier rings, and every queue taken again at the end."""
    jobs.application.control.purge()
    jobs._rung.clear()
    yield
    jobs.application.amqp.queues.select([queue.value for queue in Queue])
    jobs.application.control.purge()
    jobs._rung.clear()


def rings_in(queue: Queue) -> int:
    """How many rings wait in one queue; looking takes them out."""
    with jobs.application.connection_for_write() as connection:
        return int(connection.default_channel.queue_purge(queue.value) or 0)


def told_to_take(*queues: Queue) -> None:
    """What `celery worker -Q` does."""
    jobs.application.amqp.queues.select([queue.value for queue in queues])


def test_every_stage_waits_in_one_queue():
    assert {queue for stage in StageName for queue in [queue_of(stage)]} == EVERY
    assert queue_of("") is Queue.LIGHT
    assert sorted(stages_of(EVERY)) == sorted(["", *StageName])
    assert stages_of(AGENT) == ["code"]


def test_a_trial_goes_from_queue_to_queue_and_ends_with_the_marks_of_one_worker(tmp_path: Path):
    trial = make.run(max_rounds=1).trials.get()
    tools = make.toolbox(tmp_path)
    seen = []

    for queues in (LIGHT, AGENT, BROWSERS, LIGHT):
        assert engine.advance(trial.pk, toolbox=tools, worker="w", queues=queues)
        trial.refresh_from_db()
        seen.append((trial.state, trial.stage, trial.claimed_by))

    assert seen == [
        ("running", "code", ""),
        ("running", "deploy", ""),
        ("running", "score", ""),
        ("finished", "", ""),
    ]


def test_a_step_of_another_queue_is_neither_claimed_nor_rung_for(tmp_path: Path):
    trial = make.run(max_rounds=1).trials.get()

    assert not engine.advance(trial.pk, toolbox=make.toolbox(tmp_path), worker="w", queues=AGENT)
    assert jobs.ring_for_open_trials(at_most=5, queues=AGENT) == 0
    assert workers.open_trials(now=timezone.now(), at_most=5, queues=AGENT) == []
    assert jobs.ring_for_open_trials(at_most=5, queues=LIGHT) == 1
    assert rings_in(Queue.LIGHT) == 1


def test_a_trial_whose_stage_was_complete_when_its_worker_died_finds_its_queue(tmp_path: Path):
    trial = make.run(max_rounds=1).trials.get()
    engine.advance(trial.pk, toolbox=make.toolbox(tmp_path), worker="w", queues=LIGHT | AGENT)
    Trial.objects.filter(pk=trial.pk).update(stage="code")

    assert engine.advance(trial.pk, toolbox=make.toolbox(tmp_path), worker="w", queues=AGENT)

    trial.refresh_from_db()
    assert (trial.stage, trial.claimed_by) == ("deploy", "")


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_done_with_its_part_rings_in_the_next_queue_at_once():
    trial = make.run(max_rounds=1).trials.get()
    told_to_take(Queue.LIGHT)

    jobs.advance(trial_id=trial.pk)

    assert [rings_in(queue) for queue in (Queue.AGENT, Queue.LIGHT)] == [1, 0]


def test_a_process_takes_every_queue_unless_it_is_told_otherwise():
    assert jobs.own_queues() == EVERY

    told_to_take(Queue.JUDGE, Queue.LIGHT)

    assert jobs.own_queues() == {Queue.JUDGE, Queue.LIGHT}
    assert current_app.main == jobs.application.main


def test_waiting_and_running_steps_are_counted_by_queue_in_one_query(django_assert_num_queries):
    now = timezone.now()
    waiting, coding, held, later, ended = make.run(repeats=5).trials.order_by("repeat")
    Trial.objects.filter(pk=coding.pk).update(stage="code")
    Trial.objects.filter(pk=held.pk).update(
        stage="judge", claimed_by="w", claimed_until=now + timedelta(minutes=1)
    )
    Trial.objects.filter(pk=later.pk).update(not_before=now + timedelta(minutes=1))
    Trial.objects.filter(pk=ended.pk).update(state="finished")

    with django_assert_num_queries(1):
        steps = workers.steps_by_queue(now=now)

    assert {queue.value: (found.waiting, found.running) for queue, found in steps.items()} == {
        "agent": (1, 0),
        "judge": (0, 1),
        "preview": (0, 0),
        "light": (1, 0),
    }
    assert waiting.pk
