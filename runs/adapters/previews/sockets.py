"""Relay one WebSocket between a visitor's browser and a previewed application."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, WebSocketException
from websockets.typing import Origin, Subprotocol

from runs.adapters.previews.headers import Places, to_application

type Message = MutableMapping[str, Any]

_LARGEST = 64 << 20
_OPEN_SECONDS = 10.0
_GOING_AWAY = 1001
_REFUSED = 1008
_FAILED = 1011
_BY_THE_CLIENT = frozenset({b"host", b"origin"})
_LONGEST_REASON = 120


async def relay_socket(
    scope: MutableMapping[str, Any],
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
    *,
    places: Places,
    on_use: Callable[[], object],
) -> None:
    """Open the application's side, then pass messages both ways until one side closes."""
    if (await receive())["type"] != "websocket.connect":
        return
    try:
        inner = await _open(scope, places)
    except InvalidHandshake:
        await send({"type": "websocket.close", "code": _REFUSED})
        return
    except (OSError, TimeoutError, WebSocketException):
        await send({"type": "websocket.close", "code": _FAILED})
        return
    try:
        await send({"type": "websocket.accept", "subprotocol": inner.subprotocol})
        await _relay(inner, receive, send, on_use=on_use)
    finally:
        await inner.close(_GOING_AWAY)


async def _open(scope: MutableMapping[str, Any], places: Places) -> ClientConnection:
    headers = to_application(scope["headers"], places)
    target = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
    if scope["query_string"]:
        target += "?" + scope["query_string"].decode("latin-1")
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    return await connect(
        f"ws://{places.inner_host.decode()}{target}",
        origin=Origin(origins[0]) if origins else None,
        subprotocols=[Subprotocol(name) for name in scope.get("subprotocols", ())] or None,
        additional_headers=[
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in headers
            if name not in _BY_THE_CLIENT and not name.startswith(b"sec-websocket-")
        ],
        user_agent_header=None,
        compression=None,
        open_timeout=_OPEN_SECONDS,
        close_timeout=2,
        ping_interval=None,
        max_size=_LARGEST,
        proxy=None,
    )


async def _relay(
    inner: ClientConnection,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
    *,
    on_use: Callable[[], object],
) -> None:
    async def inwards() -> None:
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                return
            on_use()
            text = message.get("text")
            await inner.send(message["bytes"] if text is None else text)

    async def outwards() -> None:
        async for message in inner:
            on_use()
            if isinstance(message, str):
                await send({"type": "websocket.send", "text": message})
            else:
                await send({"type": "websocket.send", "bytes": message})

    tasks = (asyncio.create_task(inwards()), asyncio.create_task(outwards()))
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0] not in done or _was_closed_inside(tasks[0]):
            code = inner.close_code if inner.close_code and inner.close_code not in (1005, 1006) else 1000
            reason = (inner.close_reason or "")[:_LONGEST_REASON]
            await send({"type": "websocket.close", "code": code, "reason": reason})
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, ConnectionClosed, OSError):
                await task


def _was_closed_inside(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and isinstance(task.exception(), ConnectionClosed)
