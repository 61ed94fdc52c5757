"""Advance one trial: claim it, ask what is next, run that stage, record it, until nothing is left."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import copy_context
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from benchmark.blobs import BlobStoreAway
from benchmark.protocols import protocol
from benchmark.rules.planning import Step, next_step
from benchmark.rules.protocol import Protocol
from benchmark.rules.records import TrialRecord
from benchmark.rules.vocabulary import RunState, TrialState
from runs import history, liveness, scoring, stages
from runs.announcements import announce
from runs.clock import Clock, database_now
from runs.containments import Ledger
from runs.context import Claim, ClaimLost, StageContext, Stand
from runs.errors import Cancelled, StageError
from runs.log_lines import log_words
from runs.models import OPEN_TRIALS, Round, Run, RunEventKind, Trial
from runs.queues import EVERY, Queue, queue_of
from runs.room import room_for_a_stage
from runs.toolbox import Toolbox

log = logging.getLogger(__name__)

stopping = threading.Event()
"""Set when this process is to end: stages give up soon and their trials go on elsewhere."""

type Keeper = Callable[[Trial, str, timedelta], AbstractContextManager[Claim]]
"""Keeps a claim of a trial for a worker, by leases of so long, and gives it back at the end."""

MOST_ATTEMPTS = 3
FIRST_WAIT = timedelta(seconds=4)


def advance(
    trial_id: int,
    *,
    toolbox: Toolbox,
    worker: str,
    queues: frozenset[Queue] = EVERY,
    clock: Clock = database_now,
    held: Keeper | None = None,
) -> bool:
    """Work on a trial until it ends, pauses, is lost or needs another queue; False where it was not ours.

    Trouble of the bench is tried again after a growing wait and then pauses the trial; an
    unexpected exception is treated so as well and raised again, so that it is seen. `held` keeps the claim
    alive: by the clock on the wall, unless a simulation brings its own.
    """
    trial = Trial.objects.select_related("run", "task").filter(pk=trial_id).first()
    lease = timedelta(seconds=settings.LEASE_SECONDS)
    if trial is None or queue_of(trial.stage) not in queues:
        return False
    if not trial.claim(worker=worker, now=clock(), lease=lease):
        return False
    with (
        log_words(run=trial.run_id, trial=trial.pk),
        (held or partial(_held, clock=clock))(trial, worker, lease) as claim,
    ):
        if trial.claimed_by:
            log.warning("The lease of %s ran out; the trial goes on here.", trial.claimed_by)
            liveness.count(liveness.LEASE_EXPIRIES)
        stand = Stand(toolbox=toolbox, claim=claim, ledger=Ledger(trial=trial))
        try:
            _work(trial, claim=claim, stand=stand, toolbox=toolbox, queues=queues)
        except (ClaimLost, Cancelled) as lost:
            log.info("Trial %s: %s", trial.pk, lost)
        except (StageError, BlobStoreAway) as error:
            _note_trouble(trial, claim=claim, clock=clock, sentence=str(error))
        except Exception as error:
            log.exception("Run %s, trial %s, stage %s", trial.run_id, trial.pk, trial.stage)
            _note_trouble(
                trial, claim=claim, clock=clock, sentence=f"Unexpected {type(error).__name__}: {error}"
            )
            raise
        finally:
            stand.clear()
            stand.ledger.write()
    return True


def _work(trial: Trial, *, claim: Claim, stand: Stand, toolbox: Toolbox, queues: frozenset[Queue]) -> None:
    recipe = protocol(trial.run.protocol)
    _start(trial, claim=claim)
    while True:
        record = history.trial_record(trial)
        step = next_step(recipe, record)
        if step is None:
            _finish(trial, claim=claim)
            return
        if claim.is_lost():
            raise ClaimLost("the run was cancelled or another worker took over.")
        if queue_of(step.stage) not in queues:
            _leave_to(step, trial, claim=claim)
            return
        round_ = _open_round(trial, step=step, record=record, claim=claim)
        if len(record.rounds) < step.round:
            record = history.trial_record(trial)
        context = StageContext(
            run=trial.run,
            trial=trial,
            round=round_,
            record=record,
            protocol=recipe,
            toolbox=toolbox,
            claim=claim,
            stand=stand,
        )
        with log_words(round=step.round, stage=step.stage.value):
            _run_stage(context, step=step, recipe=recipe)


def _leave_to(step: Step, trial: Trial, *, claim: Claim) -> None:
    """Note what the trial needs next, so that a worker that has it finds it."""
    with transaction.atomic():
        claim.check()
        Trial.objects.filter(pk=trial.pk).update(stage=step.stage)


def _run_stage(context: StageContext, *, step: Step, recipe: Protocol) -> None:
    trial = context.trial
    with transaction.atomic():
        context.claim.check()
        Trial.objects.filter(pk=trial.pk).update(stage=step.stage)
        trial.stage = step.stage
        context.round.begin(step.stage)
        context.say(RunEventKind.STAGE, f"{trial.task.key}, round {step.round}: {step.stage.value} begins.")
    with room_for_a_stage(settings.DATA_DIR, least=settings.LEAST_FREE_MB << 20):
        stages.stage(step.stage).run(context)
        context.stand.ledger.write()
    with transaction.atomic():
        context.claim.check()
        context.round.complete(step.stage)
        Trial.objects.filter(pk=trial.pk).update(attempts=0, trouble="")
        if step.stage is recipe.stages[-1] or step.stage.value in ("feedback", "score"):
            context.round.close()
            context.say(RunEventKind.ROUND, f"{trial.task.key}: round {step.round} is complete.")


def _start(trial: Trial, *, claim: Claim) -> None:
    now = timezone.now()
    with transaction.atomic():
        claim.check()
        Trial.objects.filter(pk=trial.pk, started_at=None).update(started_at=now)
        Trial.objects.filter(pk=trial.pk).update(state=TrialState.RUNNING, not_before=None)
        Run.objects.filter(pk=trial.run_id, started_at=None).update(started_at=now)
        began = Run.objects.filter(pk=trial.run_id, state__in=[RunState.QUEUED, RunState.PAUSED]).update(
            state=RunState.RUNNING
        )
        if began:
            announce(run=trial.run, kind=RunEventKind.RUN, text="The run began.")


def _open_round(trial: Trial, *, step: Step, record: TrialRecord, claim: Claim) -> Round:
    if step.round <= len(record.rounds):
        return Round.objects.get(trial=trial, number=step.round)
    with suppress(IntegrityError), transaction.atomic():
        claim.check()
        return Round.objects.create(trial=trial, number=step.round)
    return Round.objects.get(trial=trial, number=step.round)


def _finish(trial: Trial, *, claim: Claim) -> None:
    now = timezone.now()
    with transaction.atomic():
        claim.check()
        Trial.objects.filter(pk=trial.pk).update(
            state=TrialState.FINISHED, stage="", finished_at=now, trouble="", attempts=0
        )
        announce(run=trial.run, trial=trial, kind=RunEventKind.TRIAL, text=f"{trial.task.key} is finished.")
        settle(trial.run)


def settle(run: Run) -> None:
    """Let a run's state follow from its trials, once none of them is open any more, and store its numbers.

    A run is never over without its numbers: where they cannot be stored, nothing is changed and the
    caller's trial meets the error as trouble. A run that pauses may be behind with them.
    """
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        is_open = locked.state in (RunState.QUEUED, RunState.RUNNING)
        # Asked at the end of every trial: whether there is one, never how many.
        if not is_open or locked.trials.filter(state__in=OPEN_TRIALS).exists():
            return
        paused = locked.trials.filter(state=TrialState.PAUSED).exists()
        locked.state = RunState.PAUSED if paused else RunState.FINISHED
        locked.finished_at = None if paused else timezone.now()
        locked.save(update_fields=["state", "finished_at"])
        text = (
            "The run is paused: the bench had trouble with some trials." if paused else "The run is finished."
        )
        announce(run=locked, kind=RunEventKind.RUN, text=text)
        if paused:
            scoring.store_if_possible(locked)
        else:
            scoring.store(locked)


def _note_trouble(trial: Trial, *, claim: Claim, clock: Clock, sentence: str) -> None:
    with transaction.atomic():
        try:
            claim.check()
        except ClaimLost:
            return
        attempts = Trial.objects.values_list("attempts", flat=True).get(pk=trial.pk) + 1
        gives_up = attempts >= MOST_ATTEMPTS
        Trial.objects.filter(pk=trial.pk).update(
            attempts=attempts,
            trouble=sentence[:4000],
            state=TrialState.PAUSED if gives_up else TrialState.QUEUED,
            not_before=None if gives_up else clock() + FIRST_WAIT * 2 ** (attempts - 1),
        )
        announce(run=trial.run, trial=trial, kind=RunEventKind.TROUBLE, text=f"{trial.task.key}: {sentence}")
    if gives_up:
        settle(trial.run)


@contextmanager
def _held(trial: Trial, worker: str, lease: timedelta, *, clock: Clock) -> Iterator[Claim]:
    """Keep the claim alive from a thread of its own, and give it back at the end."""
    lost, done = threading.Event(), threading.Event()

    def beat() -> None:
        heard = time.monotonic()
        # A second is how soon a cancelled run's processes are told, and a clock that was set is answered.
        while not done.wait(1.0):
            if stopping.is_set():
                lost.set()
            try:
                now = clock()
                due = trial.is_due(worker=worker, now=now, lease=lease)
                if due is None or (due and not trial.extend(worker=worker, now=now, lease=lease)):
                    lost.set()
                heard = time.monotonic()
            except DatabaseError:
                # The database may come back before the lease ends; after that, others may claim.
                log.warning("Trial %s: the claim could not be extended.", trial.pk, exc_info=True)
                if time.monotonic() - heard >= lease.total_seconds():
                    lost.set()
                connection.close()
        connection.close()

    # With this thread's words, so that its lines name the trial as well.
    heart = threading.Thread(
        target=copy_context().run, args=(beat,), name=f"heartbeat-{trial.pk}", daemon=True
    )
    heart.start()
    try:
        yield Claim(trial=trial, worker=worker, is_lost=lost.is_set)
    finally:
        done.set()
        heart.join()
        trial.release(worker=worker)
