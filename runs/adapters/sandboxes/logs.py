"""Keep the beginning and the end of what a command writes, and count the rest."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import BinaryIO

_CHUNK = 65536
_FLOOD_PAUSE = 0.0005
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")


def readable(raw: bytes) -> str:
    """Return bytes as text that can be stored and shown: no escapes, no control characters, no NUL.

    Undecodable bytes are shown as `\\xNN`; a carriage return becomes a new line.
    """
    text = _ESCAPES.sub("", raw.decode("utf-8", "backslashreplace"))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


class BoundedLog:
    """At most `keep_bytes` of a stream: its first half and its last; thread-safe."""

    def __init__(self, *, keep_bytes: int = 1_000_000) -> None:
        self._half = max(1, keep_bytes // 2)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._seen = 0
        self._lock = threading.Lock()

    @property
    def seen(self) -> int:
        """How many bytes came in all."""
        return self._seen

    @property
    def is_full(self) -> bool:
        """True once something had to be left out."""
        return self._seen > 2 * self._half

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        with self._lock:
            self._seen += len(data)
            room = self._half - len(self._head)
            self._head += data[:room] if room > 0 else b""
            rest = data[max(room, 0) :][-self._half :]
            if not rest:
                return
            self._tail.append(rest)
            self._tail_size += len(rest)
            while self._tail_size - len(self._tail[0]) >= self._half:
                self._tail_size -= len(self._tail.popleft())

    def text(self) -> str:
        """Return what is kept, with a line that says how many bytes were left out."""
        with self._lock:
            head, tail, seen = bytes(self._head), b"".join(self._tail)[-self._half :], self._seen
        left_out = seen - len(head) - len(tail)
        if not left_out:
            return readable(head + tail)
        return f"{readable(head)}\n[... {left_out:,} bytes left out ...]\n{readable(tail)}"


def follow(
    stream: BinaryIO,
    log: BoundedLog,
    *,
    stop_bytes: int | None = None,
    on_stop: Callable[[], object] | None = None,
) -> threading.Thread:
    """Read a pipe into `log` from a thread until its end; `on_stop` is called beyond `stop_bytes`."""

    def read() -> None:
        stopped = False
        while True:
            try:
                data = stream.read(_CHUNK)
            except (OSError, ValueError):
                return  # The pipe was closed under us: the command is over.
            if not data:
                return
            log.add(data)
            if stop_bytes is not None and log.seen > stop_bytes and not stopped:
                stopped = True
                if on_stop is not None:
                    on_stop()
            if log.is_full:
                # The writer waits while we sleep: a flood must not cost the site its processor.
                time.sleep(_FLOOD_PAUSE)

    thread = threading.Thread(target=read, name="log", daemon=True)
    thread.start()
    return thread
