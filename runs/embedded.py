"""The worker inside the web process: Celery on its in-memory transport, and a sweep."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, close_old_connections

from runs import engine, jobs, liveness, workers

log = logging.getLogger(__name__)


class EmbeddedWorker:
    """Threads that advance trials until `stop`; nothing is lost if the process dies instead."""

    def __init__(self, *, threads: int, beside: Sequence[Callable[[threading.Event], None]] = ()) -> None:
        """`beside` are loops of other layers that run until the event, in a thread each."""
        self._threads = threads
        self._beside = tuple(beside)
        self._stopping = threading.Event()
        self._controller: Any = None

    def start(self) -> None:
        """Start working; returns at once."""
        for name, target in (("worker", self._work), ("sweep", self._sweep)):
            thread = threading.Thread(target=target, name=f"embedded-{name}", daemon=True)
            thread.start()
        for loop in self._beside:
            threading.Thread(target=loop, args=(self._stopping,), daemon=True).start()

    def stop(self, *, deadline: float) -> None:
        """Stop taking work and let go of what runs, within `deadline` seconds."""
        self._stopping.set()
        engine.stopping.set()
        if self._controller is not None:
            stopper = threading.Thread(target=self._controller.stop, daemon=True)
            stopper.start()
            stopper.join(deadline)

    def _work(self) -> None:
        # Made in its own thread: Celery checks the models on the way, which the server's
        # event loop may not do.
        self._controller = current_app.WorkController(
            pool="threads",
            concurrency=self._threads,
            loglevel="WARNING",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            quiet=True,
        )
        close_old_connections()
        self._controller.start()

    def _sweep(self) -> None:
        sweep_until(self._stopping, threads=self._threads)


def sweep_until(stopping: threading.Event, *, threads: int) -> None:
    """Free the claims of the dead and ring for open trials, again and again, telling that this worker lives."""
    while True:
        try:
            liveness.beat(queues=jobs.own_queues(), threads=threads)
            close_old_connections()
            workers.release_claims_of_the_dead()
            jobs.ring_for_open_trials(at_most=threads, queues=jobs.own_queues())
        except DatabaseError:
            log.warning("The sweep could not read the database and tries again.", exc_info=True)
        finally:
            close_old_connections()
        if stopping.wait(settings.SWEEP_SECONDS):
            liveness.leave()
            return
