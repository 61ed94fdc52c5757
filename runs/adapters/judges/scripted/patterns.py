"""Run a pack's regular expressions in a process of their own, with a bound on text and time."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress

LONGEST_TEXT = 20_000
SECONDS = 1.0

_PROGRAM = """
import json, re, sys
for line in sys.stdin:
    pattern, text, flags = json.loads(line)
    print(json.dumps(re.search(pattern, text, flags) is not None), flush=True)
"""


class PatternTooSlow(Exception):
    """A regular expression took longer than it may; the message names it."""


class PatternMatcher:
    """Answers whether a pattern is found in a text; a pattern that runs wild is killed, not waited for."""

    def __init__(self, *, limit: float = SECONDS) -> None:
        self._limit = limit
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def found(self, pattern: str, text: str, *, flags: int = 0) -> bool:
        """Tell whether `pattern` occurs in the first characters of `text`.

        Raises PatternTooSlow when the bound is passed or the pattern cannot be run.
        """
        question = json.dumps([pattern, text[:LONGEST_TEXT], flags]).encode() + b"\n"
        async with self._lock:
            process = await self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(question)
                answer = await asyncio.wait_for(process.stdout.readline(), self._limit)
            except (TimeoutError, ConnectionError):
                answer = b""
            if not answer:
                await self._stop()
                limit = f"{self._limit:g} s on {len(text)} characters"
                raise PatternTooSlow(f"The pattern {pattern[:80]!r} took longer than {limit}.")
            return bool(json.loads(answer))

    async def close(self) -> None:
        """End the process."""
        async with self._lock:
            await self._stop()

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-S",
                "-c",
                _PROGRAM,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            # The first answer says that Python is up, so that its start never counts as the pattern's time.
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(b'["", "", 0]\n')
            await asyncio.wait_for(self._process.stdout.readline(), 20)
        return self._process

    async def _stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        self._process = None
