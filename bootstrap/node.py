"""See to it that Node.js 20 or newer with npm is there: from PATH, else from PyPI into the environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from bootstrap.environment import ENVIRONMENT, ROOT, SetupFailed, install

OLDEST = 20
REQUIREMENTS = ROOT / "requirements-node.lock"


def main() -> int:
    if _is_usable(os.environ.get("PATH", "")) or _is_usable(str(ENVIRONMENT / "bin")):
        return 0
    print(f"No Node.js {OLDEST} or newer with npm is on the PATH; installing one into .venv.", flush=True)
    try:
        install("--require-hashes", "--requirement", str(REQUIREMENTS))
    except SetupFailed as failure:
        print(failure, file=sys.stderr)
    if _is_usable(str(ENVIRONMENT / "bin")):
        return 0
    print(
        f"There is no Node.js {OLDEST} or newer with npm, so applications that need one cannot be built here. "
        "Install it (Debian, Ubuntu: apt-get install nodejs npm; macOS: brew install node), then say make again.",
        file=sys.stderr,
    )
    return 1


def _is_usable(path: str) -> bool:
    version = _answer("node", path)
    return version is not None and int(version) >= OLDEST and _answer("npm", path) is not None


def _answer(program: str, path: str) -> str | None:
    """Return the major version that a program tells; None where it is absent or does not run."""
    found = shutil.which(program, path=path)
    if found is None:
        return None
    # npm starts `node` by name, so the one that belongs to it must come first.
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(found).parent), os.environ.get("PATH", "")])
    }
    try:
        done = subprocess.run(
            [found, "--version"], check=False, env=environment, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.match(r"v?(\d+)\.", done.stdout.strip())
    return match[1] if done.returncode == 0 and match else None


if __name__ == "__main__":
    sys.exit(main())
