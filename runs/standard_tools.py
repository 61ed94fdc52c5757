"""The real tools of a run, as the settings say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from runs.ports import CodeAgent, Judge
from runs.toolbox import Toolbox, WorkspaceFinder


@cache
def standard_toolbox() -> Toolbox:
    """The real tools; one set a process, safe to use from any thread."""
    # Imported here: pages and most commands start quicker without the tools of a worker.
    from runs.adapters.browser_places import BrowserPlaces
    from runs.adapters.code_agents import AgentKit, code_agent
    from runs.adapters.code_agents.replay import folder_workspaces
    from runs.adapters.deployers import LocalDeployer
    from runs.adapters.feedback.template import TemplateFeedback
    from runs.adapters.judges import JudgeKit, judge
    from runs.adapters.sandboxes import ProcessSandbox
    from runs.adapters.sandboxes.spawner import be_nice

    scratch = Path(settings.DATA_DIR) / "scratch"
    sandbox = ProcessSandbox()
    be_nice(settings.RUN_NICENESS)
    places = BrowserPlaces(scratch / "browsers", most=settings.BROWSERS_AT_ONCE)

    def built_agent(name: str, given: Mapping[str, Any], recorded: WorkspaceFinder) -> CodeAgent:
        candidate = Path(str(given.get("candidate", "")))
        finder = folder_workspaces(candidate) if candidate.is_absolute() else recorded
        kit = AgentKit(sandbox=sandbox, scratch=scratch / "agents", workspace_for=finder)
        return code_agent(name).with_settings(given, kit)

    def built_judge(name: str, given: Mapping[str, Any]) -> Judge:
        kit = JudgeKit(sandbox=sandbox, scratch=scratch / "judges", chromium=settings.CHROMIUM, places=places)
        return judge(name).with_settings(given, kit)

    return Toolbox(
        scratch=scratch,
        code_agent=built_agent,
        judge=built_judge,
        deployer=LocalDeployer(
            sandbox=sandbox, scratch=scratch / "deployments", cache=Path(settings.DATA_DIR) / "cache"
        ),
        feedback_writer=TemplateFeedback(),
    )
