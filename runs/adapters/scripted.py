"""Adapters that do what they are told, for tests of everything around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.rules.records import CriterionSpec, RoundRecord, TaskSpec
from benchmark.rules.vocabulary import ExitReason, Mark
from runs.errors import StageError
from runs.ports import (
    AgentTurn,
    Brief,
    CancelCheck,
    CandidateBroken,
    ContainedNote,
    Containment,
    CriterionVerdict,
    DeploymentReport,
    JudgeSession,
    OutcomeVerdict,
    RunningApp,
    TrajectoryEventRecord,
    not_noted,
)

type Plan = Mapping[str, Sequence[Mark]]
"""Criterion key → a mark per outcome; a criterion that is absent passes."""


@dataclass(slots=True, kw_only=True)
class ScriptedAgent:
    """Writes the round's number into a file, or fails as told."""

    name: str = "scripted"
    trouble: list[str] = field(default_factory=list)
    """Sentences to fail with, one a call, before it works."""

    def work(
        self,
        brief: Brief,
        *,
        record: Callable[[TrajectoryEventRecord], None],
        is_cancelled: CancelCheck,
    ) -> AgentTurn:
        """Change the workspace."""
        if self.trouble:
            raise StageError(self.trouble.pop(0))
        if is_cancelled():
            return AgentTurn(exit_reason=ExitReason.CANCELLED)
        (brief.workspace / "index.html").write_text(f"round {brief.round_number}")
        return AgentTurn(exit_reason=ExitReason.FINISHED)


@dataclass(slots=True, kw_only=True)
class ScriptedDeployer:
    """Says that the candidate stands, or that it is broken for a reason."""

    broken: str = ""
    starts: int = 0
    lives: bool = False
    """Set at each start; a test clears it to let the candidate die."""
    fault: str = ""
    """How the machine ended the candidate that died, if it did."""

    @contextmanager
    def serve(
        self,
        folder: Path,
        *,
        deploy: Mapping[str, Any],
        is_cancelled: CancelCheck,
        contained: ContainedNote = not_noted,
    ) -> Iterator[RunningApp]:
        """Stand until the context ends; tell `contained` that nothing was left."""
        self.starts += 1
        report = DeploymentReport(kind=None, healthy=not self.broken, reason=self.broken)
        if self.broken:
            raise CandidateBroken(report)
        self.lives = True
        try:
            yield RunningApp(
                address="http://127.0.0.1:9",
                port=9,
                report=report,
                server_log=lambda: "",
                is_alive=lambda: self.lives,
                machines_fault=lambda: "" if self.lives else self.fault,
            )
        finally:
            contained(Containment(level="scripted", stage="serve"))


@dataclass(slots=True, kw_only=True)
class ScriptedJudge:
    """Gives the marks of its plans: the first call on a criterion takes the first plan, and so on."""

    plans: Sequence[Plan] = ()
    name: str = "planned"
    version: str = "1"
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    dies_after: int | None = None
    """Raise after so many criteria, as a crash of the worker would end it."""

    @contextmanager
    def session(
        self,
        app: RunningApp,
        *,
        uploads: Path | None,
        is_cancelled: CancelCheck,
    ) -> Iterator[JudgeSession]:
        """Open a session; nothing has to be closed."""
        yield self

    def judge(
        self, criteria: Sequence[CriterionSpec], *, on_start: Callable[[str], None]
    ) -> Iterator[CriterionVerdict]:
        """Answer from the plans."""
        for criterion in criteria:
            on_start(criterion.key)
            if self.dies_after is not None:
                if self.dies_after == 0:
                    raise RuntimeError("The judge died, as it was told.")
                self.dies_after -= 1
            calls = self.asked.count(criterion.key)
            self.asked.append(criterion.key)
            plan = self.plans[min(calls, len(self.plans) - 1)] if self.plans else {}
            marks = plan.get(criterion.key, (Mark.PASS,) * len(criterion.outcomes))
            yield CriterionVerdict(
                key=criterion.key,
                outcomes=tuple(
                    OutcomeVerdict(
                        index=index,
                        mark=mark,
                        rationale=f"{criterion.key}.{index} was planned as {mark.value}.",
                        reason="planned" if mark is Mark.ERROR else "",
                    )
                    for index, mark in enumerate(marks)
                ),
            )


@dataclass(slots=True, kw_only=True)
class ScriptedFeedback:
    """Names what failed."""

    name: str = "scripted"

    def write(
        self,
        task: TaskSpec,
        judged: RoundRecord,
        failed: Sequence[CriterionSpec],
    ) -> str:
        """Write the keys of what failed."""
        return "Please mend " + ", ".join(criterion.key for criterion in failed)
