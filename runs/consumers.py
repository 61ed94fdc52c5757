"""The socket of a run's page: it says that there is more, never what."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db.models import Max

from people.hiding import forget
from people.roles import may_read_runs
from runs.announcements import group_of
from runs.models import Run, RunEvent
from runs.visibility import hidden_runs

LOOK_EVERY = 3.0
"""Seconds between looks at the database: another process's worker may have no way to ring here."""
REFUSED = 4401
FORBIDDEN = 4403
UNKNOWN = 4404


class RunConsumer(AsyncWebsocketConsumer):
    """Sends `{"more": cursor}` at once, whenever a worker rings, and when a look finds a newer event."""

    async def connect(self) -> None:
        self._run_id = int(self.scope["url_route"]["kwargs"]["run_id"])
        self._sent = -1
        self._looking: asyncio.Task[None] | None = None
        # Accepted before it is refused, so that the page is told why.
        await self.accept()
        user = self.scope.get("user")
        if user is None or not user.is_authenticated:
            await self.close(code=REFUSED)
            return
        if not await _exists(self._run_id):
            await self.close(code=UNKNOWN)
            return
        if await _newest_for(user, self._run_id) is None:
            await self.close(code=FORBIDDEN)
            return
        self._user = user
        await self.channel_layer.group_add(group_of(self._run_id), self.channel_name)
        # Read once more: what came before this joined the group rang for the others only.
        await self._say(await _newest_for(user, self._run_id) or 0)
        self._looking = asyncio.create_task(self._look())

    async def disconnect(self, code: int) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        await self.channel_layer.group_discard(group_of(self._run_id), self.channel_name)

    async def more(self, message: dict[str, Any]) -> None:
        """A worker rang."""
        await self._say(int(message["cursor"]))

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            newest = await _newest_for(self._user, self._run_id)
            if newest is None:
                await self.close(code=FORBIDDEN)
                return
            await self._say(newest)

    async def _say(self, cursor: int) -> None:
        if cursor > self._sent:
            self._sent = cursor
            await self.send(text_data=json.dumps({"more": cursor}))


class NowhereConsumer(AsyncWebsocketConsumer):
    """Refuses a socket under an address that has none, where the router would only raise."""

    async def connect(self) -> None:
        await self.close(code=UNKNOWN)


@database_sync_to_async
def _exists(run_id: int) -> bool:
    return Run.objects.filter(pk=run_id).exists()


@database_sync_to_async
def _newest_for(user: Any, run_id: int) -> int | None:
    """The run's newest event, in one visit to the database; None for a person who may not see the run now."""
    # A blind set may have been taken since the last look, in another tab.
    forget(user)
    if not may_read_runs(user) or run_id in hidden_runs(user):
        return None
    newest: int | None = RunEvent.objects.filter(run=run_id).aggregate(newest=Max("pk"))["newest"]
    return newest or 0
