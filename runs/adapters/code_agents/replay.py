"""The code agent `replay`: puts a recorded workspace in place of the agent's work, round by round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmark.rules.protocol import SettingSpec
from benchmark.rules.vocabulary import ExitReason
from runs.adapters.code_agents import AgentKit, Settings, WorkspaceFor
from runs.adapters.sandboxes.folders import Copied, copy_into, empty
from runs.errors import StageError
from runs.ports import AgentTurn, Brief, CancelCheck, EventKind, TrajectoryEventRecord

NAME = "replay"
TITLE = "Replay recorded workspaces"
SETTINGS = (
    SettingSpec(
        name="candidate",
        type=str,
        default="",
        help="A recorded candidate of the benchmark by name, or a folder PATH that holds "
        "PATH/<task>/round_<n> or PATH/<task> alone.",
    ),
)

_INPUT = "data"


def build(_settings: Settings, kit: AgentKit) -> Replay:
    """Return the agent; which candidate is meant, the toolbox's resolver already knows."""
    return Replay(workspace_for=kit.workspace_for)


def folder_workspaces(root: Path) -> WorkspaceFor:
    """Return a resolver for a folder of workspaces: `<task>/round_<n>`, or `<task>` alone (round 1)."""

    def workspace_for(task_key: str, round_number: int) -> Path | None:
        task = root / task_key
        if not task.resolve().is_relative_to(root.resolve()) or not task.is_dir():
            return None
        rounds = any(child.name.startswith("round_") and child.is_dir() for child in task.iterdir())
        if not rounds:
            return task if round_number == 1 else None
        folder = task / f"round_{round_number}"
        return folder if folder.is_dir() and not folder.is_symlink() else None

    return workspace_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Makes the workspace equal to the recorded one of the round."""

    workspace_for: WorkspaceFor
    name: str = NAME

    def work(
        self,
        brief: Brief,
        *,
        record: Callable[[TrajectoryEventRecord], None],
        is_cancelled: CancelCheck,
    ) -> AgentTurn:
        """Replace the workspace; raises StageError when nothing is recorded for this task."""
        for number in range(brief.round_number, 0, -1):
            recorded = self.workspace_for(brief.task_key, number)
            if recorded is not None:
                break
        else:
            raise StageError(
                f"No workspace is recorded for task {brief.task_key!r}; "
                f"add a folder {brief.task_key}/round_1 (or {brief.task_key}) to the candidate, "
                "or leave the task out of the run."
            )
        if is_cancelled():
            return AgentTurn(exit_reason=ExitReason.CANCELLED, detail="Cancelled before anything changed.")
        try:
            copied = _replace(brief.workspace, recorded)
        except OSError as error:
            raise StageError(
                f"The recorded workspace of task {brief.task_key!r}, round {number}, "
                f"could not be copied: {error.strerror}."
            ) from error
        detail = _sentence(brief.round_number, number, copied)
        record(TrajectoryEventRecord(at=datetime.now(UTC), kind=EventKind.MESSAGE, text=detail))
        return AgentTurn(exit_reason=ExitReason.FINISHED, detail=detail)


def _replace(workspace: Path, recorded: Path) -> Copied:
    """Make `workspace` hold what `recorded` holds, and nothing else."""
    workspace.mkdir(parents=True, exist_ok=True)
    # The task's own input stays, unless the recorded workspace brings its own state of it.
    keep = frozenset() if (recorded / _INPUT).exists() else frozenset({_INPUT})
    empty(workspace, keep=keep)
    return copy_into(workspace, recorded)


def _sentence(asked: int, used: int, copied: Copied) -> str:
    files = f"{copied.files} file{'' if copied.files == 1 else 's'}"
    if used == asked:
        sentence = f"Put the recorded workspace of round {asked} in place ({files})."
    else:
        sentence = f"No workspace is recorded for round {asked}; that of round {used} stays ({files})."
    if copied.left_out:
        shown = ", ".join(copied.left_out[:5])
        sentence += f" Left out {len(copied.left_out)} that lead outside or are no files: {shown}."
    return sentence
