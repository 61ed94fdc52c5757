"""Run asynchronous work beside a browser of another test, which may keep an event loop in this thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def awaited[T](work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what `work` comes to, awaited in a thread with a loop of its own."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: asyncio.run(work())).result()
