"""The doorbell: a job looks at one trial, works on it if it is free, and rings for the next one."""

from __future__ import annotations

import logging
import threading
import time
from functools import partial
from importlib import import_module
from typing import Any

from celery import shared_task
from django.conf import settings
from django.db import close_old_connections, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from runs import engine, workers
from runs.models import level_of_trial
from runs.queues import EVERY, Queue
from runs.standard_tools import standard_toolbox

# Rings go through the site's own Celery application, not through Celery's default one. It is loaded here and
# not with the site, because most commands ring nobody.
application = import_module(settings.JOBS_APPLICATION).app

log = logging.getLogger(__name__)

RING_AGAIN_AFTER = 30.0

_rung: dict[tuple[int, Queue], float] = {}
_rung_lock = threading.Lock()


@shared_task(name="runs.advance")  # type: ignore[untyped-decorator]  # Celery carries no types
def advance(*, trial_id: int, **_later: Any) -> None:
    """Advance one trial; a doubled or stale ring finds it claimed or over and does nothing."""
    with _rung_lock:
        for queue in Queue:
            _rung.pop((trial_id, queue), None)
    if engine.stopping.is_set():
        return
    queues = own_queues()
    close_old_connections()
    try:
        tools = standard_toolbox(level_of_trial(trial_id))
        engine.advance(trial_id, toolbox=tools, worker=workers.worker_name(), queues=queues)
    finally:
        _ring_where_it_waits(trial_id, own=queues)
        ring_for_open_trials(at_most=1, queues=queues)
        close_old_connections()


def own_queues() -> frozenset[Queue]:
    """The queues that this process was told to take rings from; all of them where nobody said which."""
    return frozenset(queue for queue in Queue if queue.value in application.amqp.queues.consume_from)


def ring_after_commit(*, at_most: int | None = None) -> None:
    """Ring for open trials once what was just written can be read by the workers."""
    transaction.on_commit(partial(ring_for_open_trials, at_most=at_most or settings.WORKER_THREADS))


def ring_for_open_trials(*, at_most: int, queues: frozenset[Queue] = EVERY) -> int:
    """Ring for trials that wait in some queues; one that was rung just now is not rung again.

    A broker that cannot be reached is no error: the workers' sweep finds the trials without it.
    """
    rung = 0
    for trial in workers.open_trials(now=timezone.now(), at_most=at_most + _rung_lately(), queues=queues):
        if rung == at_most:
            break
        if not _is_news(trial.pk, trial.queue):
            continue
        if not _ring(trial.pk, trial.queue):
            break
        rung += 1
    return rung


def _ring_where_it_waits(trial_id: int, *, own: frozenset[Queue]) -> None:
    """Tell workers of another queue at once that a trial has come to need them."""
    if own == EVERY:
        return
    queue = workers.queue_that_waits(trial_id, now=timezone.now())
    if queue is not None and queue not in own and _is_news(trial_id, queue):
        _ring(trial_id, queue)


def _ring(trial_id: int, queue: Queue) -> bool:
    """Put a ring into a queue; False where the broker cannot be reached."""
    try:
        advance.apply_async(kwargs={"trial_id": trial_id}, queue=queue.value)
    except BrokerError as error:
        with _rung_lock:
            _rung.pop((trial_id, queue), None)
        log.warning("Trial %s: the broker cannot be reached (%s).", trial_id, error)
        return False
    return True


def _rung_lately() -> int:
    since = time.monotonic() - RING_AGAIN_AFTER
    with _rung_lock:
        for rung in [rung for rung, at in _rung.items() if at < since]:
            del _rung[rung]
        return len(_rung)


def _is_news(trial_id: int, queue: Queue) -> bool:
    now = time.monotonic()
    with _rung_lock:
        if now - _rung.get((trial_id, queue), -RING_AGAIN_AFTER) < RING_AGAIN_AFTER:
            return False
        _rung[trial_id, queue] = now
        return True
