"""Let the code agent change the workspace, keep its trajectory, and store what it left behind."""

from __future__ import annotations

import threading
from pathlib import Path
from shutil import rmtree

from django.db import transaction

from benchmark import snapshots
from benchmark.models import RecordedWorkspace
from benchmark.packs.specs import FileRole
from benchmark.rules.vocabulary import ExitReason, StageName
from benchmark.taskfiles import put_files
from runs.context import ClaimLost, StageContext, restore
from runs.errors import StageError
from runs.models import Round, TrajectoryEvent
from runs.ports import Brief, TrajectoryEventRecord

EVENTS_AT_ONCE = 200


def run(context: StageContext) -> None:
    """Start from the last round's snapshot (or the task's data), work, snapshot.

    A repeated stage starts over: half a round's work is not something a round can go on from.
    """
    round_, trial = context.round, context.trial
    workspace = context.toolbox.scratch / f"round-{round_.pk}" / "workspace"
    rmtree(workspace, ignore_errors=True)
    workspace.mkdir(parents=True)
    _fill(context, workspace)
    agent = context.toolbox.code_agent(
        context.run.code_agent,
        context.run.code_agent_settings,
        lambda _task_key, number: _recorded(context, number),
    )
    with transaction.atomic():
        context.claim.check()
        TrajectoryEvent.objects.filter(round=round_).delete()
    recorder = _Recorder(round_)
    turn = agent.work(
        Brief(
            task_key=context.record.task.key,
            round_number=round_.number,
            request=Round.objects.values_list("request", flat=True).get(pk=round_.pk),
            workspace=workspace,
        ),
        record=recorder.record,
        is_cancelled=context.claim.is_lost,
    )
    recorder.flush()
    if turn.containment is not None:
        context.stand.ledger.noting(round_, StageName.CODE)(turn.containment)
    if turn.exit_reason is ExitReason.CANCELLED:
        raise ClaimLost(f"Trial {trial.pk} was cancelled while its code agent worked.")
    try:
        snapshot = snapshots.take(workspace)
    except snapshots.SnapshotTooLarge as large:
        raise StageError(f"The workspace of round {round_.number} was not stored. {large}") from None
    with transaction.atomic():
        context.claim.check()
        Round.objects.filter(pk=round_.pk).update(
            snapshot=snapshot, exit_reason=turn.exit_reason.value, exit_detail=turn.detail
        )
    rmtree(workspace.parent, ignore_errors=True)


class _Recorder:
    """Keeps events in order of arrival; writes them in lots, from the stage's own thread only."""

    def __init__(self, round_: Round) -> None:
        self._round = round_
        self._lock = threading.Lock()
        self._waiting: list[TrajectoryEventRecord] = []
        self._saved = 0
        self._owner = threading.get_ident()

    def record(self, event: TrajectoryEventRecord) -> None:
        with self._lock:
            self._waiting.append(event)
            is_due = len(self._waiting) >= EVENTS_AT_ONCE
        # A reader thread has no database connection of its own that anybody would close.
        if is_due and threading.get_ident() == self._owner:
            self.flush()

    def flush(self) -> None:
        with self._lock:
            events, self._waiting = self._waiting, []
        TrajectoryEvent.objects.bulk_create(
            (
                TrajectoryEvent(
                    round=self._round,
                    position=self._saved + number,
                    at=event.at,
                    kind=event.kind,
                    text=event.text,
                    data=dict(event.data),
                )
                for number, event in enumerate(events)
            ),
            batch_size=EVENTS_AT_ONCE,
        )
        self._saved += len(events)


def _fill(context: StageContext, workspace: Path) -> None:
    number = context.round.number
    if number > 1:
        previous = Round.objects.get(trial=context.trial, number=number - 1)
        restore(previous.snapshot, workspace)
        return
    for role in (FileRole.DATA, FileRole.ATTACHMENTS):
        put_files(context.trial.task, role, workspace / role)


def _recorded(context: StageContext, number: int) -> Path | None:
    """Lay out a workspace that the pack recorded, for an agent that replays it."""
    candidate = context.run.code_agent_settings.get("candidate", "")
    recorded = RecordedWorkspace.objects.filter(
        task_id=context.trial.task_id, candidate=candidate, round_number=number
    ).first()
    if recorded is None:
        return None
    folder = context.toolbox.scratch / f"round-{context.round.pk}" / f"recorded-{number}"
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    restore(recorded.snapshot, folder)
    return folder
