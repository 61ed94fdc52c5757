"""The real tools of a run, as the settings say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from runs.adapters.sandboxes import USUAL_LIMITS, Limits, ProcessSandbox
from runs.adapters.sandboxes.box import MIB
from runs.isolation import Look, SandboxLevel
from runs.ports import CodeAgent, Judge
from runs.sandbox_looks import look
from runs.sandboxing import sandbox_at
from runs.toolbox import Toolbox, WorkspaceFinder


def standard_toolbox(level: SandboxLevel) -> Toolbox:
    """The real tools, whose foreign commands run at a level; safe to use from any thread.

    Where the level does not work on this machine, every start is refused with a StageError.
    """
    return _toolbox(look(level))


def _command_limits() -> Limits:
    memory = settings.COMMAND_MEMORY_MIB * MIB
    return replace(
        USUAL_LIMITS,
        memory_bytes=memory or USUAL_LIMITS.memory_bytes,
        disk_bytes=settings.COMMAND_DISK_MIB * MIB,
        processes=settings.COMMAND_PROCESSES,
        cpu_seconds=float(settings.COMMAND_CPU_SECONDS),
    )


@cache
def _toolbox(seen: Look) -> Toolbox:
    # Imported here: pages and most commands start quicker without the tools of a worker.
    from runs.adapters.browser_places import BrowserPlaces
    from runs.adapters.code_agents import AgentKit, code_agent
    from runs.adapters.code_agents.replay import folder_workspaces
    from runs.adapters.deployers import LocalDeployer
    from runs.adapters.deployers.imaged import ImagedDeployer
    from runs.adapters.feedback.template import TemplateFeedback
    from runs.adapters.judges import JudgeKit, judge
    from runs.adapters.sandboxes.spawner import be_nice

    scratch = Path(settings.DATA_DIR) / "scratch"
    # Nobody else of this machine may enter: what an agent leaves may carry the rights of its owner.
    scratch.mkdir(parents=True, exist_ok=True)
    scratch.chmod(0o700)
    sandbox = sandbox_at(seen)
    be_nice(settings.RUN_NICENESS)
    places = BrowserPlaces(scratch / "browsers", most=settings.BROWSERS_AT_ONCE)

    def built_agent(name: str, given: Mapping[str, Any], recorded: WorkspaceFinder) -> CodeAgent:
        candidate = Path(str(given.get("candidate", "")))
        finder = folder_workspaces(candidate) if candidate.is_absolute() else recorded
        kit = AgentKit(
            sandbox=sandbox, scratch=scratch / "agents", workspace_for=finder, limits=_command_limits()
        )
        return code_agent(name).with_settings(given, kit)

    def built_judge(name: str, given: Mapping[str, Any]) -> Judge:
        # The judge is the bench's own program; its browser has a sandbox of its own for pages.
        kit = JudgeKit(
            sandbox=ProcessSandbox(), scratch=scratch / "judges", chromium=settings.CHROMIUM, places=places
        )
        return judge(name).with_settings(given, kit)

    return Toolbox(
        scratch=scratch,
        code_agent=built_agent,
        judge=built_judge,
        deployer=ImagedDeployer(
            deployer=LocalDeployer(
                sandbox=sandbox,
                scratch=scratch / "deployments",
                cache=Path(settings.DATA_DIR) / "cache",
                use=_command_limits(),
            )
        ),
        feedback_writer=TemplateFeedback(),
    )
