"""Whether this process can serve: each thing it stands on answers within a time, or is named."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

from asgiref.sync import async_to_sync
from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.conf import settings
from django.core.files.storage import storages
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

log = logging.getLogger(__name__)

PATIENCE = 3.0
"""Seconds that each of them has."""

REMEMBERED = 1.0
"""Seconds for which an answer is given again: whoever asks without end asks nobody behind us."""


class Standing(StrEnum):
    """The one word that is said of each."""

    OK = "ok"
    AWAY = "away"
    SLOW = "slow"
    BEHIND = "behind"


class Behind(Exception):
    """The database lacks migrations."""


class Readiness:
    """Asks everything at the same time, and nothing twice while it is still being asked."""

    def __init__(self, looks: Mapping[str, Callable[[], None]], *, patience: float = PATIENCE) -> None:
        self._looks = looks
        self._patience = patience
        self._asking: dict[str, threading.Thread] = {}
        self._found: dict[str, Standing] = {}
        self._lock = threading.Lock()
        self._asked_at = -REMEMBERED

    def standings(self) -> Mapping[str, Standing]:
        """How each of them stands now, or did a moment ago; takes the patience at most."""
        with self._lock:
            if time.monotonic() - self._asked_at < REMEMBERED:
                return dict(self._found)
            until = time.monotonic() + self._patience
            for name, look in self._looks.items():
                if name not in self._asking or not self._asking[name].is_alive():
                    self._found[name] = Standing.SLOW
                    self._asking[name] = threading.Thread(
                        target=self._ask, args=(name, look), name=f"ready-{name}", daemon=True
                    )
                    self._asking[name].start()
            for name in self._looks:
                self._asking[name].join(max(0.0, until - time.monotonic()))
                if self._asking[name].is_alive():
                    self._found[name] = Standing.SLOW
            self._asked_at = time.monotonic()
            return dict(self._found)

    def _ask(self, name: str, look: Callable[[], None]) -> None:
        try:
            look()
        except Behind:
            self._found[name] = Standing.BEHIND
        except Exception as error:  # noqa: BLE001 - whatever it is, the thing cannot be used
            # The probe is told a word; whoever reads the log is told why.
            log.warning("Not ready: %s is away: %s: %s", name, type(error).__name__, error)
            self._found[name] = Standing.AWAY
        else:
            self._found[name] = Standing.OK
        finally:
            connection.close()


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _migrations() -> None:
    global _are_migrated  # noqa: PLW0603 - migrations are never taken back below a running process
    if _are_migrated:
        return
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Behind
    _are_migrated = True


_are_migrated = False


def _broker() -> None:
    from runs.jobs import application

    with application.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=PATIENCE)


def _channel_layer() -> None:
    layer = get_channel_layer()
    # That in memory belongs to the server's own loop, and is there whenever this process is.
    if layer is None or isinstance(layer, InMemoryChannelLayer):
        return

    async def echo() -> None:
        channel = await layer.new_channel()
        await layer.send(channel, {"type": "ready"})
        await asyncio.wait_for(layer.receive(channel), PATIENCE)

    async_to_sync(echo)()


def _blobs() -> None:
    store = storages["blobs"]
    if reach := getattr(store, "reach", None):
        reach()
        return
    folder = Path(store.path(""))
    if not os.access(folder if folder.exists() else settings.DATA_DIR, os.W_OK):
        raise PermissionError(folder)


READINESS = Readiness(
    {
        "database": _database,
        "migrations": _migrations,
        "broker": _broker,
        "channel_layer": _channel_layer,
        "blobs": _blobs,
    }
)
