"""The code agents: one module each, found by looking, registered nowhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from runs.adapters.kinds import Kind, Settings, kinds_in
from runs.adapters.sandboxes import USUAL_LIMITS, Limits, Sandbox
from runs.ports import CodeAgent

__all__ = ["AgentKit", "Settings", "WorkspaceFor", "all_code_agents", "code_agent"]

FAMILY = "code agent"

type WorkspaceFor = Callable[[str, int], Path | None]
"""Answers the recorded workspace of (task key, round number), or None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKit:
    """What the toolbox hands to whichever agent is built."""

    sandbox: Sandbox
    scratch: Path
    workspace_for: WorkspaceFor
    limits: Limits = USUAL_LIMITS


@cache
def all_code_agents() -> Mapping[str, Kind[AgentKit, CodeAgent]]:
    """Return every kind of code agent by name; raises TypeError for a module that declares none."""
    return kinds_in(sys.modules[__name__], family=FAMILY)


def code_agent(name: str) -> Kind[AgentKit, CodeAgent]:
    """Return the kind of that name; raises LookupError that names the known ones."""
    try:
        return all_code_agents()[name]
    except KeyError:
        known = ", ".join(all_code_agents())
        raise LookupError(f"Unknown code agent {name!r}; known are: {known}.") from None
