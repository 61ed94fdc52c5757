"""What every sandbox offers: start a command in a box, hold it, end its whole tree, say how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol, Self

from runs.adapters.sandboxes.box import Box
from runs.adapters.sandboxes.listening import Listener
from runs.ports import LimitHit


class Ending(StrEnum):
    """Why a command and its descendants are over."""

    FINISHED = "finished"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    PARENT_DIED = "parent_died"
    OUTPUT_LIMIT = "output_limit"
    LIMIT = "limit"
    KEEPER_DIED = "keeper_died"


class Stream(Enum):
    """Where a standard stream of a command leads."""

    PIPE = "pipe"
    NOTHING = "nothing"
    WITH_STDOUT = "with_stdout"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndReport:
    """How a command ended and what had to be done about its descendants.

    `exit_code` is negative for a signal, as in `subprocess`, and None when it is unknown.
    `left_behind` counts the descendants that lived on when the end began, `killed` the processes
    that needed SIGKILL, and `survivors` those that could not be ended (0 unless the kernel hangs).
    `ports_left` are TCP ports that the tree listened on and that are still held after its end.
    `limits_hit` names each limit that was met; it holds one of the tree's own limits whenever `ending` is
    LIMIT. `machine_out_of_memory` is true where not the tree but the whole machine had no memory left.
    """

    ending: Ending
    exit_code: int | None
    killed: int = 0
    left_behind: int = 0
    survivors: int = 0
    seconds: float = 0.0
    seconds_to_end: float = 0.0
    ports_left: tuple[int, ...] = ()
    limits_hit: tuple[LimitHit, ...] = ()
    machine_out_of_memory: bool = False


class StartFailed(Exception):
    """The command itself could not be started: not found, not allowed, arguments too long.

    `errno` is the system's number; the message names the command or the folder.
    """

    def __init__(self, errno: int, message: str) -> None:
        super().__init__(message)
        self.errno = errno


class KeptCommand(Protocol):
    """A started command; leaving its context ends whatever is left of it."""

    @property
    def pid(self) -> int:
        """The command's process number."""
        ...

    @property
    def stdin(self) -> BinaryIO | None:
        """The pipe to the command, when one was asked for."""
        ...

    @property
    def stdout(self) -> BinaryIO | None:
        """The pipe from the command, when one was asked for."""
        ...

    @property
    def stderr(self) -> BinaryIO | None:
        """The command's error pipe, when one was asked for."""
        ...

    def processes(self) -> frozenset[int]:
        """Return the process numbers of the whole living tree; empty where that cannot be known."""
        ...

    def listeners(self) -> tuple[Listener, ...]:
        """Return the TCP ports that the tree listens on, as numbered inside its box."""
        ...

    def address_of(self, listener: Listener) -> str:
        """Return `http://HOST:PORT` by which this process, and a browser here, reach that listener.

        It stays valid until the command ends. Raises OSError where no way could be opened.
        """
        ...

    def poll(self) -> EndReport | None:
        """Return the report once everything has ended, else None."""
        ...

    def wait(self, timeout: float | None = None) -> EndReport:
        """Wait for the end; raises TimeoutError when `timeout` seconds pass before it."""
        ...

    def end(self, *, grace: float = 2.0, ending: Ending = Ending.CANCELLED) -> EndReport:
        """End the whole tree: SIGTERM, `grace` seconds, then SIGKILL until none is left."""
        ...

    def close(self) -> None:
        """Close our ends of the pipes; what is still unread is lost."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Sandbox(Protocol):
    """A level of isolation under which commands are started; safe to use from any thread."""

    @property
    def name(self) -> str:
        """The level, as runs record it."""
        ...

    @property
    def isolates(self) -> bool:
        """True where a command sees nothing but its box: no other file, process, port or network."""
        ...

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
    ) -> KeptCommand:
        """Start `argv` in `cwd` with exactly the environment `env`, and no more than `box` allows.

        Without a box the command may write into `cwd`, reach no network and meet the usual limits where
        the level isolates; at the level `none` it is merely held. Paths mean the same inside and outside.
        Raises StartFailed when there is no such command or folder, StageError when the bench is at fault.
        """
        ...
