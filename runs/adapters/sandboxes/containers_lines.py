"""The command lines of docker and podman: what a box comes to in their options, and how it is looked at."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.adapters.sandboxes.box import Box, Limits

LABEL = "org.proofroom.kept"
"""On every container of ours; its value says whose it is: `<machine>.<process number>`."""

INSIDE = "/proofroom"
"""Where the container finds the program that starts the command, and the socket it answers through."""

_TEMPORARY_BYTES = 512 << 20
_SHARED_MEMORY_BYTES = 256 << 20
_OPEN_FILES = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One container to be run: its name and owner, what it may see and use, and as whom it works."""

    program: str
    name: str
    owner: str
    image: str
    box: Box
    programs: tuple[Path, ...]
    """The bench's own programs that start the command, read-only inside."""
    sockets: Path
    """The folder with the one socket that leads out."""
    user: int
    group: int
    keeps_user: bool = False
    """Podman of an ordinary user: the user inside is to be the user outside, so that files stay theirs."""
    is_interactive: bool = False


def owner_of(pid: int) -> str:
    """The value of our label: this machine and one process of it."""
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
    return f"{machine}.{pid}"


def run_line(order: Order) -> list[str]:
    """Return `docker run ...`: no network, read-only root, no capability, limits; nothing of ours inside."""
    words = [order.program, "run", "--name", order.name, "--label", f"{LABEL}={order.owner}"]
    # An image is fetched by whoever sets the bench up, never because a candidate asks for it.
    words += ["--pull", "never", "--log-driver", "none", "--attach", "stdout", "--attach", "stderr"]
    if order.is_interactive:
        words += ["--interactive", "--attach", "stdin"]
    words += ["--network", "none", "--ipc", "private", "--hostname", "sandbox"]
    words += ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    words += ["--user", f"{order.user}:{order.group}"]
    if order.keeps_user:
        words += ["--userns", "keep-id"]
    words += _limits(order.box.limits)
    words += ["--tmpfs", f"/tmp:rw,nosuid,nodev,exec,mode=1777,size={_TEMPORARY_BYTES}"]  # noqa: S108 - the container's own
    words += ["--shm-size", str(_SHARED_MEMORY_BYTES), "--workdir", "/"]
    for program in order.programs:
        words += _mount(program, inside=f"{INSIDE}/programs/{program.name}", is_writable=False)
    # Read-only: what it holds can be opened, nothing put beside it.
    words += _mount(order.sockets, inside=f"{INSIDE}/sockets", is_writable=False)
    for folder, is_writable in _folders(order.box):
        words += _mount(folder, inside=str(folder), is_writable=is_writable)
    words += ["--entrypoint", "python3", order.image]
    return [*words, "-I", "-S", f"{INSIDE}/programs/containers_entry.py", f"{INSIDE}/sockets/control"]


def ask_to_end_line(program: str, name: str) -> list[str]:
    """Return the command that sends SIGTERM to everything inside but the first process."""
    return [program, "exec", name, "/bin/sh", "-c", "kill -TERM -1"]


def kill_line(program: str, name: str) -> list[str]:
    """Return the command that ends a container's first process, and with it all others."""
    return [program, "kill", name]


def remove_line(program: str, names: Sequence[str]) -> list[str]:
    """Return the command that ends and removes containers with what they wrote."""
    return [program, "rm", "--force", "--volumes", *names]


def state_line(program: str, name: str) -> list[str]:
    """Return the command whose answer `State` reads."""
    return [program, "inspect", "--type", "container", "--format", "{{json .State}}", name]


def list_line(program: str) -> list[str]:
    """Return the command that lists all containers of ours, one a line, for `owned`."""
    return [program, "ps", "--all", "--no-trunc", "--filter", f"label={LABEL}", "--format", _LISTED]


_LISTED = '{{.Names}} {{.Label "' + LABEL + '"}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What an engine says of a container. `pid` is its first process as this machine numbers it, or 0."""

    is_running: bool
    pid: int
    exit_code: int | None
    is_out_of_memory: bool

    @classmethod
    def read(cls, answer: str) -> State | None:
        """Read what `inspect` answered; None where that is no state."""
        try:
            given: Mapping[str, Any] = json.loads(answer)
            return cls(
                is_running=bool(given["Running"]),
                pid=int(given.get("Pid") or 0),
                exit_code=None if given.get("ExitCode") is None else int(given["ExitCode"]),
                is_out_of_memory=bool(given.get("OOMKilled")),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


def left_over(listing: str, *, machine: str, living: Iterable[int]) -> list[str]:
    """The containers of `listing` whose process on this machine is gone; those of other machines stay.

    Engines are shared over the network by some: a container of another machine's bench is not ours to end.
    """
    alive = set(living)
    names = []
    for line in listing.splitlines():
        name, _, owner = line.strip().partition(" ")
        where, _, pid = owner.partition(".")
        if name and where == machine and pid.isdecimal() and int(pid) not in alive:
            names.append(name)
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """A command in the image's own words, and programs of this machine that have to be brought along."""

    argv: tuple[str, ...]
    brought: tuple[Path, ...] = ()


def in_image(argv: Sequence[str], *, seen: Iterable[Path]) -> Translated:
    """Return a command as the image knows it: its own python, node and npm instead of this machine's.

    A path below a folder that is `seen` inside stays as it is. Any other program of this machine (uv, say)
    is brought along by itself.
    """
    folders = tuple(seen)
    words = [_plain(word) if _is_outside(word, folders) else word for word in argv]
    if words[0] == "node" and len(words) > 1 and _is_outside(words[1], folders):
        named = _NODE_PROGRAMS.get(Path(words[1]).name)
        if named is not None:
            return Translated(argv=(named, *words[2:]))
    brought = (Path(words[0]),) if _is_outside(words[0], folders) else ()
    return Translated(argv=tuple(words), brought=brought)


def path_inside(path: str, *, read_only: Iterable[Path]) -> str:
    """Return PATH for the image: its usual folders, after those of this machine that are read inside."""
    folders = tuple(read_only)
    kept = [entry for entry in path.split(":") if entry and not _is_outside(entry, folders)]
    return ":".join([*(entry for entry in kept if Path(entry).is_absolute()), *_IMAGE_PATH])


_IMAGE_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_NODE_PROGRAMS = {"npm-cli.js": "npm", "npx-cli.js": "npx"}
_OF_THE_IMAGE = re.compile(r"python[0-9.]*|node|npm|npx|sh|bash")


def _plain(word: str) -> str:
    name = Path(word).name
    if _OF_THE_IMAGE.fullmatch(name) is None:
        return word
    return "python3" if name.startswith("python") else name


def _is_outside(word: str, folders: Sequence[Path]) -> bool:
    path = Path(word)
    return path.is_absolute() and not any(path.is_relative_to(folder) for folder in folders)


def _limits(limits: Limits) -> list[str]:
    words = ["--ulimit", "core=0:0", "--ulimit", f"nofile={_OPEN_FILES}:{_OPEN_FILES}"]
    if limits.memory_bytes is not None:
        # As much swap as memory would be twice the limit: the same figure for both forbids swap.
        words += ["--memory", str(limits.memory_bytes), "--memory-swap", str(limits.memory_bytes)]
    if limits.processes is not None:
        words += ["--pids-limit", str(limits.processes)]
    if limits.file_bytes is not None:
        words += ["--ulimit", f"fsize={limits.file_bytes}:{limits.file_bytes}"]
    if limits.cpu_seconds is not None:
        seconds = int(limits.cpu_seconds) + 1
        words += ["--ulimit", f"cpu={seconds}:{seconds}"]
    return words


def _folders(box: Box) -> list[tuple[Path, bool]]:
    """Folders and files of a box, outer ones first, so that none hides another; writable or not."""
    writable = {box.workspace, *box.writable}
    readable = {path for path in box.read_only if path.exists()} - writable
    every = sorted(writable | readable, key=lambda path: (len(path.parts), path))
    return [(path, path in writable) for path in every]


def _mount(path: Path, *, inside: str, is_writable: bool) -> list[str]:
    # In CSV, as the option is read: a comma or a quote in a path would be another option.
    fields = ["type=bind", f"source={path}", f"target={inside}", *([] if is_writable else ["readonly"])]
    return ["--mount", ",".join(_field(field) for field in fields)]


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\n') else text
