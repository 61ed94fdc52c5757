"""Refuse a request whose body is larger than anything the site takes, before it fills a disk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type Application = Callable[[Message, Receive, Send], Awaitable[None]]

LARGEST_BODY = 16 << 20
"""Bytes: the largest file that is taken is a screenshot of 10 MB, and forms come with it."""

_SENTENCE = f"This is larger than the {LARGEST_BODY >> 20} MB that the site takes in one request. Nothing was changed."


class _TooLarge(Exception):
    """Raised inside the application when more comes than was announced."""


def largest_body(application: Application) -> Application:
    """Wrap an ASGI application: it never sees a larger body, announced or not.

    Django collects a body in a temporary file before anything of ours is asked, sign-in included.
    """

    async def limited(scope: Message, receive: Receive, send: Send) -> None:
        if _announced(scope) > LARGEST_BODY:
            await _refuse(send)
            return
        seen = 0
        has_begun = False

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > LARGEST_BODY:
                raise _TooLarge
            return message

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await application(scope, counted, watched)
        except _TooLarge:
            if not has_begun:
                await _refuse(send)

    return limited


def _announced(scope: Message) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else LARGEST_BODY + 1
    return 0


async def _refuse(send: Send) -> None:
    content = _SENTENCE.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(content)).encode()),
        # What is still on its way is not read.
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": content})
