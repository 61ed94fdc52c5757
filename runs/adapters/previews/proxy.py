"""ASGI middleware: each preview answers on its own host, and the site on no preview's host."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, Protocol

import httpx

from runs.adapters.previews import pages
from runs.adapters.previews.cookies import expiry, without_foreign
from runs.adapters.previews.headers import Places, to_application, to_visitor
from runs.adapters.previews.sockets import relay_socket
from runs.adapters.previews.states import Preview, PreviewState

type Scope = MutableMapping[str, Any]
type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_HOST_KEY = re.compile(r"p-[a-z2-7]{26}")
_TIMEOUT = {"connect": 5.0, "read": 300.0, "write": 300.0, "pool": 10.0}
_SAFE_TO_REPEAT = ("GET", "HEAD", "OPTIONS")


class Previews(Protocol):
    """What the proxy needs of a PreviewManager."""

    def find(self, host_key: str) -> Preview | None:
        """Return the preview of that host, or None."""
        ...

    def touch(self, host_key: str) -> None:
        """Say that somebody has just used it."""
        ...


class PreviewProxy:
    """Sends requests for `p-<key>.<site host>` to that preview's application, all others to the site."""

    def __init__(self, site: Application, previews: Previews, *, site_host: str) -> None:
        self._site = site
        self._previews = previews
        self._parent = "." + _name_of(site_host)
        # A name of one's own may be shared with sites whose cookies are none of our business.
        self._heals = self._parent.endswith(".localhost")
        self._transport: httpx.AsyncHTTPTransport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._site(scope, receive, send)
            return
        hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
        host = hosts[0].decode("latin-1").lower() if hosts else ""
        name = _name_of(host)
        if not name.endswith(self._parent):
            send = self._healing(scope, send)
            await self._site({**scope, "headers": without_foreign(scope["headers"])}, receive, send)
            return
        send = self._healing(scope, send)
        host_key = name.removesuffix(self._parent)
        preview = self._previews.find(host_key) if _HOST_KEY.fullmatch(host_key) else None
        page = _page_for(preview) if len(hosts) == 1 else pages.ended()
        if page is not None or preview is None:
            await _answer(page or pages.ended(), scope, receive, send)
            return
        self._previews.touch(host_key)
        places = Places(public_host=hosts[0].lower(), port=preview.port)
        if scope["type"] == "websocket":
            await relay_socket(
                scope, receive, send, places=places, on_use=lambda: self._previews.touch(host_key)
            )
        else:
            await self._relay(scope, receive, send, places)

    def _healing(self, scope: Scope, send: Send) -> Send:
        """Let an answer expire what scripts of previews have set for the parent domain."""
        if not self._heals or scope["type"] != "http":
            return send
        added = expiry(scope["headers"], path=scope["path"], parent=self._parent[1:].encode())
        if not added:
            return send

        async def healed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        return healed

    async def aclose(self) -> None:
        """Close the connections kept to applications, at the end of the loop that served with them."""
        if self._transport is not None and self._loop is asyncio.get_running_loop():
            await self._transport.aclose()
            self._transport = self._loop = None

    async def _relay(self, scope: Scope, receive: Receive, send: Send, places: Places) -> None:
        body = _Body(scope, receive)
        try:
            response = await self._response(scope, body, places)
        except httpx.HTTPError:
            if not body.visitor_left:
                await _answer(pages.not_answering(), scope, receive, send)
            return
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": response.status_code,
                    "headers": to_visitor(response.headers.raw, places),
                }
            )
            # An application that streams without end must not stream to a visitor who has left.
            sending = asyncio.create_task(_send_body(response, send))
            leaving = asyncio.create_task(body.until_visitor_leaves())
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
            leaving.cancel()
            if not sending.done():
                sending.cancel()
            with suppress(asyncio.CancelledError):
                await leaving
            with suppress(asyncio.CancelledError, httpx.HTTPError):
                # Broken off in the middle: the last message is not sent, so the server breaks off too.
                await sending
        finally:
            await response.aclose()

    async def _response(self, scope: Scope, body: _Body, places: Places) -> httpx.Response:
        target = scope.get("raw_path") or scope["path"].encode()
        if scope["query_string"]:
            target += b"?" + scope["query_string"]

        def request() -> httpx.Request:
            return httpx.Request(
                scope["method"],
                places.inner_origin.decode(),
                headers=to_application(scope["headers"], places),
                content=body if body.is_expected else None,
                # As it came: httpx would write some characters of the path another way.
                extensions={"timeout": _TIMEOUT, "target": target},
            )

        transport = self._bare_transport()
        try:
            return await transport.handle_async_request(request())
        except httpx.RemoteProtocolError:
            # The application closed a kept connection at the very moment of its use.
            if scope["method"] not in _SAFE_TO_REPEAT or body.is_expected:
                raise
            return await transport.handle_async_request(request())

    def _bare_transport(self) -> httpx.AsyncHTTPTransport:
        """Return a pool of connections without a cookie jar: a client's jar would mix its visitors."""
        loop = asyncio.get_running_loop()
        if self._transport is None or self._loop is not loop:
            limits = httpx.Limits(max_connections=400, max_keepalive_connections=64, keepalive_expiry=2.0)
            self._transport = httpx.AsyncHTTPTransport(verify=False, trust_env=False, limits=limits)
            self._loop = loop
        return self._transport


class _Body(httpx.AsyncByteStream):
    """The request's body as it arrives, and the news that the visitor has left."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        names = {name.lower() for name, _ in scope["headers"]}
        self.is_expected = bool(names & {b"content-length", b"transfer-encoding"})
        self.visitor_left = False
        self._receive = receive
        self._complete = asyncio.Event()
        if not self.is_expected:
            self._complete.set()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while not self._complete.is_set():
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.visitor_left = True
                raise httpx.ReadError("The visitor left in the middle of the request.")
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body"):
                self._complete.set()

    async def until_visitor_leaves(self) -> None:
        await self._complete.wait()
        while (await self._receive())["type"] != "http.disconnect":
            continue
        self.visitor_left = True


async def _send_body(response: httpx.Response, send: Send) -> None:
    assert isinstance(response.stream, httpx.AsyncByteStream)
    async for chunk in response.stream:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _page_for(preview: Preview | None) -> pages.Page | None:
    """Return our own page for a preview that cannot answer, None for one that can."""
    if preview is None:
        return pages.ended()
    match preview.state:
        case PreviewState.RUNNING:
            return None
        case PreviewState.STARTING:
            return pages.starting()
        case PreviewState.QUEUED:
            return pages.waiting(preview.position or 1)
        case PreviewState.FAILED:
            return pages.failed(preview.reason, preview.log)
        case PreviewState.STOPPED | PreviewState.EXPIRED:
            return pages.ended()


async def _answer(page: pages.Page, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1013})
        return
    await send({"type": "http.response.start", "status": page.status, "headers": page.headers()})
    body = b"" if scope["method"] == "HEAD" else page.body()
    await send({"type": "http.response.body", "body": body})


def _name_of(host: str) -> str:
    """Return a host's name without its port, in lower case."""
    return re.sub(r":\d*$", "", host.lower()).rstrip(".")
