"""The sandbox that a run's commands are started in, by the level that the run was launched with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

from django.conf import settings

from runs.adapters.sandboxes import Box, ProcessSandbox, Sandbox, Stream
from runs.errors import StageError
from runs.isolation import Look, SandboxChoice, SandboxLevel


def site_choice() -> SandboxChoice:
    """What this installation asks for where a launch says nothing."""
    return SandboxChoice(settings.SANDBOX)


def sandbox_at(seen: Look) -> Sandbox:
    """The sandbox of a level; one that does not work here refuses each start with a StageError.

    So a trial that was launched elsewhere, or before something was removed here, pauses and says why; it
    never goes on at a lower level.
    """
    return _working(seen.level) if seen.works else RefusingSandbox(seen)


@cache
def _working(level: SandboxLevel) -> Sandbox:
    # Imported here: most commands start quicker without them.
    match level:
        case SandboxLevel.NONE:
            return ProcessSandbox()
        case SandboxLevel.BUBBLEWRAP:
            from runs.adapters.sandboxes.bubblewrap import BubblewrapSandbox

            return BubblewrapSandbox.found()
        case SandboxLevel.DOCKER | SandboxLevel.PODMAN:
            from runs.adapters.sandboxes.container import ContainerSandbox

            return ContainerSandbox(name=level.value, image=settings.SANDBOX_IMAGE)


class RefusingSandbox:
    """Stands for a level that does not work on this machine."""

    isolates = True

    def __init__(self, seen: Look) -> None:
        self.name = seen.level.value
        self._seen = seen

    def start(  # the arguments of the port, none of which is looked at
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: Stream = Stream.NOTHING,
        stdout: Stream = Stream.PIPE,
        stderr: Stream = Stream.PIPE,
        deadline_seconds: float | None = None,
        grace_seconds: float = 2.0,
        niceness: int = 0,
        box: Box | None = None,
    ) -> NoReturn:
        """Raise StageError with what is missing and the command that mends it."""
        mend = f" Mend it with: {self._seen.mend}. Then retry." if self._seen.mend else ""
        raise StageError(
            f"The run was launched with the sandbox {self.name!r}, which does not work on this machine: "
            f"{self._seen.seen}.{mend}"
        )
