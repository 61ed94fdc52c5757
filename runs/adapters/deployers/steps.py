"""Run the commands of a deployment one after the other, with bounded logs, deadlines and cancelling."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from runs.adapters.sandboxes import (
    NO_NETWORK,
    USUAL_LIMITS,
    BoundedLog,
    Box,
    Ending,
    EndReport,
    KeptCommand,
    Limits,
    Network,
    Sandbox,
    StartFailed,
    Stream,
    follow,
)
from runs.errors import Cancelled, StageError
from runs.ports import (
    CancelCheck,
    CandidateBroken,
    Containment,
    DeploymentKind,
    DeploymentReport,
    LimitHit,
    LimitKind,
)

_TICK = 0.2
_BUILD_NICENESS = 5
_LOG_STOP_BYTES = 512 << 20
_FULL_DISK_BYTES = 16 << 20

OUT_OF_MEMORY = "This machine ran out of memory, and not because of the application; free some, then retry."


class Phase(Enum):
    """What a deployment is busy with."""

    INSTALL = "install"
    BUILD = "build"
    SERVE = "serve"


@dataclass(slots=True, kw_only=True)
class Notes:
    """What is seen of one deployment while it goes on; becomes its report."""

    log_bytes: int
    kind: DeploymentKind | None = None
    commands: list[str] = field(default_factory=list)
    server: BoundedLog | None = None
    contained: list[Containment] = field(default_factory=list)
    _logs: list[BoundedLog] = field(default_factory=list)
    _begun: dict[Phase, float] = field(default_factory=dict)
    _seconds: dict[Phase, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, phase: Phase) -> Iterator[None]:
        """Count the time inside as that of a phase; a report made meanwhile counts it so far."""
        self._begun[phase] = time.monotonic()
        try:
            yield
        finally:
            self._seconds[phase] = self._seconds_of(phase)
            del self._begun[phase]

    def new_log(self) -> BoundedLog:
        """Return a log whose text becomes part of the build log."""
        log = BoundedLog(keep_bytes=self.log_bytes)
        self._logs.append(log)
        return log

    def say(self, sentence: str) -> None:
        """Add a sentence of the bench to the build log."""
        log = self.new_log()
        log.add(f"[{sentence}]\n".encode())

    def report(self, *, healthy: bool, reason: str = "") -> DeploymentReport:
        """Return what was seen so far."""
        return DeploymentReport(
            kind=self.kind,
            healthy=healthy,
            reason=reason,
            commands=tuple(self.commands),
            build_log="".join(log.text() for log in self._logs),
            server_log="" if self.server is None else self.server.text(),
            install_seconds=self._seconds_of(Phase.INSTALL),
            build_seconds=self._seconds_of(Phase.BUILD),
            start_seconds=self._seconds_of(Phase.SERVE),
        )

    def _seconds_of(self, phase: Phase) -> float:
        begun = self._begun.get(phase)
        so_far = 0.0 if begun is None else time.monotonic() - begun
        return self._seconds.get(phase, 0.0) + so_far

    def broken(self, reason: str) -> CandidateBroken:
        """Return the verdict that the candidate is at fault, with everything seen so far."""
        return CandidateBroken(self.report(healthy=False, reason=reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnd:
    """How one command ended and what it wrote."""

    ending: Ending
    exit_code: int | None
    log: str
    limits_hit: tuple[LimitHit, ...] = ()

    @property
    def succeeded(self) -> bool:
        """True when the command ended by itself with exit code 0."""
        return self.ending is Ending.FINISHED and self.exit_code == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Runs commands in the candidate's folder, which is all they may write beside `writable`, and notes them."""

    sandbox: Sandbox
    folder: Path
    notes: Notes
    is_cancelled: CancelCheck
    writable: tuple[Path, ...] = ()
    limits: Limits = USUAL_LIMITS

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        shown: str,
        seconds: float,
        phase: Phase = Phase.INSTALL,
        network: Network = NO_NETWORK,
        read_only: Sequence[Path] = (),
        writable: Sequence[Path] = (),
    ) -> StepEnd:
        """Run one command to its end; raises Cancelled, or StageError when it could not be held."""
        self.notes.commands.append(shown)
        log = self.notes.new_log()
        log.add(f"$ {shown}\n".encode())
        box = self.box(network=network, read_only=read_only, writable=writable)
        with self.start(
            argv, env=env, shown=shown, seconds=seconds, niceness=_BUILD_NICENESS, box=box
        ) as kept:
            assert kept.stdout is not None
            reader = follow(kept.stdout, log, stop_bytes=_LOG_STOP_BYTES, on_stop=_ender(kept))
            try:
                report = self.wait(kept)
            except Cancelled:
                self.note(kept.end(), phase, written=log.seen, most=_LOG_STOP_BYTES)
                raise
            reader.join(5)
        hits = self.note(report, phase, written=log.seen, most=_LOG_STOP_BYTES)
        if report.ending is Ending.KEEPER_DIED:
            raise StageError(f"Something killed the process that holds {shown!r}; retry the trial.")
        if report.machine_out_of_memory:
            raise StageError(OUT_OF_MEMORY)
        return StepEnd(ending=report.ending, exit_code=report.exit_code, log=log.text(), limits_hit=hits)

    def box(
        self,
        *,
        network: Network = NO_NETWORK,
        read_only: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        port: int | None = None,
    ) -> Box:
        """Return the box of one command."""
        return Box(
            workspace=self.folder,
            writable=(*self.writable, *writable),
            read_only=tuple(read_only),
            network=network,
            limits=self.limits,
            port=port,
        )

    def note(self, report: EndReport, phase: Phase, *, written: int, most: int) -> tuple[LimitHit, ...]:
        """Note how a command was held; answers the limits it met, that of its output included."""
        hits = report.limits_hit
        if report.ending is Ending.OUTPUT_LIMIT:
            hits = (*hits, LimitHit(kind=LimitKind.OUTPUT, limit=most, seen=written))
        self.notes.contained.append(
            Containment(
                level=self.sandbox.name,
                stage=phase.value,
                processes_left=report.survivors,
                ports_left=report.ports_left,
                seconds_to_end=report.seconds_to_end,
                limits_hit=hits,
            )
        )
        return hits

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        shown: str,
        seconds: float | None,
        niceness: int = 0,
        box: Box,
    ) -> KeptCommand:
        """Start one command; a missing program is the candidate's fault, it was asked for by name."""
        try:
            return self.sandbox.start(
                argv,
                cwd=self.folder,
                env=env,
                stderr=Stream.WITH_STDOUT,
                deadline_seconds=seconds,
                niceness=niceness,
                box=box,
            )
        except StartFailed as refused:
            raise self.notes.broken(f"The command {shown!r} cannot be started. {refused}") from refused

    def wait(self, kept: KeptCommand) -> EndReport:
        """Wait for the end of a command; raises Cancelled soon after the run was cancelled."""
        while True:
            self.stop_if_cancelled()
            try:
                return kept.wait(_TICK)
            except TimeoutError:
                continue

    def stop_if_cancelled(self) -> None:
        """Raise Cancelled when the run was cancelled."""
        if self.is_cancelled():
            raise Cancelled("The run was cancelled while the application was being deployed.")

    def stop_if_disk_is_full(self) -> None:
        """Raise StageError when there is no room left: then no candidate can be blamed."""
        if shutil.disk_usage(self.folder).free < _FULL_DISK_BYTES:
            raise StageError("The disk is full; free some space, then retry.")


def _ender(kept: KeptCommand) -> Callable[[], None]:
    def end() -> None:
        kept.end(ending=Ending.OUTPUT_LIMIT)

    return end
