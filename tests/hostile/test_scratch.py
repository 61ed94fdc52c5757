"""Where foreign files lie while they are worked with: only the site's own user may go there."""

from __future__ import annotations

from runs.isolation import SandboxLevel
from runs.standard_tools import standard_toolbox


def test_what_an_agent_left_behind_cannot_be_started_by_another_user_of_the_machine():
    """A program with the rights of its owner is harmless where nobody else can reach it."""
    scratch = standard_toolbox(SandboxLevel.NONE).scratch

    assert scratch.stat().st_mode & 0o077 == 0
