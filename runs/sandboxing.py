"""The sandbox that a run's commands are started in, by the level that the run was launched with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings

from runs.adapters.sandboxes import ProcessSandbox, Sandbox
from runs.errors import StageError
from runs.isolation import Look, SandboxChoice, SandboxLevel
from runs.sandbox_looks import look


def site_choice() -> SandboxChoice:
    """What this installation asks for where a launch says nothing."""
    return SandboxChoice(settings.SANDBOX)


def sandbox_at(level: SandboxLevel) -> Sandbox:
    """The sandbox of a level; one that does not work here refuses each start with a StageError.

    So a trial that was launched elsewhere, or before something was removed here, pauses and says why; it
    never goes on at a lower level.
    """
    seen = look(level)
    return _working(level) if seen.works else RefusingSandbox(seen=seen)


@cache
def _working(level: SandboxLevel) -> Sandbox:
    # Imported here: most commands start quicker without them.
    match level:
        case SandboxLevel.NONE:
            return ProcessSandbox()
        case SandboxLevel.BUBBLEWRAP:
            from runs.adapters.sandboxes.bubblewrap import BubblewrapSandbox

            return BubblewrapSandbox()
        case SandboxLevel.DOCKER | SandboxLevel.PODMAN:
            from runs.adapters.sandboxes.container import ContainerSandbox

            return ContainerSandbox(
                engine=level.value,
                image=settings.SANDBOX_IMAGE,
                scratch=Path(settings.DATA_DIR) / "scratch" / "containers",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusingSandbox:
    """Stands for a level that does not work on this machine."""

    seen: Look
    isolates: bool = True

    @property
    def name(self) -> str:
        return self.seen.level.value

    def start(self, _argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], **_options: Any) -> NoReturn:
        """Raise StageError with what is missing and the command that mends it."""
        mend = f" Mend it with: {self.seen.mend}. Then retry." if self.seen.mend else ""
        raise StageError(
            f"The run was launched with the sandbox {self.name!r}, which does not work on this machine: "
            f"{self.seen.seen}.{mend}"
        )
