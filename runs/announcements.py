"""Tell live pages that there is more to read; the message carries a cursor, never the news."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.db import transaction

from benchmark.rules.vocabulary import Mark
from runs.models import Run, RunEvent, RunEventKind, Trial

log = logging.getLogger(__name__)

_server_loop: asyncio.AbstractEventLoop | None = None


def bind_loop(loop: asyncio.AbstractEventLoop | None) -> None:
    """Name the web server's loop: the in-memory channel layer is not safe from other threads."""
    global _server_loop  # noqa: PLW0603 - one server a process, and its loop is known only once it runs
    _server_loop = loop


def group_of(run_id: int) -> str:
    """The channel group of a run's live pages."""
    return f"run-{run_id}"


def announce(
    *,
    run: Run,
    kind: RunEventKind,
    text: str,
    trial: Trial | None = None,
    round_number: int | None = None,
    criterion: str = "",
    mark: Mark | None = None,
) -> None:
    """Record an event of a run and, once it is committed, ring its live pages."""
    event = RunEvent.objects.create(
        run=run,
        trial=trial,
        round_number=round_number,
        kind=kind.value,
        criterion=criterion,
        mark=mark.value if mark else "",
        text=text,
    )
    # Robust: a channel layer that is away costs the page its liveliness, never a stage its work.
    transaction.on_commit(partial(_ring, run.pk, event.pk), robust=True)


def _ring(run_id: int, cursor: int) -> None:
    layer = get_channel_layer()
    assert layer is not None  # settings always name one
    message: dict[str, Any] = {"type": "more", "cursor": cursor}
    if not isinstance(layer, InMemoryChannelLayer):
        from redis.exceptions import RedisError

        try:
            async_to_sync(layer.group_send)(group_of(run_id), message)
        except (OSError, RedisError) as error:
            log.warning("Run %s: its live pages are not told (%s).", run_id, error)
        return
    # Another process has no way to this one's memory; there pages catch up by polling.
    loop = _server_loop
    if loop is not None and loop.is_running():
        asyncio.run_coroutine_threadsafe(layer.group_send(group_of(run_id), message), loop)
