"""Work on runs in this process until they are over, and say how far they are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from django.conf import settings
from django.db import close_old_connections, connection
from django.utils import timezone

from benchmark.rules.vocabulary import Mark, Role, RunState, TrialState
from runs import engine, workers
from runs.models import UNFINISHED_RUNS, Run, Trial, Verdict, level_of_trial
from runs.standard_tools import standard_toolbox

POLL = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: trials over, trials in all, verdicts given, and what is at work."""

    finished: int
    trials: int
    verdicts: int
    passed: int
    at_work: tuple[str, ...]

    def line(self) -> str:
        """One line for a terminal."""
        working = f"; {', '.join(self.at_work)}" if self.at_work else ""
        return (
            f"{self.finished} of {self.trials} trials finished, {self.verdicts} verdicts "
            f"({self.passed} pass){working}"
        )


def progress(run: Run) -> Progress:
    """Read how far a run is (three queries)."""
    trials = list(
        Trial.objects.filter(run=run)
        .select_related("task")
        .only("state", "stage", "task__key")
        .order_by("task__position", "repeat")
    )
    verdicts = Verdict.objects.filter(
        judging__round__trial__run=run, judging__is_primary=True, role=Role.PRIMARY
    ).order_by()
    return Progress(
        finished=sum(TrialState(trial.state).has_ended for trial in trials),
        trials=len(trials),
        verdicts=verdicts.count(),
        passed=verdicts.filter(mark=Mark.PASS).count(),
        at_work=tuple(
            f"{trial.task.key}: {trial.stage}"
            for trial in trials
            if trial.state == TrialState.RUNNING and trial.stage
        ),
    )


def work_until_over(run: Run, *, say: Callable[[str], None]) -> None:
    """Advance a run here until it is finished, paused or cancelled, saying each change.

    Other workers may help; a trial that one of them holds is waited for.
    """
    last = ""
    workers.release_claims_of_the_dead()
    with _Pool() as pool:
        while True:
            run.refresh_from_db(fields=["state"])
            line = progress(run).line()
            if line != last:
                say(line)
                last = line
            if run.state not in UNFINISHED_RUNS or run.state == RunState.PAUSED:
                return
            pool.fill(run_id=run.pk)
            time.sleep(POLL)


def work_on_all(*, forever: bool, say: Callable[[str], None], stopping: threading.Event) -> None:
    """Advance every open trial until none is left, or for ever; stops soon after `stopping`."""
    said_idle = False
    with _Pool() as pool:
        while not stopping.is_set():
            workers.release_claims_of_the_dead()
            busy = pool.fill() or pool.is_busy()
            if busy:
                said_idle = False
            elif not forever and not workers.is_anything_left():
                return
            elif not said_idle:
                say("Nothing to do; waiting for runs." if forever else "Waiting for other workers.")
                said_idle = True
            stopping.wait(POLL if busy or not forever else 2.0)


class _Pool:
    """Threads that advance trials, as many as the settings say."""

    def __init__(self) -> None:
        self._size = settings.WORKER_THREADS
        self._executor = ThreadPoolExecutor(self._size, thread_name_prefix="worker")
        self._at_work: dict[int, Future[None]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # Ctrl-C: what is at work gives up soon and goes on with the next worker.
            engine.stopping.set()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def is_busy(self) -> bool:
        self._forget_done()
        return bool(self._at_work)

    def fill(self, *, run_id: int | None = None) -> bool:
        """Give free threads a trial each; True where one was given."""
        self._forget_done()
        free = self._size - len(self._at_work)
        if not free:
            return False
        given = False
        for trial in workers.open_trials(
            now=timezone.now(), at_most=free + len(self._at_work), run_id=run_id
        ):
            if free and trial.pk not in self._at_work:
                self._at_work[trial.pk] = self._executor.submit(_advance, trial.pk)
                free -= 1
                given = True
        return given

    def _forget_done(self) -> None:
        done = [pk for pk, future in self._at_work.items() if future.done()]
        for pk in done:
            del self._at_work[pk]


def _advance(trial_id: int) -> None:
    close_old_connections()
    try:
        tools = standard_toolbox(level_of_trial(trial_id))
        engine.advance(trial_id, toolbox=tools, worker=workers.worker_name())
    finally:
        connection.close()
