"""The sandbox levels `docker` and `podman`: each command in a container of its own, where an engine answers.

Written against what the engines document. The bench sees its containers through the same first process as
its other boxes, so ports, doors and ends are theirs; only starting, ending and looking differ.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from runs.adapters.sandboxes import containers_lines as lines
from runs.adapters.sandboxes.box import Box
from runs.adapters.sandboxes.boxed import BoxedProcess, WayOut
from runs.adapters.sandboxes.environment import CERTIFICATE_VARIABLES
from runs.adapters.sandboxes.networks import network_of
from runs.adapters.sandboxes.port import Ending, EndReport, Stream
from runs.adapters.sandboxes.process import orders_about
from runs.adapters.sandboxes.starting import box_around, require_startable
from runs.errors import StageError
from runs.ports import LimitHit, LimitKind

_HERE = Path(__file__).parent
_PROGRAMS = (_HERE / "inside.py", _HERE / "containers_entry.py")
_START_SECONDS = 60.0
_ASK_SECONDS = 30.0
_LONGEST_SOCKET = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSandbox:
    """Starts each command in a container of `image`; `name` is the engine's."""

    name: str
    image: str
    isolates: bool = True

    def with_image(self, image: str) -> ContainerSandbox:
        """The same engine with the image of one task."""
        return replace(self, image=image)

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
    ) -> ContainedProcess:
        """Start `argv` in `cwd` with exactly `env`; raises StartFailed or (engine trouble) StageError."""
        require_startable(argv, env)
        box = box_around(cwd, box)
        program = _program(self.name)
        remove_left_over(program)
        ways, env = network_of(box, env)
        command = lines.in_image(argv, seen=(box.workspace, *box.writable, *box.read_only))
        sockets = Path(tempfile.mkdtemp(prefix="pr-"))
        door = _door(sockets / "control")
        order = lines.Order(
            program=program,
            name=f"proofroom-{uuid4().hex}",
            owner=lines.owner_of(os.getpid()),
            image=self.image,
            box=replace(box, read_only=(*box.read_only, *command.brought, *_certificates(env))),
            programs=_PROGRAMS,
            sockets=sockets,
            user=os.geteuid(),
            group=os.getegid(),
            keeps_user=self.name == "podman" and os.geteuid() != 0,
            is_interactive=stdin is Stream.PIPE,
        )
        kept = ContainedProcess(
            {
                "argv": lines.run_line(order),
                "cwd": "/",
                "env": _own_environment(),
                "deadline": deadline_seconds,
                "grace": grace_seconds,
                "niceness": niceness,
                "handed": [],
                # Of the limits only what the bench itself can see from here: the engine keeps the others.
                **_watched(box),
            },
            {
                "argv": list(command.argv),
                "cwd": str(cwd),
                "env": {**env, "PATH": lines.path_inside(env.get("PATH", ""), read_only=box.read_only)},
                "grace": grace_seconds,
                "processes": None,
            },
            control=door,
            ways_out=ways,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            order=order,
        )
        return kept.started()


class ContainedProcess(BoxedProcess):
    """A command in a container; see `KeptCommand` for what each part means."""

    def __init__(
        self,
        asked: dict[str, Any],
        inner: dict[str, Any],
        *,
        control: socket.socket,
        ways_out: Sequence[WayOut],
        stdin: Stream,
        stdout: Stream,
        stderr: Stream,
        order: lines.Order,
    ) -> None:
        self._container = order
        super().__init__(
            asked, inner, control=control, ways_out=ways_out, stdin=stdin, stdout=stdout, stderr=stderr
        )

    def wait_for_start(self) -> None:
        """Wait until the command runs inside; raises StartFailed, or StageError where there is no container."""
        door, until = self._control, time.monotonic() + _START_SECONDS
        door.settimeout(0.1)
        while self._control is door and time.monotonic() < until and self.poll() is None:
            with suppress(TimeoutError):
                self._control, _address = door.accept()
        # Whoever else inside looks for the socket finds nobody: one was let in, and it was the first.
        shutil.rmtree(self._container.sockets, ignore_errors=True)
        if self._control is door:
            raise StageError(f"The container could not be started: {self._said()}.")
        door.close()
        self._control.settimeout(None)
        super().wait_for_start()

    def ask_to_end(self, *, grace: float, ending: Ending = Ending.CANCELLED) -> None:
        """Ask for the end without waiting for it: SIGTERM inside, and after the grace the engine's kill."""
        if grace > 0 and self.poll() is None:
            _asked(lines.ask_to_end_line(self._container.program, self._container.name))
        super().ask_to_end(grace=grace, ending=ending)

    def _first_inside(self) -> int:
        if not self._first:
            state = _state(self._container)
            self._first = 0 if state is None else state.pid
        return self._first

    def _report_of(self, message: Mapping[str, Any]) -> EndReport:
        began = time.monotonic()
        program, name = self._container.program, self._container.name
        state = _state(self._container)
        if state is not None and state.is_running:
            _asked(lines.kill_line(program, name))
        report = super()._report_of(message)
        is_gone = _asked(lines.remove_line(program, [name])) is not None or _state(self._container) is None
        hits = report.limits_hit
        limit = self._container.box.limits.memory_bytes
        if state is not None and state.is_out_of_memory and limit is not None:
            # The engine says that it was reached, not how much was asked for beyond it.
            hits = (*hits, LimitHit(kind=LimitKind.MEMORY, limit=limit, seen=limit))
        return replace(
            report,
            ending=Ending.LIMIT if hits and report.ending is Ending.FINISHED else report.ending,
            limits_hit=hits,
            survivors=report.survivors + (0 if is_gone else 1),
            seconds_to_end=report.seconds_to_end + time.monotonic() - began,
            machine_out_of_memory=report.machine_out_of_memory and not hits,
        )


def remove_left_over(program: str) -> int:
    """End and remove containers whose bench on this machine was killed; answers how many there were."""
    listing = _asked(lines.list_line(program))
    if not listing:
        return 0
    machine = lines.owner_of(0).partition(".")[0]
    living = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    names = lines.left_over(listing, machine=machine, living=living)
    if names:
        _asked(lines.remove_line(program, names))
    return len(names)


@cache
def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise StageError(f"{name} was not found; install it, or choose another sandbox.")
    return found


def _door(path: Path) -> socket.socket:
    if len(os.fsencode(path)) > _LONGEST_SOCKET:
        raise StageError(f"The folder for sockets has too long a name ({path}); set TMPDIR to a shorter one.")
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.bind(str(path))
    # Its folder is ours alone; inside, an unprivileged user has to be able to open it.
    path.chmod(0o666)
    path.parent.chmod(0o711)
    door.listen(1)
    return door


def _certificates(env: Mapping[str, str]) -> list[Path]:
    """Files and folders of authorities that the command is told of: its own system has other ones."""
    named = [Path(env[name]) for name in CERTIFICATE_VARIABLES if env.get(name)]
    return [path for path in named if path.is_absolute() and path.exists()]


def _watched(box: Box) -> dict[str, Any]:
    about = orders_about(box)
    limits = {name: limit for name, limit in about["limits"].items() if name == LimitKind.DISK.value}
    return {"limits": limits, "watched": about["watched"]}


def _state(order: lines.Order) -> lines.State | None:
    answer = _asked(lines.state_line(order.program, order.name))
    return None if answer is None else lines.State.read(answer)


def _asked(words: Sequence[str]) -> str | None:
    """What the engine answers; None where it refuses or is silent."""
    try:
        done = subprocess.run(
            list(words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_SECONDS,
            check=False,
            env=_own_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def _own_environment() -> dict[str, str]:
    """What the engine's own client needs to find its engine; nothing of it goes inside."""
    names = (
        "PATH",
        "HOME",
        "DOCKER_HOST",
        "DOCKER_CONTEXT",
        "DOCKER_CONFIG",
        "XDG_RUNTIME_DIR",
        "CONTAINER_HOST",
    )
    return {name: os.environ[name] for name in names if name in os.environ}
