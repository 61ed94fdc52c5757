"""What a stage is given: the round, its record, the toolbox, and the claim it works under."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark import blobs, snapshots
from benchmark.rules.protocol import Protocol
from benchmark.rules.records import RoundRecord, TrialRecord
from benchmark.rules.vocabulary import Mark, StageName
from runs.announcements import announce
from runs.containments import Ledger
from runs.errors import StageError
from runs.models import OPEN_TRIALS, Deployment, Round, Run, RunEventKind, Trial
from runs.ports import CandidateBroken, DeploymentReport, RunningApp
from runs.toolbox import Toolbox


class ClaimLost(Exception):
    """Another worker took the trial over, or the run was cancelled: nothing more may be saved."""


@dataclass(slots=True, kw_only=True)
class Claim:
    """The right to write for one trial; `check` guards each write, `is_lost` is cheap to ask."""

    trial: Trial
    worker: str
    is_lost: Callable[[], bool]

    def check(self) -> None:
        """Raise ClaimLost unless the trial is still ours; call it inside the saving transaction."""
        # The trial's own state tells of a cancelled run, also while this waited for the lock.
        held = Trial.objects.select_for_update(no_key=True).filter(
            pk=self.trial.pk, claimed_by=self.worker, state__in=OPEN_TRIALS
        )
        if not held.values_list("pk", flat=True).first():
            raise ClaimLost(f"Trial {self.trial.pk} is no longer claimed by this worker.")


@dataclass(slots=True, kw_only=True)
class Stand:
    """The candidate of one round, standing while the stages of that round need it."""

    toolbox: Toolbox
    claim: Claim
    ledger: Ledger
    _stack: ExitStack = field(default_factory=ExitStack)
    _round_id: int | None = None
    _app: RunningApp | None = None

    def app(self, round_: Round, *, deploy: Mapping[str, Any], stage: StageName) -> RunningApp:
        """The running candidate of a round: the one that stands already, or a new start.

        Each start is recorded with its logs, and how its commands were held under the stage that asked.
        Raises CandidateBroken or StageError.
        """
        if self._app is not None and self._round_id == round_.pk and self._app.is_alive():
            return self._app
        self.clear()
        folder = self.toolbox.scratch / f"round-{round_.pk}" / "candidate"
        _empty(folder)
        restore(round_.snapshot, folder)
        try:
            served = self.toolbox.deployer.serve(
                folder,
                deploy=deploy,
                is_cancelled=self.claim.is_lost,
                contained=self.ledger.noting(round_, stage),
            )
            app = self._stack.enter_context(served)
        except CandidateBroken as broken:
            _record(round_, broken.report)
            raise
        self._round_id, self._app = round_.pk, app
        _record(round_, app.report)
        return app

    def clear(self) -> None:
        """End whatever stands, with its whole process tree."""
        self._app = None
        self._round_id = None
        self._stack.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class StageContext:
    """One step of one trial at work."""

    run: Run
    trial: Trial
    round: Round
    record: TrialRecord
    protocol: Protocol
    toolbox: Toolbox
    claim: Claim
    stand: Stand

    @property
    def round_record(self) -> RoundRecord:
        """The record of the round that this step belongs to."""
        return self.record.rounds[self.round.number - 1]

    def say(self, kind: RunEventKind, text: str, *, criterion: str = "", mark: Mark | None = None) -> None:
        """Tell the run's live pages."""
        announce(
            run=self.run,
            trial=self.trial,
            round_number=self.round.number,
            kind=kind,
            text=text,
            criterion=criterion,
            mark=mark,
        )


def restore(snapshot: str, folder: Path) -> None:
    """Write a stored snapshot; raises StageError where its bytes are gone."""
    try:
        snapshots.restore(snapshot, folder)
    except blobs.BlobMissing as missing:
        raise StageError(f"The stored workspace cannot be read: {missing}") from None


def _record(round_: Round, report: DeploymentReport) -> Deployment:
    return Deployment.objects.create(
        round=round_,
        kind=report.kind or "",
        is_healthy=report.healthy,
        reason=report.reason,
        commands=list(report.commands),
        build_log=_log(report.build_log),
        server_log=_log(report.server_log),
        install_seconds=report.install_seconds,
        build_seconds=report.build_seconds,
        start_seconds=report.start_seconds,
    )


def _log(text: str) -> str:
    return blobs.save_bytes(text.encode("utf-8", "replace")) if text else ""


def _empty(folder: Path) -> None:
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
