"""The closed sets of words that marks, states, stages and settings are made of."""

from __future__ import annotations

from enum import StrEnum


class Mark(StrEnum):
    """What is said of an expected outcome or a criterion."""

    PASS = "pass"
    PARTIAL = "partial"
    FAIL = "fail"
    SKIPPED = "skipped"
    ERROR = "error"

    @property
    def credit(self) -> float | None:
        """The share earned; None for skipped and error, which say nothing about the candidate."""
        return _CREDITS.get(self)

    @property
    def is_judged(self) -> bool:
        """Whether the mark speaks of the candidate: pass, partial or fail."""
        return self in _CREDITS


_CREDITS = {Mark.PASS: 1.0, Mark.PARTIAL: 0.5, Mark.FAIL: 0.0}


class Mode(StrEnum):
    """Whether criteria behind unsatisfied prerequisites are left unjudged (dag) or not (flat)."""

    DAG = "dag"
    FLAT = "flat"


class ExitReason(StrEnum):
    """Why a code agent's work on a round ended."""

    FINISHED = "finished"
    TURN_CAP = "turn_cap"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    PROVIDER_ERROR = "provider_error"
    CANCELLED = "cancelled"


class TrialState(StrEnum):
    """Where a trial stands; `paused` means trouble of the bench."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    AUDIT_FAILED = "audit_failed"
    CANCELLED = "cancelled"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens to the trial unless a person asks for it."""
        return self in (
            TrialState.FINISHED,
            TrialState.AUDIT_FAILED,
            TrialState.CANCELLED,
        )


class RunState(StrEnum):
    """Where a run stands."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    CANCELLED = "cancelled"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens to the run unless a person asks for it."""
        return self in (RunState.FINISHED, RunState.CANCELLED)


class RoundState(StrEnum):
    """Whether anything of a round is still to come."""

    OPEN = "open"
    CLOSED = "closed"


class StageName(StrEnum):
    """The steps that a round is made of; a protocol names those it uses, in order."""

    BRIEF = "brief"
    CODE = "code"
    DEPLOY = "deploy"
    JUDGE = "judge"
    REFUTE = "refute"
    AUDIT = "audit"
    ATTRIBUTE = "attribute"
    MEASURE = "measure"
    FEEDBACK = "feedback"
    SCORE = "score"


class Role(StrEnum):
    """Whose verdict it is: the judge's own, or the refuter's, who challenges it."""

    PRIMARY = "primary"
    REFUTED = "refuted"


class Unit(StrEnum):
    """What a metric's number is: a share between 0 and 1, or a count."""

    SHARE = "share"
    COUNT = "count"


class ChartKind(StrEnum):
    """How a chart is drawn."""

    LINE_BY_ROUND = "line_by_round"
    BARS = "bars"


class TableRows(StrEnum):
    """What the rows of a table are; its columns are metrics."""

    ROUNDS = "rounds"
    TASKS = "tasks"
    RUN = "run"
