"""Look whether a sandbox works on this machine, and say what mends it where it does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from runs.isolation import Look, SandboxLevel

_SECONDS = 10.0
_LOOK_AGAIN_AFTER = 60.0
_SWITCHES = {
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "user.max_user_namespaces": ("0", "15000"),
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
}
"""Settings of Linux that forbid namespaces to ordinary users: the value that forbids, the one that allows."""


def look(level: SandboxLevel) -> Look:
    """What is seen of a level now; asked again after a minute, so that installing it needs no restart."""
    return _look(level, int(time.monotonic() / _LOOK_AGAIN_AFTER), settings.SANDBOX_IMAGE)


def forget_looks() -> None:
    """Look anew at the next question."""
    _look.cache_clear()


@lru_cache(maxsize=16)
def _look(level: SandboxLevel, _minute: int, image: str) -> Look:
    match level:
        case SandboxLevel.NONE:
            return Look(
                level=level,
                works=True,
                seen="own process tree, own environment, limits; no wall before files and network",
            )
        case SandboxLevel.BUBBLEWRAP:
            return _bubblewrap()
        case SandboxLevel.DOCKER | SandboxLevel.PODMAN:
            return engine_look(level, shutil.which(level.value), image=image)


def _bubblewrap() -> Look:
    # Imported here: pages that only say what a run was made with need no sandbox.
    from runs.adapters.sandboxes.bubblewrap import find_bubblewrap

    # It remembers what it found; what was installed since is to be seen.
    find_bubblewrap.cache_clear()
    found = find_bubblewrap()
    if isinstance(found, str):
        return bubblewrap_refused(found, switches=_switches())
    return Look(level=SandboxLevel.BUBBLEWRAP, works=True, seen=f"bubblewrap, {found}")


def bubblewrap_refused(why: str, *, switches: Mapping[str, str]) -> Look:
    """What a sentence of refusal comes to; `switches` are the settings of Linux that bear on it."""
    reason, _, way_out = why.removesuffix(", or choose the sandbox none.").partition("; ")
    seen, mend = reason.rstrip("."), way_out
    if "was not found" in reason:
        mend = "apt install bubblewrap"
    else:
        for name, value in switches.items():
            forbids, allows = _SWITCHES[name]
            if value == forbids:
                seen = f"{seen}: {name} is {value}"
                mend = f"sysctl -w {name}={allows}"
                break
    return Look(level=SandboxLevel.BUBBLEWRAP, works=False, seen=seen, mend=mend)


def engine_look(level: SandboxLevel, program: str | None, *, image: str) -> Look:
    """Whether a container engine answers and has the image that commands run in."""
    if program is None:
        return Look(
            level=level, works=False, seen=f"{level.value} is not installed", mend=f"install {level.value}"
        )
    said = _said([program, "info"])
    if said is not None:
        return Look(
            level=level,
            works=False,
            seen=f"{program} is there, but its engine does not answer ({said})",
            mend="systemctl start docker" if level is SandboxLevel.DOCKER else f"{level.value} info",
        )
    if _said([program, "image", "inspect", image]) is not None:
        return Look(
            level=level,
            works=False,
            seen=f"{level.value} answers, but has no image {image}",
            mend=f"{level.value} pull {image}",
        )
    return Look(level=level, works=True, seen=f"{level.value}, image {image}")


def _said(argv: list[str]) -> str | None:
    """None where a command succeeds, else the last line of its complaint."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_SECONDS,
            check=False,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/")},
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_SECONDS:g} s"
    except OSError as error:
        return error.strerror or "it cannot be started"
    if done.returncode == 0:
        return None
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else f"exit code {done.returncode}"


def _switches() -> dict[str, str]:
    found = {}
    for name in _SWITCHES:
        path = Path("/proc/sys", *name.split("."))
        try:
            found[name] = path.read_text().strip()
        except OSError:
            continue  # This Linux does not know it.
    return found
