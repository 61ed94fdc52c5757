"""Who works here: names for claims, claims of the dead given back, and open trials found."""

from __future__ import annotations

import os
import socket
import threading
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from benchmark.rules.vocabulary import TrialState
from runs.clock import is_free, is_ready
from runs.models import OPEN_TRIALS, UNFINISHED_RUNS, Run, Trial
from runs.queues import EVERY, Queue, queue_of, stages_of


def worker_name() -> str:
    """Name this thread so that another process can tell whether its process still lives."""
    pid = os.getpid()
    return f"{_machine()}|{_boot()}|{pid}|{_started(pid)}|{threading.get_native_id()}"


def release_claims_of_the_dead() -> int:
    """Free trials claimed by processes of this machine that are gone; others wait for the lease.

    A killed server therefore goes on at once after its restart.
    """
    freed = 0
    # Every claim has an end, and by it an index finds them; in order of their numbers all would be read.
    claimed = Trial.objects.filter(state__in=OPEN_TRIALS, claimed_until__isnull=False)
    claimed = claimed.exclude(claimed_by="").order_by()
    for pk, name in claimed.values_list("pk", "claimed_by"):
        if _is_dead(name):
            freed += Trial.objects.filter(pk=pk, claimed_by=name).update(claimed_by="", claimed_until=None)
    return freed


def release_own_claims() -> int:
    """Free every trial that a thread of this process holds; their stages save nothing more."""
    own = worker_name().rpartition("|")[0]
    return Trial.objects.filter(claimed_by__startswith=f"{own}|").update(claimed_by="", claimed_until=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTrial:
    """A trial that can be claimed now, and the queue of its next step as far as is known."""

    pk: int
    queue: Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """How many steps of a queue wait for a worker, and how many are worked on."""

    waiting: int
    running: int


def open_trials(
    *, now: datetime, at_most: int, run_id: int | None = None, queues: frozenset[Queue] = EVERY
) -> list[OpenTrial]:
    """Trials of some queues that can be claimed now; runs with the fewest trials at work come first.

    Its cost follows the runs that are not over and the trials at work, never the trials there are.
    """
    wanted = Trial.objects.filter(is_free(now), is_ready(now))
    stages = None if queues == EVERY else stages_of(queues)
    of_queues = wanted if stages is None else wanted.filter(stage__in=stages)
    runs = Run.objects.filter(
        Exists(of_queues.filter(run=OuterRef("pk"), state__in=OPEN_TRIALS)),
        cancelled_at=None,
        finished_at=None,
        state__in=UNFINISHED_RUNS,
    ).order_by("pk")
    if run_id is not None:
        runs = runs.filter(pk=run_id)
    at_work = _at_work(now)
    found: list[OpenTrial] = []
    for pk in sorted(runs.values_list("pk", flat=True), key=lambda pk: (at_work.get(pk, 0), pk)):
        if len(found) == at_most:
            break
        found += _first_of_run(wanted.filter(run=pk), stages=stages, at_most=at_most - len(found))
    return found


def _at_work(now: datetime) -> dict[int, int]:
    """Run → its trials that are claimed now."""
    # Counted here: asked to group by run, SQLite may walk all trials by run instead of the few claimed ones.
    claimed = Trial.objects.filter(state__in=OPEN_TRIALS, claimed_until__gte=now).order_by()
    return Counter(claimed.values_list("run_id", flat=True))


def _first_of_run(
    wanted: QuerySet[Trial], *, stages: Collection[str] | None, at_most: int
) -> list[OpenTrial]:
    # A question for each state, and for each stage where only some are wanted: only so does an index
    # give them in order, however many there are.
    groups = [wanted.filter(state=state) for state in OPEN_TRIALS]
    if stages is not None:
        groups = [group.filter(stage=stage) for group in groups for stage in stages]
    rows = [row for group in groups for row in group.order_by("pk").values_list("pk", "stage")[:at_most]]
    return [OpenTrial(pk=pk, queue=queue_of(stage)) for pk, stage in sorted(rows)[:at_most]]


def queue_that_waits(trial_id: int, *, now: datetime) -> Queue | None:
    """The queue in which a trial waits; None unless it can be claimed now."""
    stage = _claimable(now).filter(pk=trial_id).values_list("stage", flat=True).first()
    return None if stage is None else queue_of(stage)


def steps_by_queue(*, now: datetime) -> Mapping[Queue, Steps]:
    """What waits and what runs in each queue (one query over the trials that are open)."""
    at_work = Count("pk", filter=Q(claimed_until__gte=now) & ~Q(claimed_by=""))
    free, ready = is_free(now), is_ready(now)
    rows = (
        Trial.objects.filter(state__in=OPEN_TRIALS, run__cancelled_at=None)
        .order_by()
        .values_list("stage")
        .annotate(waiting=Count("pk", filter=free & ready), running=at_work)
    )
    found = {queue: Steps(waiting=0, running=0) for queue in Queue}
    for stage, waiting, running in rows:
        queue = queue_of(stage)
        sofar = found[queue]
        found[queue] = Steps(waiting=sofar.waiting + waiting, running=sofar.running + running)
    return found


def _claimable(now: datetime) -> QuerySet[Trial]:
    return Trial.objects.filter(is_free(now), is_ready(now), state__in=OPEN_TRIALS, run__cancelled_at=None)


def is_anything_left() -> bool:
    """Whether any trial is still to be worked on, claimed or not."""
    return Trial.objects.filter(
        state__in=[TrialState.QUEUED, TrialState.RUNNING], run__cancelled_at=None
    ).exists()


def _is_dead(name: str) -> bool:
    parts = name.split("|")
    if len(parts) != 5 or parts[0] != _machine():
        return False
    _, boot, pid, started, _ = parts
    if boot != _boot():
        return True
    if not pid.isdecimal():
        return False
    return _started(int(pid)) != started


@cache
def _machine() -> str:
    """This machine as far as its processes can be looked up: its name, its identity, its process numbers.

    Two machines may have one name, and two containers one name on one machine. Who cannot look up
    another's processes must not take them for dead.
    """
    try:
        identity = Path("/etc/machine-id").read_text().strip()[:8]
    except OSError:
        identity = ""
    try:
        numbers = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        numbers = ""
    return f"{socket.gethostname()[:48]}/{identity or '-'}/{numbers or '-'}"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
    except OSError:
        return "-"


def _started(pid: int) -> str:
    """When a process began, in ticks since boot; "gone" where there is none of that number.

    Where there is no /proc the answer is the same for every living process.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return "gone"
        return "?" if _is_there(pid) else "gone"
    except OSError:
        return "gone"
    # The command's name, in brackets, may hold blanks: count from behind it.
    fields = stat.rpartition(")")[2].split()
    return "gone" if fields[0] == "Z" else fields[19]


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
