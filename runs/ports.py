"""What a run asks of the outside world: code agents, deployers, judges and feedback writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from benchmark.rules.records import CriterionSpec, RoundRecord, TaskSpec
from benchmark.rules.vocabulary import ExitReason, Mark

type CancelCheck = Callable[[], bool]
"""Answers True once the run was cancelled; adapters ask it at least every second."""


class EventKind(StrEnum):
    """What one event of a trajectory is."""

    MESSAGE = "message"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    OUTPUT = "output"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryEventRecord:
    """One event as it arrived; `at` is the arrival time, because some tools send none of their own."""

    at: datetime
    kind: EventKind
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


class LimitKind(StrEnum):
    """What a command may use only so much of, with everything it starts."""

    CPU = "cpu"
    MEMORY = "memory"
    PROCESSES = "processes"
    FILE_SIZE = "file_size"
    DISK = "disk"
    OUTPUT = "output"
    WALL_CLOCK = "wall_clock"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitHit:
    """A limit that ended a command: seconds (cpu, wall_clock), a number (processes) or bytes (the others)."""

    kind: LimitKind
    limit: float
    seen: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Containment:
    """How one foreign command was held, and what was left of it after its end.

    `level` is the sandbox's name, `stage` one of install, build, serve, agent, case. `files_left` are
    paths outside the workspace that could not be removed.
    """

    level: str
    stage: str
    processes_left: int = 0
    ports_left: tuple[int, ...] = ()
    files_left: tuple[str, ...] = ()
    seconds_to_end: float = 0.0
    limits_hit: tuple[LimitHit, ...] = ()


type ContainedNote = Callable[[Containment], None]
"""Is told of each foreign command once it is over; called from the thread that asked for the work."""


def not_noted(_containment: Containment) -> None:
    """Keep no containment: for those who do not ask how a command was held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """All that a code agent may know: the request of this round and where the files are."""

    task_key: str
    round_number: int
    request: str
    workspace: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTurn:
    """How a code agent's work on one round ended. `detail` is one sentence for a person."""

    exit_reason: ExitReason
    detail: str = ""
    exit_code: int | None = None
    containment: Containment | None = None
    """None for an agent that starts no foreign command."""


class CodeAgent(Protocol):
    """Changes the workspace in place, as the request asks."""

    name: str

    def work(
        self,
        brief: Brief,
        *,
        record: Callable[[TrajectoryEventRecord], None],
        is_cancelled: CancelCheck,
    ) -> AgentTurn:
        """Work until done; raises StageError when the bench (not the agent) is at fault."""
        ...


class DeploymentKind(StrEnum):
    """How a candidate is built and served."""

    STATIC = "static"
    VITE = "vite"
    NODE = "node"
    PYTHON = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentReport:
    """What was seen while a candidate was built and started. `reason` is empty when it answers."""

    kind: DeploymentKind | None
    healthy: bool
    reason: str = ""
    commands: tuple[str, ...] = ()
    build_log: str = ""
    server_log: str = ""
    install_seconds: float = 0.0
    build_seconds: float = 0.0
    start_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningApp:
    """A candidate that answers on this machine. `address` is `http://127.0.0.1:PORT`.

    `machines_fault` says in one sentence how the machine ended it, and is empty while it lives or where it
    ended by itself.
    """

    address: str
    port: int
    report: DeploymentReport
    server_log: Callable[[], str]
    is_alive: Callable[[], bool]
    machines_fault: Callable[[], str] = lambda: ""


class CandidateBroken(Exception):
    """The candidate cannot be built or never answers: a verdict on it, with the evidence in `report`."""

    def __init__(self, report: DeploymentReport) -> None:
        super().__init__(report.reason)
        self.report = report


class Deployer(Protocol):
    """Builds and serves what is in a folder."""

    def serve(
        self,
        folder: Path,
        *,
        deploy: Mapping[str, Any],
        is_cancelled: CancelCheck,
        contained: ContainedNote = not_noted,
    ) -> AbstractContextManager[RunningApp]:
        """Serve until the context ends, then end its whole process tree.

        `deploy` is the task's own wish (kind, build, start), or empty: then the files decide.
        `contained` is told how each command was held, the server's included, at the latest when the
        context ends.
        Raises CandidateBroken when the candidate is at fault, StageError when the bench is.
        """
        ...


class EvidenceKind(StrEnum):
    """What a piece of evidence shows."""

    SCREENSHOT = "screenshot"
    ACTIONS = "actions"
    CONSOLE = "console"
    NETWORK = "network"
    DOM = "dom"
    TRACE = "trace"
    LOG = "log"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFile:
    """One piece of evidence, held in memory: one outcome's pieces are small (limits in the judge)."""

    kind: EvidenceKind
    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeVerdict:
    """A judge's mark on one expected outcome, with what it was made from.

    `reason` is a short machine word for errors (no_script, browser_crashed, time_limit, parent, ...),
    empty for pass and fail; `rationale` is one or two sentences for a person.
    """

    index: int
    mark: Mark
    rationale: str
    reason: str = ""
    raw: str = ""
    parser: str = ""
    seconds: float = 0.0
    evidence: tuple[EvidenceFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionVerdict:
    """All verdicts of one judge on one criterion, in the order of its outcomes."""

    key: str
    outcomes: tuple[OutcomeVerdict, ...]


class JudgeSession(Protocol):
    """A judge at work on one running candidate."""

    def judge(
        self, criteria: Sequence[CriterionSpec], *, on_start: Callable[[str], None]
    ) -> Iterator[CriterionVerdict]:
        """Judge independent criteria, several at once, and yield each as it is done.

        `on_start(key)` is called when a criterion begins. Trouble of the bench comes back as `error`
        verdicts; StageError only where nothing at all can be judged.
        """
        ...


class Judge(Protocol):
    """Opens sessions; `settings` is what makes two judgings comparable and is stored with them."""

    @property
    def name(self) -> str:
        """What verdicts call the judge."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the same candidate might be marked otherwise."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Every setting that a mark may depend on."""
        ...

    def session(
        self,
        app: RunningApp,
        *,
        uploads: Path | None,
        is_cancelled: CancelCheck,
    ) -> AbstractContextManager[JudgeSession]:
        """Open a session on a running candidate; every process ends with the context."""
        ...


class FeedbackWriter(Protocol):
    """Turns the failures of a round into what a user would say."""

    name: str

    def write(self, task: TaskSpec, judged: RoundRecord, failed: Sequence[CriterionSpec]) -> str:
        """Write feedback on `failed` (executed, not fully passed) only; empty when nothing failed."""
        ...
