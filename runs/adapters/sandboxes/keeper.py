"""The parent of one foreign command: starts it and ends all its descendants, also when we are killed.

Run as `python -I -S keeper.py LIFELINE REPORT PARENT`, with the standard library only, so that it starts
in milliseconds. LIFELINE is a pipe whose other end only our process holds: its first line is the order
(JSON), later lines `end SECONDS` ask for an end, and its end means that our process is gone. REPORT gets
two JSON lines: that the command was started (or why not), and how all of it ended.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runs.adapters.sandboxes.becoming import PR_SET_PDEATHSIG, become, let_go_of_standard_streams, prctl
    from runs.adapters.sandboxes.cgroups import Group
    from runs.adapters.sandboxes.watching import Watch, content, descendants_of, out_of_memory_kills
else:
    # Started as a program, it finds its neighbour only here, and nothing of the project.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - starts quicker
    from becoming import PR_SET_PDEATHSIG, become, let_go_of_standard_streams, prctl
    from cgroups import Group
    from watching import Watch, content, descendants_of, out_of_memory_kills

_PR_SET_CHILD_SUBREAPER = 36
_LEFTOVER_GRACE = 1.0
_GIVE_UP_AFTER = 30.0
_HAS_PROC = os.access("/proc/self/stat", os.R_OK)


class Keeper:
    """Holds one command and everything that descends from it."""

    def __init__(self, lifeline: int, report: int) -> None:
        self._lifeline = lifeline
        self._lifeline_open = True
        self._report = report
        self._pending = b""
        self._command = 0
        self._status: int | None = None
        self._order: dict[str, Any] = {}
        self._killed: set[int] = set()
        self._left_behind = 0
        self._hit: dict[str, Any] | None = None
        self._woken, self._wake = os.pipe()

    def keep(self) -> None:
        """Start what the order says and stay until nothing of it is left."""
        self._order = json.loads(self._first_line())
        os.set_blocking(self._lifeline, False)
        self._watch_signals()
        self._watch = Watch(
            self._order.get("limits", {}), ancestor=os.getpid(), roots=self._order.get("watched", [])
        )
        group = Group.made(self._order.get("limits", {}))
        if group is not None:
            self._order["group"] = group.path
        self._group = group
        kills = out_of_memory_kills()
        trouble = self._start()
        if trouble is not None:
            self._tell({"errno": trouble[0], "where": trouble[1]})
            return
        self._tell({"pid": self._command})
        let_go_of_standard_streams()
        began = time.monotonic()
        why, grace = self._wait_for_a_reason(began)
        ending = time.monotonic()
        if why == "finished" and self._status:
            self._hit = self._watch.last_look(signal_number=_signal_in(self._status))
        if group is not None and self._hit is None and (hit := group.hit()):
            why, self._hit = "limit", hit
        survivors = self._end_all(grace)
        if group is not None:
            group.remove()
        self._tell(
            {
                "ending": why,
                "status": self._status,
                "killed": len(self._killed),
                "left_behind": self._left_behind,
                "survivors": survivors,
                "seconds": ending - began,
                "seconds_to_end": time.monotonic() - ending,
                "hit": self._hit,
                "peak_memory": self._watch.peak_memory,
                "out_of_memory_kills": out_of_memory_kills() - kills,
            }
        )

    def _first_line(self) -> bytes:
        while b"\n" not in self._pending:
            chunk = os.read(self._lifeline, 65536)
            if not chunk:
                sys.exit(0)
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _watch_signals(self) -> None:
        os.set_blocking(self._wake, False)
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        self._terminated = False

        def on_terminate(_number: int, _frame: object) -> None:
            self._terminated = True

        signal.signal(signal.SIGTERM, on_terminate)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        for ignored in (signal.SIGINT, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)

    def _start(self) -> tuple[int, str] | None:
        """Start the command in its own session; answers (errno, what) where that failed."""
        told, tell = os.pipe()
        keeper = os.getpid()
        self._command = os.fork()
        if self._command == 0:
            become(self._order, keeper=keeper, tell=tell)
        os.close(tell)
        for descriptor in self._order.get("handed", ()):
            os.close(descriptor)
        message = b""
        while chunk := os.read(told, 4096):
            message += chunk
        os.close(told)
        if not message:
            return None
        os.waitpid(self._command, 0)
        number, where = json.loads(message)
        return number, where

    def _wait_for_a_reason(self, began: float) -> tuple[str, float]:
        """Wait until there is a reason to end; answers the reason and the grace to give."""
        grace = float(self._order["grace"])
        deadline = self._order["deadline"]
        while True:
            self._reap()
            if self._status is not None:
                return "finished", min(grace, _LEFTOVER_GRACE)
            if self._terminated:
                return ("cancelled" if os.getppid() == int(sys.argv[3]) else "parent_died"), grace
            asked = self._asked()
            if not self._lifeline_open:
                return "parent_died", grace
            if asked is not None:
                return "cancelled", asked
            left = None if deadline is None else began + deadline - time.monotonic()
            if left is not None and left <= 0:
                return "deadline", grace
            if self._watch.is_needed:
                self._hit = self._watch.look() or (self._group.hit() if self._group else None)
                if self._hit is not None:
                    return "limit", 0.0
                soon = self._watch.seconds_to_next()
                left = soon if left is None else min(left, soon)
            self._sleep(left)

    def _asked(self) -> float | None:
        """Read what our process says; answers the grace of the last wish to end, if there is one."""
        with suppress(BlockingIOError):
            while self._lifeline_open:
                chunk = os.read(self._lifeline, 4096)
                self._lifeline_open = bool(chunk)
                self._pending += chunk
        wish = None
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines:
            verb, _, seconds = line.partition(b" ")
            if verb == b"end":
                wish = float(seconds)
        return wish

    def _sleep(self, seconds: float | None) -> None:
        watched = [self._woken] + ([self._lifeline] if self._lifeline_open else [])
        select.select(watched, [], [], seconds)
        with suppress(BlockingIOError):
            os.read(self._woken, 4096)

    def _reap(self) -> bool:
        """Take the ends of our children; answers True when there is no child at all any more."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return False
                if pid == self._command:
                    self._status = os.waitstatus_to_exitcode(status)
        except ChildProcessError:
            return True

    def _is_alone(self) -> bool:
        """Answer whether nothing is left of the command.

        Whatever descends from a subreaper hangs on one of its children, so the kernel's answer that there
        is no child is exact; a look through /proc may miss one that is just being born.
        """
        childless = self._reap()
        if _HAS_PROC:
            return childless
        try:
            os.killpg(self._command, 0)
        except (ProcessLookupError, PermissionError):
            return True
        return False

    def _end_all(self, grace: float) -> int:
        """End all descendants, kindly first; answers how many could not be ended (none, normally)."""
        with suppress(OSError):  # Only root may do so: a fork storm must not starve its end.
            os.setpriority(os.PRIO_PROCESS, 0, -15)
        wrapping = self._wrapping()
        living = [pid for pid in self._living() if pid not in wrapping]
        self._left_behind = len([pid for pid in living if pid != self._command])
        if wrapping and self._left_behind:
            self._left_behind -= 1  # The command itself, which inside a box is nobody's child out here.
        if grace > 0:
            for pid in living:
                self._signal(pid, signal.SIGTERM)
            self._wait_until_alone(time.monotonic() + grace)
        if wrapping and not self._is_alone():
            # The kernel ends a whole process namespace with its first process: no storm outruns it.
            self._killed.update(pid for pid in self._living() if pid not in wrapping)
            for pid in wrapping:
                self._signal(pid, signal.SIGKILL)
            self._wait_until_alone(time.monotonic() + 1.0)
        if self._group is not None and not self._is_alone():
            self._group.kill()
        give_up = time.monotonic() + _GIVE_UP_AFTER
        while not self._is_alone() and time.monotonic() < give_up:
            for pid in self._frozen():
                self._killed.add(pid)
                self._signal(pid, signal.SIGKILL)
            self._wait_until_alone(time.monotonic() + 0.05)
        return 0 if self._is_alone() else max(1, len(self._living()))

    def _wrapping(self) -> set[int]:
        """Return the processes that are the box itself: they end last, and never politely."""
        if not self._order.get("wrapped"):
            return set()
        first = content(f"/proc/{self._command}/task/{self._command}/children").split()
        return {self._command, *(int(pid) for pid in first)}

    def _wait_until_alone(self, until: float) -> None:
        while not self._is_alone() and (left := until - time.monotonic()) > 0:
            wish = self._asked()
            if wish is not None:
                until = min(until, time.monotonic() + wish)
            self._sleep(min(left, 0.02))

    def _frozen(self) -> set[int]:
        """Stop every descendant and answer them: what is stopped cannot fork away from the kill."""
        frozen: set[int] = set()
        for _pass in range(200):
            fresh = [pid for pid in self._living() if pid not in frozen]
            # One that forks and exits at once lands here, as our own child, under ever new numbers.
            fresh += [pid for pid in _own_children() if pid not in frozen]
            if not fresh:
                break
            for pid in fresh:
                self._signal(pid, signal.SIGSTOP)
            frozen.update(fresh)
        return frozen

    def _living(self) -> list[int]:
        if self._is_alone():
            return []
        return descendants_of(os.getpid()) if _HAS_PROC else [self._command]

    def _signal(self, pid: int, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if _HAS_PROC:
                os.kill(pid, number)
            else:
                os.killpg(pid, number)

    def _tell(self, message: dict[str, Any]) -> None:
        with suppress(BrokenPipeError):
            os.write(self._report, json.dumps(message).encode() + b"\n")


def _signal_in(status: int) -> int:
    """Return the signal that ended a command, as itself or as a shell and a box tell it; 0 for none."""
    if status < 0:
        return -status
    return status - 128 if status > 128 else 0


def _own_children() -> list[int]:
    return [int(pid) for pid in content(f"/proc/self/task/{os.getpid()}/children").split()]


def _main() -> None:
    lifeline, report, parent = (int(argument) for argument in sys.argv[1:4])
    for descriptor in (lifeline, report):
        os.set_inheritable(descriptor, False)
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    # Second net beside the pipe: some foreign fork may hold a copy of its other end.
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return
    Keeper(lifeline, report).keep()


if __name__ == "__main__":
    _main()
