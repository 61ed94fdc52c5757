"""The code agent `command`: any command line, run in the workspace, its output kept as trajectory."""

from __future__ import annotations

import queue
import re
import shlex
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from benchmark.rules.protocol import BadSetting
from runs.adapters.code_agents import AgentKit, Settings
from runs.adapters.code_agents.command.endings import cannot_start, containment_of, turn_of
from runs.adapters.code_agents.command.settings import SETTINGS
from runs.adapters.sandboxes import (
    USUAL_LIMITS,
    Box,
    Ending,
    EndReport,
    KeptCommand,
    Limits,
    Network,
    Sandbox,
    StartFailed,
    Stream,
    clean_environment,
    passed_variables,
)
from runs.adapters.sandboxes.folders import own_folder
from runs.adapters.sandboxes.forwarding import Place
from runs.adapters.sandboxes.lines import Budget, Line, follow_lines
from runs.adapters.sandboxes.programs import folders_of
from runs.errors import StageError
from runs.ports import (
    AgentTurn,
    Brief,
    CancelCheck,
    EventKind,
    LimitHit,
    LimitKind,
    TrajectoryEventRecord,
)

__all__ = ["NAME", "SETTINGS", "TITLE", "CommandAgent", "build"]

NAME = "command"
TITLE = "Run a command line"

_PLACEHOLDER = re.compile(r"\{(request|request_file|round|task)\}")
_LINE_BYTES = 256 << 10
_TOTAL_BYTES = 64 << 20
_STOP_BYTES = 512 << 20
_WAITING_LINES = 500
_NAMED_FILES = 20
_TICK = 0.25
_NOT_SECRET = frozenset({"HOME", "PATH", "USER", "LOGNAME", "LANG", "TERM", "SHELL"})
_SHORTEST_SECRET = 8


def build(settings: Settings, kit: AgentKit) -> CommandAgent:
    """Return the agent; raises BadSetting for an empty or unbalanced command line."""
    command = str(settings["command"])
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise BadSetting(f"Setting 'command' is {command!r}; it cannot be split: {error}.") from None
    if not words:
        raise BadSetting("Setting 'command' is empty; give a command line, e.g. command='my-agent --yes'.")
    names = [name.strip() for name in str(settings["pass_variables"]).split(",") if name.strip()]
    try:
        passed = passed_variables(names)
    except ValueError as error:
        raise BadSetting(f"Setting 'pass_variables': {error}") from None
    endpoint = str(settings["model_endpoint"]).strip()
    try:
        if endpoint:
            Place.of(endpoint)
    except ValueError as error:
        raise BadSetting(f"Setting 'model_endpoint': {error}") from None
    readable = [name.strip() for name in str(settings["read_only"]).split(",") if name.strip()]
    for name in readable:
        if not Path(name).is_absolute() or not Path(name).exists():
            raise BadSetting(f"Setting 'read_only' names {name!r}; give full paths of what is there.")
    return CommandAgent(
        words=words,
        endpoint=endpoint,
        read_only=tuple(Path(name) for name in readable),
        limits=kit.limits,
        wall_clock=float(settings["wall_clock"]),
        passed=passed,
        max_events=int(settings["max_events"]),
        sandbox=kit.sandbox,
        scratch=kit.scratch,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAgent:
    """Runs one command a round and keeps what it writes, line by line."""

    words: tuple[str, ...]
    wall_clock: float
    sandbox: Sandbox
    scratch: Path
    passed: Mapping[str, str] = field(default_factory=dict, repr=False)
    max_events: int = 20_000
    endpoint: str = ""
    read_only: tuple[Path, ...] = ()
    limits: Limits = USUAL_LIMITS
    name: str = NAME

    def work(
        self,
        brief: Brief,
        *,
        record: Callable[[TrajectoryEventRecord], None],
        is_cancelled: CancelCheck,
    ) -> AgentTurn:
        """Run the command until it ends, is cancelled or meets its limit; ends all it started.

        Raises StageError when the command does not exist or cannot be held.
        """
        home = own_folder(self.scratch, purpose="agent")
        try:
            turn = self._work(brief, home=home, record=record, is_cancelled=is_cancelled)
        finally:
            shutil.rmtree(home, ignore_errors=True)
        if turn.containment is None or not home.exists():
            return turn
        left = tuple(str(path) for path in islice(home.rglob("*"), _NAMED_FILES)) or (str(home),)
        return replace(turn, containment=replace(turn.containment, files_left=left))

    def _work(
        self,
        brief: Brief,
        *,
        home: Path,
        record: Callable[[TrajectoryEventRecord], None],
        is_cancelled: CancelCheck,
    ) -> AgentTurn:
        request_file = home / "request.md"
        request_file.write_text(brief.request, encoding="utf-8")
        values = {
            "request": brief.request,
            "request_file": str(request_file),
            "round": str(brief.round_number),
            "task": brief.task_key,
        }
        on_stdin = not any(
            match[1] in ("request", "request_file")
            for word in self.words
            for match in _PLACEHOLDER.finditer(word)
        )
        # One pass over each word: a request that speaks of {round} is not filled in again.
        argv = [_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in self.words]
        environment = clean_environment(
            home,
            network=True,
            extra={
                **self._passed_inside(),
                "PROOFROOM_ROUND": values["round"],
                "PROOFROOM_TASK": values["task"],
                "PROOFROOM_REQUEST_FILE": values["request_file"],
            },
        )
        try:
            kept = self.sandbox.start(
                argv,
                cwd=brief.workspace,
                env=environment,
                stdin=Stream.PIPE if on_stdin else Stream.NOTHING,
                deadline_seconds=self.wall_clock,
                niceness=5,
                box=self._box(brief, home=home, path=environment["PATH"]),
            )
        except StartFailed as refused:
            raise StageError(cannot_start(self.words[0], refused)) from refused
        budget = Budget(lines=self.max_events, total_bytes=_TOTAL_BYTES)
        with kept:
            if kept.stdin is not None:
                _feed(kept.stdin, brief.request)
            report = self._listen(kept, budget=budget, record=record, is_cancelled=is_cancelled)
        hits = report.limits_hit
        if report.ending is Ending.OUTPUT_LIMIT:
            hits = (*hits, LimitHit(kind=LimitKind.OUTPUT, limit=_STOP_BYTES, seen=budget.seen_bytes))
        turn = turn_of(report, hits, wall_clock=self.wall_clock)
        return replace(turn, containment=containment_of(self.sandbox.name, report, hits))

    def _passed_inside(self) -> Mapping[str, str]:
        """Return the variables to pass on; a home that does not exist inside would only mislead."""
        if not self.sandbox.isolates:
            return self.passed
        return {name: value for name, value in self.passed.items() if name != "HOME"}

    def _box(self, brief: Brief, *, home: Path, path: str) -> Box:
        named = [Path(word) for word in self.words if word.startswith("/") and Path(word).is_file()]
        tools = folders_of(self.words[0], path=path, outside=(brief.workspace, self.scratch))
        return Box(
            workspace=brief.workspace,
            writable=(home,),
            read_only=(*tools, *named, *self.read_only),
            network=Network(endpoint=self.endpoint),
            limits=self.limits,
        )

    def _listen(
        self,
        kept: KeptCommand,
        *,
        budget: Budget,
        record: Callable[[TrajectoryEventRecord], None],
        is_cancelled: CancelCheck,
    ) -> EndReport:
        """Record lines as they come, from this thread alone: a database connection belongs to one."""
        # Bounded, so that a flood waits for the database instead of filling the memory.
        lines: queue.Queue[Line] = queue.Queue(maxsize=_WAITING_LINES)
        over = threading.Event()

        def keep(line: Line) -> None:
            while not over.is_set():
                with suppress(queue.Full):
                    lines.put(line, timeout=1)
                    return

        readers = [
            follow_lines(stream, name=name, budget=budget, keep=keep, line_bytes=_LINE_BYTES)
            for name, stream in (("stdout", kept.stdout), ("stderr", kept.stderr))
            if stream is not None
        ]
        report: EndReport | None = None
        ask_at = 0.0
        try:
            while report is None or not lines.empty() or any(reader.is_alive() for reader in readers):
                with suppress(queue.Empty):
                    record(self._event(lines.get(timeout=_TICK if report is None else 0.02)))
                if report is None and time.monotonic() >= ask_at:
                    if is_cancelled():
                        report = kept.end()
                    elif budget.seen_bytes > _STOP_BYTES:
                        report = kept.end(ending=Ending.OUTPUT_LIMIT)
                    else:
                        report = kept.poll()
                    ask_at = time.monotonic() + _TICK
        finally:
            over.set()  # A record that failed must not leave a reader waiting for room.
        if budget.lines_left_out:
            record(
                TrajectoryEventRecord(
                    at=datetime.now(UTC),
                    kind=EventKind.ERROR,
                    text=f"{budget.lines_left_out:,} more lines of output were not kept.",
                    data={"lines_left_out": budget.lines_left_out},
                )
            )
        return report

    def _event(self, line: Line) -> TrajectoryEventRecord:
        line = Line(at=line.at, stream=line.stream, raw=self._blotted(line.raw), cut_bytes=line.cut_bytes)
        data = line.data if line.stream == "stdout" else None
        if data is not None:
            return TrajectoryEventRecord(at=line.at, kind=EventKind.OUTPUT, text=_summary(data), data=data)
        stream = {} if line.stream == "stdout" else {"stream": line.stream}
        return TrajectoryEventRecord(at=line.at, kind=EventKind.OUTPUT, text=line.text, data=stream)

    def _blotted(self, raw: bytes) -> bytes:
        for name, value in self.passed.items():
            if name not in _NOT_SECRET and len(value) >= _SHORTEST_SECRET:
                raw = raw.replace(value.encode(), f"[{name}]".encode())
        return raw


def _feed(stdin: BinaryIO, request: str) -> None:
    """Write the request and close the pipe, from a thread: not every command reads its input."""

    def write() -> None:
        data = memoryview(request.encode())
        # An unbuffered pipe may take a part only; a command may also end without reading.
        with suppress(OSError, ValueError), stdin:
            while data:
                data = data[stdin.write(data) :]

    threading.Thread(target=write, name="request", daemon=True).start()


def _summary(data: Mapping[str, object]) -> str:
    """Return the few words by which JSON events are told apart."""
    words = [data[key] for key in ("type", "event", "subtype", "text", "message") if key in data]
    return " ".join(word for word in words if isinstance(word, str))[:500]
