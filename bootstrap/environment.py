"""Make `.venv` exactly as `requirements.lock` says, with uv where it is present and with pip otherwise."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import IntEnum
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
STAMP = ENVIRONMENT / "proofroom-setup.json"
LOCK_FILE = ROOT / ".venv.lock"
REQUIREMENTS = ROOT / "requirements.lock"

# A person's own settings of pip and uv (mirror, proxy, certificates) are kept; these would lead packages astray.
MISLEADING = (
    "PIP_PREFIX",
    "PIP_PYTHON",
    "PIP_REQUIRE_HASHES",
    "PIP_ROOT",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONHOME",
    "PYTHONPATH",
    "UV_PROJECT_ENVIRONMENT",
    "UV_PYTHON",
    "UV_REQUIRE_HASHES",
    "UV_SYSTEM_PYTHON",
    "VIRTUAL_ENV",
    "__PYVENV_LAUNCHER__",
)


class SetupFailed(Exception):
    """The environment cannot be made; the message says why and what helps."""


class State(IntEnum):
    """What is to be done; the value is the exit status by which one Python tells the other."""

    CURRENT = 0
    PACKAGES_OUTDATED = 1
    PROJECT_OUTDATED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What an environment was made from. An adopted one was made by a person: filled, never removed."""

    packages: str
    project: str
    adopted: bool


def main(arguments: list[str]) -> int:
    if "--state" in arguments:
        return _state()
    try:
        with _alone() as lock:
            _make(lock)
    except SetupFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. The next `make setup` begins again.", file=sys.stderr)
        return 130
    return 0


def install(*words: str) -> None:
    """Install packages into the environment; with uv first, and with pip where uv is absent or cannot.

    Raises SetupFailed.
    """
    if uv := shutil.which("uv"):
        if _exit_status(uv, "pip", "install", "--quiet", "--python", str(PYTHON), *words) == 0:
            return
        print("uv could not; trying pip.", file=sys.stderr)
    # Without compiling: most modules of most packages are never imported, and the others compile when first used.
    if _exit_status(*_pip(), "install", "-qq", "--no-compile", "--no-input", "--no-user", *words) != 0:
        raise SetupFailed(
            "The installation failed; the lines above say why. Check the network and the settings of pip "
            "(mirror, proxy, certificates), then say make again: what was downloaded is kept."
        )


def _state() -> State:
    """Tell what is to be done. The Python of the environment itself is asked, because it may have been replaced."""
    if ENVIRONMENT.is_symlink():
        return State.CURRENT
    stamp = _stamp()
    packages, project = _wanted()
    if stamp is None or _is_unfinished() or stamp.packages != packages:
        return State.PACKAGES_OUTDATED
    if not Path(sysconfig.get_path("purelib")).is_dir():
        return State.PACKAGES_OUTDATED
    return State.CURRENT if stamp.project == project else State.PROJECT_OUTDATED


def _make(lock: TextIO) -> None:
    state = State.PACKAGES_OUTDATED
    if PYTHON.exists():
        state = State(_exit_status(str(PYTHON), "-E", "-s", "-m", "bootstrap.environment", "--state"))
    if state is State.CURRENT:
        return
    if ENVIRONMENT.is_symlink():
        raise SetupFailed(
            f".venv is a link to {ENVIRONMENT.readlink()}, where no Python is. Remove the link."
        )
    adopted = _is_adopted()
    packages, project = _wanted()
    if state is State.PACKAGES_OUTDATED:
        if adopted:
            _check_adopted()
        else:
            _mark(lock, "unfinished")
            _create()
        _install_locked(anew=adopted)
        _write_stamp(Stamp(packages=packages, project="", adopted=adopted))
        _mark(lock, "")
    # hatchling is among the locked packages, so no second, unlocked environment is built to build ours.
    install("--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    _write_stamp(Stamp(packages=packages, project=project, adopted=adopted))


def _is_adopted() -> bool:
    if not ENVIRONMENT.exists() or _is_unfinished():
        return False
    stamp = _stamp()
    return stamp is None or stamp.adopted


def _check_adopted() -> None:
    if not PYTHON.exists() or _exit_status(str(PYTHON), "-E", "-s", "bootstrap/probe.py", quiet=True) != 0:
        raise SetupFailed(
            "The folder .venv was not made by `make setup`, and its Python is missing or too old. "
            "Move it away, then say make again."
        )
    print("Using the environment that is in .venv already.", flush=True)


def _create() -> None:
    uv = shutil.which("uv")
    version = sys.version.split()[0]
    print(f"Making the environment in .venv: Python {version}, {'uv' if uv else 'pip'}.", flush=True)
    if ENVIRONMENT.exists():
        shutil.rmtree(ENVIRONMENT)
    where = str(ENVIRONMENT)
    if uv and _exit_status(uv, "venv", "--quiet", "--no-project", "--python", sys.executable, where) == 0:
        return
    # Debian and Ubuntu keep ensurepip in a package of its own; pip itself may be there all the same.
    without_pip = [] if importlib.util.find_spec("ensurepip") else ["--without-pip"]
    if _exit_status(sys.executable, "-m", "venv", *without_pip, where) != 0:
        raise SetupFailed(
            f"{sys.executable} could not make an environment; the lines above say why. {_remedy()}"
        )


def _install_locked(*, anew: bool) -> None:
    count = sum("==" in line for line in REQUIREMENTS.read_text().splitlines())
    print(f"Installing {count} packages from requirements.lock.", flush=True)
    flags = ["--force-reinstall"] if anew else []
    # The lock names every package there is to be; what they ask of each other was settled when it was made.
    install(*flags, "--no-deps", "--require-hashes", "--requirement", str(REQUIREMENTS))


def _pip() -> list[str]:
    """Return how pip is run for the environment: its own, or that of the Python it was made from."""
    own = [str(PYTHON), "-m", "pip"]
    if _exit_status(*own, "--version", quiet=True) == 0:
        return own
    if _exit_status(str(PYTHON), "-m", "ensurepip", quiet=True) == 0:
        return own
    if _exit_status(sys.executable, "-m", "pip", "--version", quiet=True) == 0:
        return [sys.executable, "-m", "pip", "--python", str(PYTHON)]
    raise SetupFailed(f"{sys.executable} has neither pip nor ensurepip. {_remedy()}")


def _remedy() -> str:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return (
        f"On Debian and Ubuntu `apt-get install python{version}-venv` brings what is missing; "
        "elsewhere install uv, which needs neither."
    )


def _exit_status(*words: str, quiet: bool = False) -> int:
    environment = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    # An institute's own certificate authority is known to the system, and to uv only when told to look there.
    environment.setdefault("UV_SYSTEM_CERTS", "true")
    output = subprocess.DEVNULL if quiet else None
    # Children inherit the lock: one that outlives us holds up the next set-up until it has ended.
    done = subprocess.run(
        words,
        check=False,
        env=environment,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        close_fds=False,
    )
    return done.returncode


@contextmanager
def _alone() -> Iterator[TextIO]:
    try:
        lock = LOCK_FILE.open("a+")
    except OSError as problem:
        raise SetupFailed(
            f"{ROOT} cannot be written to ({problem.strerror}). Clone Proofroom where you may write."
        ) from None
    with lock:
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another set-up is at work here; waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def _mark(lock: TextIO, word: str) -> None:
    lock.seek(0)
    lock.truncate()
    lock.write(word)
    lock.flush()
    os.fsync(lock.fileno())


def _is_unfinished() -> bool:
    return LOCK_FILE.exists() and LOCK_FILE.stat().st_size > 0


def _stamp() -> Stamp | None:
    """Return what the environment says of itself; None where it says nothing or its Python is gone."""
    if not PYTHON.exists():
        return None
    try:
        return Stamp(**json.loads(STAMP.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _write_stamp(stamp: Stamp) -> None:
    STAMP.write_text(json.dumps(asdict(stamp)) + "\n")


def _wanted() -> tuple[str, str]:
    """Return the keys of the packages and of the project itself, as they should be.

    The folder belongs to the first one, because the programs in `.venv/bin` hold its path.
    """
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())
    installed = [described["project"], described["build-system"], described.get("tool", {}).get("hatch")]
    return (
        _digest(str(ROOT).encode(), REQUIREMENTS.read_bytes()),
        _digest(json.dumps(installed, sort_keys=True).encode()),
    )


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
