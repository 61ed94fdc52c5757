"""The doorbell: what is rung for, how often, and that nothing depends on it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

import pytest
from celery import current_app
from django.db import transaction
from django.utils import timezone

from runs import engine, jobs
from runs.embedded import sweep_until
from runs.models import Trial
from tests import make

pytestmark = pytest.mark.django_db


LEASE = timedelta(seconds=30)


@pytest.fixture(autouse=True)
def quiet_bell() -> Iterator[None]:
    """An empty queue and no memory of earlier rings, before and after."""
    current_app.control.purge()
    jobs._rung.clear()
    yield
    current_app.control.purge()
    jobs._rung.clear()


def rings() -> int:
    """How many rings wait in the broker; looking takes them out."""
    return int(current_app.control.purge())


def test_open_trials_are_rung_for_once_and_no_more_than_asked():
    make.run(repeats=5)

    assert jobs.ring_for_open_trials(at_most=2) == 2
    assert jobs.ring_for_open_trials(at_most=2) == 2
    assert jobs.ring_for_open_trials(at_most=2) == 1
    assert jobs.ring_for_open_trials(at_most=2) == 0
    assert rings() == 5


def test_a_ring_that_nobody_heard_is_repeated_after_a_while(monkeypatch):
    make.run()
    assert jobs.ring_for_open_trials(at_most=1) == 1

    monkeypatch.setattr(jobs, "RING_AGAIN_AFTER", 0.0)

    assert jobs.ring_for_open_trials(at_most=1) == 1
    assert len(jobs._rung) == 1


def test_nothing_is_rung_for_a_trial_that_is_claimed():
    run = make.run()
    assert run.trials.get().claim(worker="a", now=timezone.now(), lease=LEASE)

    assert jobs.ring_for_open_trials(at_most=3) == 0


@pytest.mark.django_db(transaction=True)
def test_a_launch_rings_after_its_commit_and_not_before():
    with transaction.atomic():
        make.run(repeats=2)
        jobs.ring_after_commit()
        assert rings() == 0

    assert rings() == 2


def test_what_was_rolled_back_is_not_rung_for(django_capture_on_commit_callbacks):
    with (
        django_capture_on_commit_callbacks(execute=True),
        suppress(ZeroDivisionError),
        transaction.atomic(),
    ):
        make.run()
        jobs.ring_after_commit()
        raise ZeroDivisionError

    assert rings() == 0


@pytest.mark.django_db(transaction=True)
def test_a_stale_ring_does_nothing_and_rings_for_the_next_trial():
    run = make.run(repeats=2)
    over, open_ = run.trials.order_by("repeat")
    Trial.objects.filter(pk=over.pk).update(state="finished")

    jobs.advance(trial_id=over.pk, added_later="is ignored")
    jobs.advance(trial_id=10**9)

    assert rings() == 1
    open_.refresh_from_db()
    assert open_.claimed_by == ""


def test_a_process_that_is_to_end_takes_no_further_trial():
    make.run()
    engine.stopping.set()
    try:
        jobs.advance(trial_id=Trial.objects.get().pk)
    finally:
        engine.stopping.clear()

    assert Trial.objects.get().state == "queued"
    assert rings() == 0


@pytest.mark.django_db(transaction=True)
def test_the_sweep_frees_the_dead_rings_and_stops_when_told(settings):
    run = make.run()
    Trial.objects.update(claimed_by="elsewhere|x|1|1|1", claimed_until=timezone.now() - LEASE)
    stopping = threading.Event()
    stopping.set()

    sweep_until(stopping, threads=1)

    assert rings() == 1
    assert run.trials.count() == 1
