"""A program: lets hostile agents work in a sandbox, one after the other, and prints what came of each as JSON.

`python -m tests.hostile.holding FOLDER SECRET ACT...`: a process of its own, so that it can be the one of an
ordinary user, and so that nothing that an act does to its parent is done to the test.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.adapters.code_agents import AgentKit, code_agent
from runs.adapters.sandboxes.bubblewrap import BubblewrapSandbox
from runs.adapters.sandboxes.process import ProcessSandbox
from runs.errors import StageError
from runs.ports import Brief, TrajectoryEventRecord
from tests.hostile.outside import outside

ACTS = Path(__file__).with_name("acts.py")
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An act by name, how many seconds it is given, what else it is told, and whether in a box."""

    name: str
    seconds: float = 30.0
    more: dict[str, Any] | None = None
    is_boxed: bool = True


def held(trial: Trial, *, folder: Path, secret: str) -> dict[str, Any]:
    """Let an agent try one act and say how it ended, what it says, and what is changed outside."""
    marker = f"hostile-{folder.name}-{trial.name}"
    workspace = folder / "scratch" / "round-1" / "workspace"
    workspace.mkdir(parents=True)
    events: list[TrajectoryEventRecord] = []
    with outside(folder, secret=secret, marker=marker) as around:
        shutil.copy(ACTS, workspace)
        (workspace / "facts.json").write_text(json.dumps(around.facts() | (trial.more or {})))
        settings = {
            "command": f"{PYTHON} acts.py {trial.name} facts.json",
            "wall_clock": trial.seconds,
        }
        kit = AgentKit(
            sandbox=BubblewrapSandbox.found() if trial.is_boxed else ProcessSandbox(),
            scratch=folder / "scratch" / "agents",
            workspace_for=lambda *_: None,
        )
        brief = Brief(task_key="page", round_number=1, request="Please build a page.", workspace=workspace)
        began = time.monotonic()
        try:
            turn = (
                code_agent("command")
                .with_settings(settings, kit)
                .work(brief, record=events.append, is_cancelled=lambda: False)
            )
        except StageError as error:
            return {"trouble": str(error), "outside": around.check(workspace, told="")}
        took = time.monotonic() - began
        said = [event.data for event in events if event.data.get("type") == "findings"]
        answer = {
            "exit": turn.exit_reason.value,
            "detail": turn.detail,
            "seconds": took,
            "said": said[-1] if said else None,
            "output": [event.text for event in events if event.data.get("type") != "findings"][:20],
            "containment": _containment(turn),
        }
        told = json.dumps([event.text for event in events]) + json.dumps(said)
        return answer | {"outside": around.check(workspace, told=told)}


def _containment(turn: Any) -> dict[str, Any] | None:
    contained = turn.containment
    if contained is None:
        return None
    return {
        "level": contained.level,
        "processes_left": contained.processes_left,
        "ports_left": list(contained.ports_left),
        "files_left": list(contained.files_left),
        "limits_hit": [hit.kind.value for hit in contained.limits_hit],
    }


def main() -> None:
    folder, secret, orders = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    answers = {}
    for number, order in enumerate(orders):
        trial = Trial(**order)
        answers[trial.name] = held(trial, folder=folder / f"{number}", secret=secret)
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
