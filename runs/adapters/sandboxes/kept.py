"""One command under its keeper, and the record of all that this process holds."""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self
from uuid import uuid4

from runs.adapters.sandboxes.listening import Listener, listeners_among, sockets_of, still_open
from runs.adapters.sandboxes.marked import VARIABLE, kill_marked
from runs.adapters.sandboxes.port import Ending, EndReport, StartFailed, Stream
from runs.adapters.sandboxes.reports import report_of
from runs.adapters.sandboxes.spawner import spawn
from runs.adapters.sandboxes.watching import descendants_of
from runs.errors import StageError
from runs.ports import LimitKind

_KEEPER = Path(__file__).with_name("keeper.py")
_START_SECONDS = 60.0
_END_SECONDS = 45.0


_living: set[KeptProcess] = set()
_living_lock = threading.Lock()


class KeptProcess:
    """A command under its keeper; see `KeptCommand` for what each part means."""

    def __init__(
        self,
        order: dict[str, Any],
        *,
        stdin: Stream,
        stdout: Stream,
        stderr: Stream,
        handed: Sequence[int] = (),
    ) -> None:
        self._token = uuid4().hex
        self._deadline: float | None = order.get("deadline")
        self._memory_limit: float | None = order.get("limits", {}).get(LimitKind.MEMORY.value)
        self._sockets: dict[str, Listener] = {}
        self._command = str(order["argv"][0])
        order["env"] = {**order["env"], VARIABLE: self._token}
        self._reading = threading.Lock()
        self._told = b""
        self._report: EndReport | None = None
        self._ending: Ending | None = None
        self._pid = 0
        self._lifeline_lock = threading.Lock()
        self._lifeline: int | None
        their_lifeline, lifeline = os.pipe()
        self._lifeline = lifeline
        self._news, their_report = os.pipe()
        try:
            self._keeper = spawn(
                [
                    sys.executable,
                    *("-I", "-S", str(_KEEPER)),
                    *(str(their_lifeline), str(their_report), str(os.getpid())),
                ],
                stdin=subprocess.PIPE if stdin is Stream.PIPE else subprocess.DEVNULL,
                stdout=subprocess.PIPE if stdout is Stream.PIPE else subprocess.DEVNULL,
                stderr={
                    Stream.PIPE: subprocess.PIPE,
                    Stream.NOTHING: subprocess.DEVNULL,
                    Stream.WITH_STDOUT: subprocess.STDOUT,
                }[stderr],
                pass_fds=(their_lifeline, their_report, *handed),
                start_new_session=True,
                env={"PATH": os.defpath},
                bufsize=0,
            )
        except OSError as error:
            os.close(lifeline)
            os.close(self._news)
            raise StageError(
                f"A process could not be started ({error.strerror}); free memory or end other programs."
            ) from error
        finally:
            os.close(their_lifeline)
            os.close(their_report)
        with _living_lock:
            _living.add(self)
        with suppress(BrokenPipeError):  # Then the keeper is dead, and its silence is reported.
            _write_all(lifeline, json.dumps(order).encode() + b"\n")

    @property
    def pid(self) -> int:
        """The command's process number (0 before it was started)."""
        return self._pid

    @property
    def stdin(self) -> BinaryIO | None:
        """The unbuffered pipe to the command, when one was asked for."""
        return self._keeper.stdin  # type: ignore[return-value]

    @property
    def stdout(self) -> BinaryIO | None:
        """The unbuffered pipe from the command, when one was asked for."""
        return self._keeper.stdout  # type: ignore[return-value]

    @property
    def stderr(self) -> BinaryIO | None:
        """The command's unbuffered error pipe, when one was asked for."""
        return self._keeper.stderr  # type: ignore[return-value]

    def abandon(self) -> None:
        """Close our ends of the keeper's pipes without a word: for a fork, which owns no command."""
        with suppress(OSError):
            os.close(self._news)
        if self._lifeline is not None:
            with suppress(OSError):
                os.close(self._lifeline)
        self._lifeline = None

    def started(self) -> Self:
        """Wait until the command runs and return this; where it does not, nothing of it is left."""
        try:
            self.wait_for_start()
        except BaseException:
            self.end(grace=0)
            self.close()
            raise
        return self

    def wait_for_start(self) -> None:
        """Wait until the command runs; raises StartFailed when it does not."""
        until = time.monotonic() + _START_SECONDS
        with self._reading:
            while b"\n" not in self._told and self._report is None:
                if not self._receive(until - time.monotonic()):
                    break
        if self._report is not None and self._report.ending is Ending.KEEPER_DIED:
            return  # The first thing a command does may be to kill its keeper: the report says it.
        line, newline, self._told = self._told.partition(b"\n")
        if not newline:
            raise StageError(
                f"The command {self._command!r} could not be started: its keeper did not answer."
            )
        message = json.loads(line)
        if "errno" in message:
            why = os.strerror(message["errno"])
            raise StartFailed(message["errno"], f"{message['where']}: {why}.")
        self._pid = message["pid"]

    def processes(self) -> frozenset[int]:
        """Return the process numbers of the whole living tree; empty where there is no /proc."""
        if self._report is not None or not Path("/proc/self").exists():
            return frozenset()
        return frozenset(descendants_of(self._keeper.pid))

    def listeners(self) -> tuple[Listener, ...]:
        """Return the TCP ports that the tree listens on; none where this machine does not tell."""
        found = sockets_of(self.processes())
        self._sockets |= found
        return listeners_among(found.values())

    def address_of(self, listener: Listener) -> str:
        """Return the listener's own address: at this level its ports are the machine's."""
        host = f"[{listener.host}]" if listener.only_ipv6 else listener.host
        return f"http://{host}:{listener.port}"

    def poll(self) -> EndReport | None:
        """Return the report once everything has ended, else None."""
        try:
            return self.wait(0)
        except TimeoutError:
            return None

    def wait(self, timeout: float | None = None) -> EndReport:
        """Wait for the end; raises TimeoutError when `timeout` seconds pass before it."""
        until = None if timeout is None else time.monotonic() + timeout
        while self._report is None:
            if not self._reading.acquire(timeout=_left(until, never=-1)):
                raise TimeoutError(f"{self._command!r} still runs.")
            try:
                if not self._is_over() and not self._receive(_left(until, never=None)):
                    raise TimeoutError(f"{self._command!r} still runs.")
            finally:
                self._reading.release()
        return self._report

    def end(self, *, grace: float = 2.0, ending: Ending = Ending.CANCELLED) -> EndReport:
        """End the whole tree: SIGTERM, `grace` seconds, then SIGKILL until none is left."""
        self.ask_to_end(grace=grace, ending=ending)
        try:
            return self.wait(grace + _END_SECONDS)
        except TimeoutError:
            # A keeper that does not answer is replaced by the search in _conclude.
            self._keeper.kill()
        return self.wait()

    def ask_to_end(self, *, grace: float, ending: Ending = Ending.CANCELLED) -> None:
        """Ask the keeper for the end without waiting for it."""
        with self._lifeline_lock:
            if self._lifeline is None:
                return
            if self._ending is None:
                self._ending = ending
            with suppress(BrokenPipeError):
                os.write(self._lifeline, f"end {grace:.3f}\n".encode())

    def close(self) -> None:
        """Close our ends of the pipes; what is still unread is lost."""
        for stream in (self._keeper.stdin, self._keeper.stdout, self._keeper.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        self.close()

    def _is_over(self) -> bool:
        return self._report is not None

    def _receive(self, timeout: float | None) -> bool:
        """Read what the keeper tells, its end included; answers False when nothing came in time."""
        waiting = select.poll()
        waiting.register(self._news, select.POLLIN)
        if not waiting.poll(None if timeout is None else max(0, round(timeout * 1000))):
            return False
        chunk = os.read(self._news, 4096)
        self._told += chunk
        if not chunk:
            self._conclude()
        return True

    def _conclude(self) -> None:
        exit_code = self._keeper.wait()
        os.close(self._news)
        with self._lifeline_lock:
            if self._lifeline is not None:
                os.close(self._lifeline)
            self._lifeline = None
        lines = [json.loads(line) for line in self._told.split(b"\n") if line]
        message = lines[-1] if lines else {}
        if "errno" in message:
            self._report = EndReport(ending=Ending.FINISHED, exit_code=None)
        elif "ending" not in message:
            killed = kill_marked(self._token)
            self._report = EndReport(ending=Ending.KEEPER_DIED, exit_code=exit_code, killed=killed)
        else:
            self._report = self._report_of(message)
        with _living_lock:
            _living.discard(self)

    def _report_of(self, message: Mapping[str, Any]) -> EndReport:
        left = still_open(self._sockets) if self._sockets else frozenset()
        return report_of(
            message,
            asked=self._ending,
            deadline=self._deadline,
            memory_limit=self._memory_limit,
            ports_left=tuple(sorted({self._sockets[inode].port for inode in left})),
        )


def end_all(*, grace: float = 2.0) -> tuple[EndReport, ...]:
    """End every command that this process still holds; a shutdown calls it."""
    with _living_lock:
        living = tuple(_living)
    # All are asked before the first is waited for, so that the graces pass at the same time.
    for kept in living:
        kept.ask_to_end(grace=grace)
    return tuple(kept.end(grace=grace) for kept in living)


def held_commands() -> int:
    """Return how many commands this process holds at the moment."""
    with _living_lock:
        return len(_living)


def _forget() -> None:
    # A forked child holds copies of the pipes, but the commands are its parent's.
    global _living_lock  # noqa: PLW0603 - the lock may have been taken at the fork
    _living_lock = threading.Lock()
    for kept in _living:
        kept.abandon()
    _living.clear()


def _left[Never](until: float | None, *, never: Never) -> float | Never:
    return never if until is None else max(0.0, until - time.monotonic())


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


atexit.register(end_all)
os.register_at_fork(after_in_child=_forget)
