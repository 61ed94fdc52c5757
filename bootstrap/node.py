"""See to it that Node.js with npm is there: what the deployer finds, else one from PyPI in the environment."""

from __future__ import annotations

import importlib
import sys

from bootstrap.environment import ROOT, SetupFailed, install
from runs.adapters.deployers.node import find_node

REQUIREMENTS = ROOT / "requirements-node.lock"


def main() -> int:
    if not isinstance(find_node(), str):
        return 0
    print(f"{find_node()}\nInstalling one into .venv from {REQUIREMENTS.name}.", flush=True)
    try:
        install("--require-hashes", "--requirement", str(REQUIREMENTS))
    except SetupFailed as failure:
        print(failure, file=sys.stderr)
    importlib.invalidate_caches()
    find_node.cache_clear()
    found = find_node()
    if not isinstance(found, str):
        return 0
    print(f"{found} Until then applications that need it cannot be built here.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
