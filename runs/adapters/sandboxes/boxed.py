"""One command in a box: held like any other, and reached through the box's first process."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runs.adapters.sandboxes.doors import Doors, Visit
from runs.adapters.sandboxes.kept import KeptProcess
from runs.adapters.sandboxes.listening import Listener, listeners_in
from runs.adapters.sandboxes.port import Ending, EndReport, StartFailed, Stream
from runs.adapters.sandboxes.programs import base_python
from runs.errors import StageError

_START_SECONDS = 60.0
_ANSWER_SECONDS = 5.0
_LOW_PORTS = 1024
_LOW_PORTS_PROGRAM = Path(__file__).with_name("low_ports.py")
_MOST_DESCRIPTORS = 16
_SAID_BYTES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOut:
    """A loopback address inside a box, and what serves the connections that are opened there."""

    host: str
    port: int
    visit: Visit


class BoxedProcess(KeptProcess):
    """A command whose ports and descriptors live in a box; see `KeptCommand` for what each part means."""

    def __init__(
        self,
        order: dict[str, Any],
        inner: dict[str, Any],
        *,
        control: socket.socket,
        ways_out: Sequence[WayOut],
        stdin: Stream,
        stdout: Stream,
        stderr: Stream,
        port: int | None = None,
    ) -> None:
        self._control = control
        self._port = port
        self._control_lock = threading.Lock()
        self._heard = b""
        self._inner = inner
        self._ways_out = ways_out
        self._doors = Doors()
        self._addresses: dict[Listener, str] = {}
        self._exited: int | None = None
        self._left = 0
        self._first = 0
        super().__init__(order, stdin=stdin, stdout=stdout, stderr=stderr, handed=order["handed"])

    def wait_for_start(self) -> None:
        """Wait until the command runs inside; raises StartFailed, or StageError where there is no box."""
        super().wait_for_start()
        answer, _none = self._answer(_START_SECONDS)
        if "here" not in answer:
            raise StageError(f"The sandbox could not be built: {self._said()}.")
        if any(way.port < _LOW_PORTS for way in self._ways_out):
            self._open_low_ports()
        self._inner["doors"] = [[way.host, way.port] for way in self._ways_out]
        with suppress(BrokenPipeError, ConnectionResetError):
            self._control.sendall(json.dumps(self._inner).encode() + b"\n")
        answer, descriptors = self._answer(_START_SECONDS)
        doors = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        if "errno" in answer:
            why = os.strerror(answer["errno"])
            raise StartFailed(answer["errno"], f"{answer['where']}: {why}.")
        if "started" not in answer:
            raise StageError("The sandbox ended before its command was started; retry the trial.")
        closed = set(answer["closed"])
        open_ways = [way for position, way in enumerate(self._ways_out) if position not in closed]
        for way, door in zip(open_ways, doors, strict=True):
            self._doors.way_out(door, way.visit)

    def listeners(self) -> tuple[Listener, ...]:
        """Return all ports that are listened on inside, but not the box's own ways out."""
        own = {way.port for way in self._ways_out}
        first = self._first_inside()
        found = listeners_in(first) if first else ()
        return tuple(listener for listener in found if listener.port not in own)

    def address_of(self, listener: Listener) -> str:
        """Return an address of this machine's loopback that leads to the listener; raises OSError."""
        with self._control_lock:
            known = self._addresses.get(listener)
        if known is None:
            # Only the port set aside keeps its number: no command may take a port of its own choice out here.
            port = self._doors.way_in(
                self._socket_inside,
                host=listener.host,
                port=listener.port,
                wanted=listener.port if listener.port == self._port else 0,
            )
            known = f"http://127.0.0.1:{port}"
            with self._control_lock:
                known = self._addresses.setdefault(listener, known)
        return known

    def abandon(self) -> None:
        """Close our ends of everything without a word: for a fork, which owns no command."""
        super().abandon()
        self._doors.abandon()
        self._control.close()

    def _first_inside(self) -> int:
        """Return the box's first process as this machine numbers it; 0 when there is none any more."""
        if not self._first:
            with suppress(OSError):
                children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
                self._first = int(children[0]) if children else 0
        return self._first

    def _open_low_ports(self) -> None:
        """Allow low ports inside; where that fails, the endpoint is reached through the proxy alone."""
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [base_python(), "-I", "-S", str(_LOW_PORTS_PROGRAM), str(self._first_inside())],
                timeout=_START_SECONDS,
                check=False,
                env={},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def _socket_inside(self, family: int) -> socket.socket:
        with self._control_lock:
            wish = {"socket": 6 if family == socket.AF_INET6 else 4}
            self._control.sendall(json.dumps(wish).encode() + b"\n")
            until = time.monotonic() + _ANSWER_SECONDS
            while (left := until - time.monotonic()) > 0:
                answer, descriptors = self._answer(left)
                if "socket" in answer:
                    if not descriptors:
                        raise OSError(answer["errno"], os.strerror(answer["errno"]))
                    return socket.socket(fileno=descriptors[0])
                if not answer:
                    break
                self._note(answer)
        raise ConnectionRefusedError("The sandbox has ended, or does not answer.")

    def _answer(self, timeout: float) -> tuple[dict[str, Any], list[int]]:
        """Return the next document from inside and its descriptors; an empty one when none comes."""
        descriptors: list[int] = []
        until = time.monotonic() + timeout
        while b"\n" not in self._heard:
            waiting = select.poll()
            waiting.register(self._control, select.POLLIN)
            if not waiting.poll(max(0, round((until - time.monotonic()) * 1000))):
                return {}, descriptors
            try:
                chunk, handed, _flags, _address = socket.recv_fds(self._control, 65536, _MOST_DESCRIPTORS)
            except OSError:
                return {}, descriptors
            if not chunk:
                return {}, descriptors
            self._heard += chunk
            descriptors += handed
        line, _, self._heard = self._heard.partition(b"\n")
        return json.loads(line), descriptors

    def _note(self, message: dict[str, Any]) -> None:
        if "exited" in message:
            self._exited, self._left = message["exited"], message["left"]

    def _report_of(self, message: Any) -> EndReport:
        report = super()._report_of(message)
        self._doors.close()
        with self._control_lock:
            while answer := self._answer(0)[0]:
                self._note(answer)
            self._control.close()
        if self._exited is not None:
            return replace(report, exit_code=self._exited, left_behind=max(self._left, report.left_behind))
        code = report.exit_code
        if code is not None and code > 128:
            code = 128 - code
        if code is not None and report.ending is not Ending.FINISHED:
            code = -9
        return replace(report, exit_code=code)

    def _said(self) -> str:
        """Return the last line of what the box itself complained about."""
        stream = self.stderr or self.stdout
        if stream is None:
            return "it did not answer"
        with suppress(TimeoutError):
            self.wait(5)
            lines = (stream.read(_SAID_BYTES) or b"").decode(errors="replace").strip().splitlines()
            return lines[-1].removeprefix("bwrap: ").rstrip(".") if lines else "it said nothing"
        return "it did not answer"
