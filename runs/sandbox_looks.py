"""Look whether a sandbox works on this machine, and say what mends it where it does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
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

_EVERYTHING = [
    *("--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534", "--disable-userns"),
    *("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv"),
    *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/sh", "-c", ":"),
]
"""Every namespace that the sandbox asks for, around a command that does nothing."""


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
    level = SandboxLevel.BUBBLEWRAP
    program = shutil.which("bwrap")
    if program is None:
        return Look(
            level=level, works=False, seen="bubblewrap is not installed", mend="apt install bubblewrap"
        )
    said = _said([program, *_EVERYTHING])
    if said is None:
        return Look(level=level, works=True, seen=f"bubblewrap, {program}")
    return bubblewrap_refused(program, said, switches=_switches())


def bubblewrap_refused(program: str, said: str, *, switches: dict[str, str]) -> Look:
    """What a refusal of bubblewrap comes to; `switches` are the settings of Linux that bear on it."""
    level = SandboxLevel.BUBBLEWRAP
    for name, value in switches.items():
        forbids, allows = _SWITCHES[name]
        if value == forbids:
            return Look(
                level=level,
                works=False,
                seen=f"{program} may make no namespace, because {name} is {value}",
                mend=f"sysctl -w {name}={allows}",
            )
    if "disable-userns" in said and "nknown" in said:
        return Look(
            level=level,
            works=False,
            seen=f"{program} is too old: it does not know --disable-userns",
            mend="install bubblewrap 0.8 or newer",
        )
    return Look(
        level=level,
        works=False,
        seen=f"{program} is refused ({said})",
        mend="run the bench outside a container, or in one that may make user namespaces",
    )


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
