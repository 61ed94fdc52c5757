"""Everything outside that a stage may use, behind the ports; tests put other things in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.ports import CodeAgent, Deployer, FeedbackWriter, Judge

type WorkspaceFinder = Callable[[str, int], Path | None]
"""(task key, round number) → a folder to copy from, or None where nothing was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """Builders of adapters by name, the deployer, the feedback writer and a folder for scratch.

    Builders raise LookupError for a name they do not know, ValueError for a setting.
    """

    scratch: Path
    code_agent: Callable[[str, Mapping[str, Any], WorkspaceFinder], CodeAgent]
    judge: Callable[[str, Mapping[str, Any]], Judge]
    deployer: Deployer
    feedback_writer: FeedbackWriter
