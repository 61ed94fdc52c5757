"""Frozen records: a task as declared, a trial as it happened, and the scores that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmark.rules.vocabulary import ExitReason, Mark, StageName, TrialState


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeSpec:
    """One expected outcome: the smallest thing that is marked. `script` is None where none was written."""

    text: str
    script: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionSpec:
    """One hidden check of a task. `before` are steps that precede every outcome's script."""

    key: str
    title: str = ""
    kind: str
    weight: int = 1
    needs: tuple[str, ...] = ()
    outcomes: tuple[OutcomeSpec, ...]
    before: tuple[Mapping[str, Any], ...] = ()
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.outcomes:
            raise ValueError(f"Criterion {self.key!r} expects no outcome; give it at least one.")
        if self.weight < 1:
            raise ValueError(f"Criterion {self.key!r} has weight {self.weight}; a weight is 1 or more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """One application to build. `facts` are free: strata, category, `{"underspecified": False}`."""

    key: str
    title: str
    request: str
    prd: str = ""
    criteria: tuple[CriterionSpec, ...]
    deploy: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """One round as saved.

    `marks` holds a mark for each outcome of a criterion; a criterion that is absent was not judged
    (yet). `feedback` is what was written after this round, and thus the request of the next one.
    """

    number: int
    marks: Mapping[str, tuple[Mark, ...]] = field(default_factory=dict)
    completed: frozenset[StageName] = frozenset()
    rationales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    request: str = ""
    feedback: str = ""
    exit_reason: ExitReason | None = None
    audit_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRecord:
    """One task of a run (one repeat) with its rounds in order, numbered from 1 without a hole."""

    task: TaskSpec
    repeat: int = 1
    rounds: tuple[RoundRecord, ...] = ()
    state: TrialState
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        numbers = [round_.number for round_ in self.rounds]
        if numbers != list(range(1, len(numbers) + 1)):
            raise ValueError(
                f"Task {self.task.key!r} has the rounds {numbers}; they go 1, 2, 3 without a hole."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One number with what is needed to read it.

    `value` is None where the number is undefined; `reason` then says why. `half_width` (95%) is None
    for counts and where it cannot be computed (one task). `denominator` is set for pooled ratios.
    """

    value: float | None
    half_width: float | None = None
    n: int
    reason: str | None = None
    denominator: float | None = None

    def __post_init__(self) -> None:
        if (self.value is None) != (self.reason is not None):
            raise ValueError("An undefined number needs its reason, and only an undefined one has it.")

    @property
    def is_defined(self) -> bool:
        """Whether there is a number at all."""
        return self.value is not None

    def as_json(self) -> dict[str, Any]:
        """Return the number as the marks-file door prints it."""
        if self.value is None:
            return {"value": None, "reason": self.reason}
        printed: dict[str, Any] = {
            "value": self.value,
            "half_width": self.half_width,
            "n": self.n,
        }
        if self.denominator is not None:
            printed["denominator"] = _whole_if_possible(self.denominator)
        return printed


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundScores:
    """Every metric at the end of one round."""

    round: int
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Every number of one run: over all tasks, per task, per round, and the marks of the last round.

    `unfinished` counts tasks that are left out because their run still goes on.
    """

    metrics: Mapping[str, Estimate]
    per_task: Mapping[str, Mapping[str, Estimate]]
    per_round: tuple[RoundScores, ...]
    criteria: Mapping[str, Mapping[str, Mark]]
    errors: int = 0
    skipped: int = 0
    infrastructure_failures: int = 0
    audit_failed: int = 0
    unfinished: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the document that `proofroom score --json` prints."""
        return {
            "metrics": _printed(self.metrics),
            "per_task": {key: _printed(metrics) for key, metrics in self.per_task.items()},
            "per_round": [{"round": at.round, **_printed(at.metrics)} for at in self.per_round],
            "criteria": {
                task: {key: mark.value for key, mark in marks.items()}
                for task, marks in self.criteria.items()
            },
            "errors": self.errors,
            "skipped": self.skipped,
            "infrastructure_failures": self.infrastructure_failures,
            "audit_failed": self.audit_failed,
        }


def _printed(metrics: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: estimate.as_json() for name, estimate in metrics.items()}


def _whole_if_possible(number: float) -> float | int:
    return int(number) if number == int(number) else number
