"""The levels of isolation that foreign commands may run under, and how one of them is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class SandboxLevel(StrEnum):
    """What stands between foreign commands and this machine."""

    BUBBLEWRAP = "bubblewrap"
    DOCKER = "docker"
    PODMAN = "podman"
    NONE = "none"
    """Own process tree, own environment, limits; no wall before files and network."""


class ContainedUse(StrEnum):
    """What foreign commands are started for; a containment report has a line for each."""

    AGENT = "agent"
    INSTALL = "install"
    BUILD = "build"
    SERVE = "serve"
    CASE = "case"


class SandboxChoice(StrEnum):
    """What a person or the installation asks for."""

    AUTO = "auto"
    BUBBLEWRAP = "bubblewrap"
    DOCKER = "docker"
    PODMAN = "podman"
    NONE = "none"


WALLS = (SandboxLevel.BUBBLEWRAP, SandboxLevel.DOCKER, SandboxLevel.PODMAN)
"""The levels that isolate, in the order in which `auto` tries them."""

NO_SANDBOX = "made without a sandbox"
"""What every page, file and table says of a run at the level `none`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Whether a level works on this machine: what was seen, and what mends it (empty where it works)."""

    level: SandboxLevel
    works: bool
    seen: str
    mend: str = ""


class NoSandbox(Exception):
    """There is no sandbox as asked for; the message names the reason and the way out."""


def level_for(
    choice: SandboxChoice, look: Callable[[SandboxLevel], Look], *, may_do_without: Callable[[], bool]
) -> SandboxLevel:
    """Return the level that a choice comes to on this machine.

    `auto` is the first level that works. Where none does, `may_do_without` is asked whether what is to
    be run is known (recorded candidates of our own sample) and goes on at the level `none`. Raises NoSandbox.
    """
    if choice is SandboxChoice.NONE:
        return SandboxLevel.NONE
    if choice is not SandboxChoice.AUTO:
        seen = look(SandboxLevel(choice.value))
        if not seen.works:
            raise NoSandbox(f"The sandbox {choice.value!r} does not work here: {seen.seen}. {_mend(seen)}")
        return seen.level
    looks = []
    for level in WALLS:
        looks.append(look(level))
        if looks[-1].works:
            return level
    if may_do_without():
        return SandboxLevel.NONE
    raise NoSandbox(
        f"No sandbox works here: {looks[0].seen}. {_mend(looks[0])} Or choose the sandbox none yourself "
        "(launch --sandbox none, or PROOFROOM_SANDBOX=none): then nothing keeps agents and candidates "
        "from what this account may read and reach."
    )


def _mend(seen: Look) -> str:
    return f"Mend it with: {seen.mend}." if seen.mend else "Run `proofroom doctor` to see more."
