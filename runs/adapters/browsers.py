"""Find a Chromium on this machine and say how it must be started."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

SETTING = "PROOFROOM_CHROMIUM"
"""The environment variable that names a browser explicitly; settings read it and pass it in."""

_QUIET_ARGUMENTS = (
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-gpu",
    # A small /dev/shm, as in containers, would crash pages that are not at fault.
    "--disable-dev-shm-usage",
    # A page that fills its heap crashes at a limit of its own, long before the machine suffers.
    "--js-flags=--max-old-space-size=512",
)
# The headless shell first: it starts faster and takes less memory. Never the wrapper script in a bin
# folder: it does not exec, so ending it leaves the browser behind.
_DISTRIBUTION_PATHS = (
    "usr/lib/chromium/chromium-headless-shell",
    "usr/lib/chromium/chromium",
    "usr/lib/chromium-browser/chromium-headless-shell",
    "usr/lib/chromium-browser/chromium-browser",
    "opt/google/chrome/chrome",
    "Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "Applications/Chromium.app/Contents/MacOS/Chromium",
)
_CACHED_PATTERNS = (
    "chromium_headless_shell-*/*/headless_shell",
    "chromium_headless_shell-*/*/chrome-headless-shell",
    "chromium-*/*/chrome",
    "chromium-*/*/*.app/Contents/MacOS/*",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBrowser:
    """A browser's program, or one sentence that says why there is none and what to do."""

    path: Path | None
    problem: str = ""


def find_chromium(
    setting: str = "", *, environment: Mapping[str, str], root: Path = Path("/"), home: Path | None = None
) -> FoundBrowser:
    """Find Chromium: an explicit setting, then Playwright's cache, then where distributions put it.

    `setting` is the value of PROOFROOM_CHROMIUM; when it is given, nothing else is tried.
    """
    if setting:
        return _explicit(Path(setting))
    for path in (
        *_cached(environment, home or Path.home()),
        *(root / known for known in _DISTRIBUTION_PATHS),
    ):
        if _can_run(path):
            return FoundBrowser(path=path)
    return FoundBrowser(
        path=None,
        problem=(
            "No Chromium was found. Install one (Debian: apt install chromium-headless-shell; elsewhere: "
            f"python -m playwright install chromium), or name its program in {SETTING}."
        ),
    )


def chromium_arguments(*, is_root: bool) -> tuple[str, ...]:
    """Return the command-line arguments that every launch needs."""
    return (*_QUIET_ARGUMENTS, "--no-sandbox") if is_root else _QUIET_ARGUMENTS


def running_as_root() -> bool:
    """Tell whether this process is root, for whom Chromium refuses its own sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _explicit(path: Path) -> FoundBrowser:
    if not path.is_file():
        return FoundBrowser(path=None, problem=f"{SETTING} names {str(path)!r}, and there is no such file.")
    if not os.access(path, os.X_OK):
        return FoundBrowser(path=None, problem=f"{SETTING} names {str(path)!r}, which cannot be executed.")
    return FoundBrowser(path=path)


def _cached(environment: Mapping[str, str], home: Path) -> Iterable[Path]:
    folder = _cache_folder(environment, home)
    for pattern in _CACHED_PATTERNS:
        yield from sorted(folder.glob(pattern), key=_revision, reverse=True)


def _cache_folder(environment: Mapping[str, str], home: Path) -> Path:
    named = environment.get("PLAYWRIGHT_BROWSERS_PATH", "")
    if named and named != "0":
        return Path(named)
    if platform.system() == "Darwin":
        return home / "Library" / "Caches" / "ms-playwright"
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "ms-playwright"


def _revision(path: Path) -> int:
    for part in path.parts:
        name, _, number = part.rpartition("-")
        if name.startswith("chromium") and number.isdigit():
            return int(number)
    return 0


def _can_run(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
