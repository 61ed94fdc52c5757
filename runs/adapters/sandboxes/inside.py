"""The first process inside a box: starts one command, hands out sockets of the box, and reaps.

Run as `python -I -S inside.py CONTROL`, with the standard library only. It is process 1 of its own process
namespace: nothing inside can end it, and with it the kernel ends everything else. CONTROL is a stream
socket whose other end is our process outside. It carries one JSON document a line, first the order; an
answer that speaks of descriptors brings them along. A socket that was made in here leads into this box's
network wherever it is held, so nothing has to stay inside to relay anything.
"""

from __future__ import annotations

import array
import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Any

_PR_SET_DUMPABLE = 4
_BACKLOG = 128
_LEFTOVER_GRACE = 1.0


class Inside:
    """Holds the command of one box."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._pending = b""
        self._order: dict[str, Any] = {}
        self._command = 0
        self._woken, self._wake = os.pipe()

    def keep(self) -> int:
        """Start what the order says and stay until it is over; answers the exit code."""
        self._tell({"here": True})
        line = self._line()
        if line is None:
            return 1
        self._order = json.loads(line)
        os.set_blocking(self._wake, False)
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        opened, closed = self._open_doors()
        trouble = self._start()
        if trouble is not None:
            self._tell({"errno": trouble[0], "where": trouble[1]})
            return 127
        self._tell({"started": True, "closed": closed}, [door.fileno() for door in opened])
        for door in opened:
            door.close()
        _let_go_of_standard_streams()
        status = self._serve_until_the_end()
        left = len(_others())
        self._tell({"exited": status, "left": left})
        if left:
            self._end_the_rest()
        return status if status >= 0 else 128 - status

    def _open_doors(self) -> tuple[list[socket.socket], list[int]]:
        """Listen where the order says; answers the sockets and the positions of those that may not be."""
        opened: list[socket.socket] = []
        closed: list[int] = []
        for position, (host, port) in enumerate(self._order["doors"]):
            door = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
            try:
                door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                door.bind((host, port))
                door.listen(_BACKLOG)
            except OSError:
                door.close()
                closed.append(position)
            else:
                opened.append(door)
        return opened, closed

    def _start(self) -> tuple[int, str] | None:
        told, tell = os.pipe()
        self._command = os.fork()
        if self._command == 0:
            _become(self._order, tell=tell)
        os.close(tell)
        message = b""
        while chunk := os.read(told, 4096):
            message += chunk
        os.close(told)
        if not message:
            return None
        number, where = json.loads(message)
        return number, where

    def _serve_until_the_end(self) -> int:
        """Answer what is asked from outside until the command is over; answers its status."""
        while True:
            status = self._reap()
            if status is not None:
                return status
            control = self._control.fileno()
            ready, _, _ = select.select([self._woken, control], [], [])
            if self._woken in ready:
                with suppress(BlockingIOError):
                    os.read(self._woken, 4096)
            if control in ready:
                line = self._line()
                if line is None:
                    # Our process is gone; so is everything in here in a moment.
                    return -int(signal.SIGKILL)
                self._answer(json.loads(line))

    def _answer(self, wish: dict[str, Any]) -> None:
        family = socket.AF_INET6 if wish.get("socket") == 6 else socket.AF_INET
        try:
            made = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            self._tell({"socket": False, "errno": error.errno})
            return
        with made:
            self._tell({"socket": True}, [made.fileno()])

    def _reap(self) -> int | None:
        ended: int | None = None
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid == self._command:
                    ended = os.waitstatus_to_exitcode(status)
        return ended

    def _end_the_rest(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGTERM)
        until = time.monotonic() + min(float(self._order["grace"]), _LEFTOVER_GRACE)
        while time.monotonic() < until:
            self._reap()
            if not _others():
                return
            time.sleep(0.02)

    def _line(self) -> bytes | None:
        while b"\n" not in self._pending:
            chunk = self._control.recv(65536)
            if not chunk:
                return None
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _tell(self, message: dict[str, Any], descriptors: list[int] | None = None) -> None:
        extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        with suppress(BrokenPipeError, ConnectionResetError):
            self._control.sendmsg([json.dumps(message).encode() + b"\n"], extra)


def _become(order: dict[str, Any], *, tell: int) -> None:
    """Turn the forked child into the command; never returns."""
    where = str(order["argv"][0])
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for changed in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(changed, signal.SIG_DFL)
        if order["processes"] is not None:
            resource.setrlimit(resource.RLIMIT_NPROC, (order["processes"], order["processes"]))
        where = str(order["cwd"])
        os.chdir(where)
        where = str(order["argv"][0])
        os.execvpe(where, order["argv"], order["env"])
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else 0
        os.write(tell, json.dumps([number, where]).encode())
    finally:
        os._exit(127)


def _others() -> list[int]:
    """Return the living processes of this box beside this one."""
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or entry.name == "1":
            continue
        with suppress(OSError), open(f"/proc/{entry.name}/stat", "rb") as file:  # noqa: PTH123 - starts quicker
            text = file.read()
            if text[text.rindex(b")") + 2 :].split()[0] not in (b"Z", b"X"):
                found.append(int(entry.name))
    return found


def _let_go_of_standard_streams() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)


def _main() -> int:
    # Nobody inside may look into this process, nor trace it.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    return Inside(control).keep()


if __name__ == "__main__":
    os._exit(_main())
