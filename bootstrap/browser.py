"""See to it that a Chromium is there: what is present first, then the distribution's, then Playwright's own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from runs.adapters.browsers import SETTING, find_chromium

DOWNLOAD_DEADLINE_S = 60
FONTS = ("fonts-noto-color-emoji", "fonts-noto-cjk")
DISTRIBUTION_PACKAGES = ("chromium-headless-shell", "chromium")
BY_HAND = (
    "Install one by hand and say make again: `apt-get install chromium-headless-shell` as root on Debian, "
    f"`.venv/bin/playwright install chromium-headless-shell` elsewhere; or name its program in {SETTING}."
)


def main() -> int:
    setting = os.environ.get(SETTING, "").strip()
    found = find_chromium(setting, environment=os.environ)
    if setting and found.path is None:
        print(found.problem, file=sys.stderr)
        return 1
    if found.path is None:
        _install_from_distribution()
        found = find_chromium(environment=os.environ)
    if found.path is None:
        _download()
        found = find_chromium(environment=os.environ)
    if found.path is None:
        print(f"No Chromium is here, and none could be installed. {BY_HAND}", file=sys.stderr)
        return 1
    if trouble := _trouble_with(found.path):
        print(f"{found.path} does not start: {trouble}. {BY_HAND}", file=sys.stderr)
        return 1
    return 0


def _install_from_distribution() -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print("Installing Chromium and the fonts that pages need, with apt-get.", flush=True)
    _run("apt-get", "update", "-qq", deadline_s=120)
    for package in DISTRIBUTION_PACKAGES:
        # Ubuntu offers Chromium as a snap only, for which its package `chromium` does not exist.
        if _run(
            "apt-get", "install", "-qq", "-y", "--no-install-recommends", package, *FONTS, deadline_s=600
        ):
            return


def _download() -> None:
    print(f"Asking Playwright for its Chromium, for at most {DOWNLOAD_DEADLINE_S} s.", flush=True)
    # The libraries it is linked to come from the distribution, and only root can install them.
    libraries = ["--with-deps"] if os.geteuid() == 0 and shutil.which("apt-get") else []
    words = [sys.executable, "-m", "playwright", "install", *libraries, "chromium-headless-shell"]
    _run(*words, deadline_s=DOWNLOAD_DEADLINE_S)


def _trouble_with(browser: Path) -> str:
    """Return why a browser does not start (a library is missing, mostly); empty when it does."""
    try:
        done = subprocess.run([browser, "--version"], check=False, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"it ended with status {done.returncode}"


def _run(*words: str, deadline_s: int) -> bool:
    """Run a command and end all of it at the deadline; its output goes to standard error, for it is no answer."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    with subprocess.Popen(
        words, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True
    ) as process:
        try:
            return process.wait(deadline_s) == 0
        except subprocess.TimeoutExpired:
            print(f"No end after {deadline_s} s: stopped.", file=sys.stderr)
            os.killpg(process.pid, signal.SIGKILL)
            return False


if __name__ == "__main__":
    sys.exit(main())
