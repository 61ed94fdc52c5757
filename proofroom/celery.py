"""The Celery application: a doorbell that tells workers which trial to look at."""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_ready, worker_shutting_down

from runs.queues import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")

app = Celery("proofroom")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["runs"], related_name="jobs")
app.conf.task_queues = {queue.value: {"exchange": queue.value, "routing_key": queue.value} for queue in Queue}
app.conf.task_default_queue = Queue.LIGHT.value
# A worker that is told to take a queue that is none says so, and does not wait there for ever.
app.conf.task_create_missing_queues = False

_stopping = threading.Event()


@setup_logging.connect  # type: ignore[untyped-decorator]  # Celery carries no types
def keep_our_logging(*, loglevel: int | None = None, **_later: Any) -> None:
    """Log as the site does, in its format; `--loglevel` still decides how much."""
    if loglevel is not None:
        logging.getLogger().setLevel(loglevel)


# Celery's own signals, of `celery worker` alone: the embedded worker brings its sweep along.
@worker_ready.connect  # type: ignore[untyped-decorator]  # Celery carries no types
def sweep_beside_the_worker(**_later: Any) -> None:
    """Find trials whose ring was lost: the broker guarantees nothing. Deliver messages to other sites."""
    from django.conf import settings

    from annotation.jobs import deliver_until
    from runs.embedded import sweep_until

    threading.Thread(
        target=sweep_until,
        args=(_stopping,),
        kwargs={"threads": settings.WORKER_THREADS},
        name="sweep",
        daemon=True,
    ).start()
    threading.Thread(target=deliver_until, args=(_stopping,), name="deliver", daemon=True).start()


@worker_shutting_down.connect  # type: ignore[untyped-decorator]  # Celery carries no types
def let_go_of_trials(**_later: Any) -> None:
    """Let a warm shutdown end soon: trials at work go on with the next worker."""
    from runs import engine

    _stopping.set()
    engine.stopping.set()
