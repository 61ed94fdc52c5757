"""The judge's own process: criteria come in as JSON lines, decisions go out as JSON lines.

Run as `python -m runs.adapters.judges.scripted.session`; it knows no database and no Django. It ends when
its standard input ends, so that nothing is left of it when the process that asked is gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from runs.adapters.judges.scripted.browser import CandidateBrowser
from runs.adapters.judges.scripted.criteria import Bench, judged
from runs.adapters.judges.scripted.fence import Fence
from runs.adapters.judges.scripted.messages import criterion_from, encoded
from runs.adapters.judges.scripted.patterns import PatternMatcher
from runs.adapters.judges.scripted.settings import ScriptedSettings
from runs.adapters.judges.scripted.troubles import BenchTrouble, NoBrowser

_LONGEST_LINE = 64 * 1024 * 1024
_BEAT_SECONDS = 5.0
_MOST_MEMORY = 3 * 1024**3


class Session:
    """Judges the criteria that come in, several at once."""

    def __init__(self, bench: Bench, answers: BinaryIO) -> None:
        self._bench = bench
        self._answers = answers
        self._places = asyncio.Semaphore(bench.settings.concurrency)
        self._tasks: set[asyncio.Task[None]] = set()
        self._count = 0
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def serve(self, lines: asyncio.StreamReader) -> None:
        """Take criteria until the input ends; raises what broke the session as a whole."""
        reading = asyncio.ensure_future(self._read(lines))
        beating = asyncio.ensure_future(self._beat())
        await asyncio.wait({reading, self._failure}, return_when=asyncio.FIRST_COMPLETED)
        for task in (reading, beating, *self._tasks):
            task.cancel()
        if self._failure.done():
            self._failure.result()

    def tell(self, **message: Any) -> None:
        """Send one line to the process that asked."""
        self._answers.write(encoded(message))
        self._answers.flush()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            self.tell(type="alive")

    async def _read(self, lines: asyncio.StreamReader) -> None:
        while line := await lines.readline():
            self._count += 1
            task = asyncio.ensure_future(self._judge(json.loads(line), self._count))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self._failure.done():
            self._failure.set_exception(error)

    async def _judge(self, message: dict[str, Any], number: int) -> None:
        criterion = criterion_from(message["criterion"])
        async with self._places:
            self.tell(type="start", key=criterion.key)
            scratch = self._bench.scratch / str(number)
            bench = Bench(
                browser=self._bench.browser,
                fence=self._bench.fence,
                settings=self._bench.settings,
                matcher=self._bench.matcher,
                uploads=self._bench.uploads,
                scratch=scratch,
            )
            decisions = await judged(criterion, bench)
            self.tell(
                type="verdict", key=criterion.key, outcomes=[decision.as_json() for decision in decisions]
            )


async def main() -> int:
    """Serve one session; answers the exit code."""
    _limit_memory()
    answers = _private_output()
    lines = await _input_lines()
    order = json.loads(await lines.readline())
    settings = ScriptedSettings.from_mapping(order["settings"])
    fence = Fence(port=order["port"])
    scratch = Path(order["scratch"])
    matcher = PatternMatcher()
    async with async_playwright() as playwright:
        browser = CandidateBrowser(
            playwright,
            executable=Path(order["executable"]),
            arguments=tuple(order["arguments"]),
            fence=fence,
            settings=settings,
            downloads=scratch / "downloads",
        )
        bench = Bench(
            browser=browser,
            fence=fence,
            settings=settings,
            matcher=matcher,
            uploads=Path(order["uploads"]) if order["uploads"] else None,
            scratch=scratch,
        )
        session = Session(bench, answers)
        try:
            await browser.start()
            session.tell(type="ready", browser=browser.version)
            await session.serve(lines)
        except (NoBrowser, BenchTrouble) as trouble:
            session.tell(type="trouble", message=str(trouble))
            return 3
        finally:
            with suppress(PlaywrightError, TimeoutError):
                await asyncio.wait_for(browser.close(), 5)
            await matcher.close()
    return 0


def _limit_memory() -> None:
    """Bound what each process below this one may allocate: a page must not exhaust the machine."""
    if sys.platform == "linux":
        _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = _MOST_MEMORY if hard == resource.RLIM_INFINITY else min(_MOST_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _private_output() -> BinaryIO:
    """Return our answers' stream; whatever else is printed goes to standard error."""
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "wb")


async def _input_lines() -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer
    )
    return reader


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
