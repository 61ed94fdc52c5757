"""Runs that were judged already: rows as the stages leave them, without an engine at work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from django.utils import timezone

from benchmark import blobs, snapshots
from benchmark.models import Benchmark, ExpectedOutcome
from benchmark.rules.vocabulary import ExitReason, Mark, RoundState, RunState, StageName, TrialState
from runs import scoring
from runs.models import Evidence, Judging, Round, Run, StageRecord, Trial, Verdict
from runs.ports import EvidenceKind
from tests import make

type Marks = Mapping[str, Sequence[Mark]]
"""Criterion key → a mark per outcome; a criterion that is absent passes."""

SCREENSHOT = b"\x89PNG\r\n\x1a\n not a real picture"


def finished_run(
    of: Benchmark | None = None,
    *,
    rounds: Sequence[Marks] = ({},),
    repeats: int = 1,
    workspace: Path | None = None,
    pieces: int = 1,
    **settings: object,
) -> Run:
    """A finished run in which each trial got the marks of `rounds`, with its numbers stored."""
    run = make.run(of, repeats=repeats, **settings)
    snapshot = snapshots.take(workspace) if workspace is not None else ""
    for trial in run.trials.select_related("task"):
        for number, marks in enumerate(rounds, start=1):
            _judge(trial, number=number, marks=marks, snapshot=snapshot, pieces=pieces)
    now = timezone.now()
    run.trials.update(state=TrialState.FINISHED, started_at=now, finished_at=now)
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, started_at=now, finished_at=now)
    run.refresh_from_db()
    scoring.store(run)
    return run


def _judge(trial: Trial, *, number: int, marks: Marks, snapshot: str, pieces: int) -> None:
    now = timezone.now()
    round_ = Round.objects.create(
        trial=trial,
        number=number,
        state=RoundState.CLOSED,
        request=f"Request {number}",
        snapshot=snapshot,
        exit_reason=ExitReason.FINISHED,
        closed_at=now,
    )
    done = (StageName.BRIEF, StageName.CODE, StageName.DEPLOY, StageName.JUDGE, StageName.SCORE)
    StageRecord.objects.bulk_create(
        StageRecord(round=round_, stage=stage, started_at=now, finished_at=now) for stage in done
    )
    judging = Judging.objects.create(
        round=round_, judge="planned", settings_hash="0" * 64, is_primary=True, finished_at=now
    )
    outcomes = ExpectedOutcome.objects.filter(criterion__task=trial.task_id).select_related("criterion")
    verdicts = Verdict.objects.bulk_create(
        _verdict(judging, outcome, marks) for outcome in outcomes.order_by("criterion__position", "index")
    )
    digest = blobs.save_bytes(SCREENSHOT)
    Evidence.objects.bulk_create(
        Evidence(
            verdict=verdict,
            kind=EvidenceKind.SCREENSHOT,
            name="after.png",
            media_type="image/png",
            digest=digest,
            size=len(SCREENSHOT),
            position=position,
        )
        for verdict in verdicts
        for position in range(pieces)
    )


def _verdict(judging: Judging, outcome: ExpectedOutcome, marks: Marks) -> Verdict:
    given = marks.get(outcome.criterion.key)
    mark = Mark.PASS if given is None else given[outcome.index]
    return Verdict(
        judging=judging,
        outcome=outcome,
        mark=mark,
        reason="planned" if mark is Mark.ERROR else "",
        rationale=f"{outcome.criterion.key}.{outcome.index} was planned as {mark.value}.",
    )
