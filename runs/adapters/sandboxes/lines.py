"""Turn what a command writes into lines with arrival times that can be stored and shown."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

from runs.adapters.sandboxes.logs import readable

_CHUNK = 65536
_FLOOD_PAUSE = 0.0005


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line as it arrived; `cut_bytes` counts what its end lost to the limit."""

    at: datetime
    stream: str
    raw: bytes
    cut_bytes: int = 0

    @property
    def text(self) -> str:
        """What a terminal would show: overwritten beginnings, escapes and controls are gone."""
        shown = self.raw.rstrip(b"\r").rsplit(b"\r", 1)[-1]
        cut = f" [... {self.cut_bytes:,} bytes left out]" if self.cut_bytes else ""
        return readable(shown) + cut

    @property
    def data(self) -> Mapping[str, Any] | None:
        """The JSON object that the line is, cleaned for any database; None when it is none."""
        raw = self.raw.strip()
        if self.cut_bytes or not (raw.startswith(b"{") and raw.endswith(b"}")):
            return None
        try:
            found = _cleaned(json.loads(raw.decode("utf-8", "backslashreplace")))
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


class Budget:
    """How many lines and bytes are kept of all streams of a command together; counts the rest."""

    def __init__(self, *, lines: int, total_bytes: int) -> None:
        self._lines = lines
        self._bytes = total_bytes
        self._lock = threading.Lock()
        self.lines_left_out = 0
        self.seen_bytes = 0

    def saw(self, count: int) -> None:
        """Count bytes as they come, kept or not."""
        with self._lock:
            self.seen_bytes += count

    def takes(self, line: Line) -> bool:
        """Answer whether this line is kept, and count it."""
        with self._lock:
            if self._lines < 1 or self._bytes < len(line.raw):
                # Nothing after the first line left out is kept: a gap in the middle would deceive.
                self._lines = 0
                self.lines_left_out += 1
                return False
            self._lines -= 1
            self._bytes -= len(line.raw)
            return True


def follow_lines(
    stream: BinaryIO, *, name: str, budget: Budget, keep: Callable[[Line], object], line_bytes: int
) -> threading.Thread:
    """Call `keep` from a thread with each line that is not blank, as long as the budget lasts."""

    def read() -> None:
        for line in _lines(stream, name=name, line_bytes=line_bytes, saw=budget.saw):
            if budget.takes(line):
                keep(line)

    thread = threading.Thread(target=read, name=f"lines of {name}", daemon=True)
    thread.start()
    return thread


def _lines(stream: BinaryIO, *, name: str, line_bytes: int, saw: Callable[[int], None]) -> Iterator[Line]:
    begun = bytearray()
    cut = 0
    while data := _next_chunk(stream):
        saw(len(data))
        at = datetime.now(UTC)
        *ended, rest = data.split(b"\n")
        for piece in ended:
            cut += max(0, len(begun) + len(piece) - line_bytes)
            begun += piece[: max(0, line_bytes - len(begun))]
            if begun.strip():
                yield Line(at=at, stream=name, raw=bytes(begun), cut_bytes=cut)
            begun.clear()
            cut = 0
        cut += max(0, len(begun) + len(rest) - line_bytes)
        begun += rest[: max(0, line_bytes - len(begun))]
        if cut:
            time.sleep(_FLOOD_PAUSE)
    if begun.strip():
        yield Line(at=datetime.now(UTC), stream=name, raw=bytes(begun), cut_bytes=cut)


def _next_chunk(stream: BinaryIO) -> bytes:
    try:
        return stream.read(_CHUNK) or b""
    except (OSError, ValueError):
        return b""  # The pipe was closed under us: the command is over.


def _cleaned(value: Any) -> Any:
    """Return JSON that every database takes: no NUL, no lone surrogate, no NaN, in keys neither."""
    match value:
        case str():
            return readable(value.encode("utf-8", "surrogatepass"))
        case float() if not math.isfinite(value):
            return str(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {str(_cleaned(key)): _cleaned(item) for key, item in value.items()}
        case _:
            return value
