"""Tell a slow candidate from a busy machine: time that the bench itself lost is not held against a page.

A control page of our own is asked a trivial question again and again. Where its answer is late, everything
in this browser is late, and deadlines are stretched by as much.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

_PAUSE = 0.25
_USUAL = 0.1
MOST_STRETCH = 8.0
"""A deadline is never stretched to more than so many times its length."""


class Pulse:
    """Measures how much time was lost so far."""

    def __init__(self) -> None:
        self._lost = 0.0
        self._beat_began: float | None = None
        self._task: asyncio.Task[None] | None = None

    def follow(self, page: Page) -> None:
        """Measure on this page from now on."""
        self.stop()
        self._task = asyncio.ensure_future(self._beat(page))

    def stop(self) -> None:
        """Measure no longer."""
        if self._task is not None:
            self._task.cancel()
        self._task = None
        self._beat_began = None

    def lost(self) -> float:
        """Return the seconds lost so far, those of the answer that is still awaited included."""
        return self._lost + self._overdue()

    def deadline(self, limit: float) -> Deadline:
        """Return a deadline `limit` seconds from now, as this machine experiences them."""
        return Deadline(self, limit)

    async def wait_for[T](self, work: Coroutine[Any, Any, T], limit: float) -> T:
        """Await `work`; raises TimeoutError and cancels it when the stretched limit has passed."""
        deadline = self.deadline(limit)
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                if deadline.is_over():
                    raise TimeoutError
                await asyncio.wait({task}, timeout=min(0.25, limit))
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, PlaywrightError):
                    await asyncio.wait({task}, timeout=1)

    async def _beat(self, page: Page) -> None:
        with suppress(PlaywrightError):
            while True:
                self._beat_began = time.monotonic()
                await asyncio.sleep(_PAUSE)
                await page.evaluate("1")
                self._lost += self._overdue()
        # The browser is gone: nothing can be measured until a new control page is followed.
        self._beat_began = None

    def _overdue(self) -> float:
        if self._beat_began is None:
            return 0.0
        return max(0.0, time.monotonic() - self._beat_began - _PAUSE - _USUAL)


class Deadline:
    """A point in time that moves on while the machine is too busy."""

    def __init__(self, pulse: Pulse, limit: float) -> None:
        self._pulse = pulse
        self._limit = limit
        self._began = time.monotonic()
        self._lost_before = pulse.lost()

    def is_over(self) -> bool:
        """Tell whether the limit has passed."""
        passed = time.monotonic() - self._began
        if passed > self._limit * MOST_STRETCH:
            return True
        return passed - self.lost() > self._limit

    def lost(self) -> float:
        """Return the seconds that the bench lost since this deadline was set."""
        return max(0.0, self._pulse.lost() - self._lost_before)
