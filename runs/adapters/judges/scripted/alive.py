"""Await what a browser was asked for, only as long as that browser lives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError

_LOOK_SECONDS = 0.5


async def given_by[T](browser: Browser, work: Coroutine[Any, Any, T], *, seconds: float) -> T:
    """Return what `work` comes to; raises TimeoutError when the browser has died, or `seconds` have passed.

    A browser that dies at the wrong moment leaves its driver, and whoever asked it, waiting for ever.
    """
    until = time.monotonic() + seconds
    task = asyncio.ensure_future(work)
    try:
        while True:
            await asyncio.wait({task}, timeout=_LOOK_SECONDS)
            if task.done():
                return task.result()
            if not browser.is_connected() or time.monotonic() > until:
                raise TimeoutError
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError, PlaywrightError):
                await asyncio.wait({task}, timeout=1)
