"""The only ways out of a box: a forward proxy for named hosts, and a plain way to one named address."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Self
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from runs.adapters.sandboxes.doors import joined

_PORTS = {"http": 80, "https": 443}
_HEAD_SECONDS = 30.0
_CONNECT_SECONDS = 60.0
_HOP_HEADERS = frozenset(
    {"proxy-connection", "proxy-authorization", "connection", "keep-alive", "te", "upgrade"}
)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Place:
    """A host and a port of the network."""

    host: str
    port: int

    @classmethod
    def of(cls, address: str) -> Self:
        """Return where an http or https address leads; raises ValueError for anything else."""
        parts = urlsplit(address)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(f"{address!r} is no address; write it as https://host or http://host:port.")
        return cls(host=parts.hostname, port=parts.port or _PORTS[parts.scheme])

    @property
    def is_loopback(self) -> bool:
        """True where this is a port of this machine itself."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardProxy:
    """Lets connections to `allowed` through, by this machine's own proxy where it has one.

    Names are resolved out here, and only those that were allowed: this machine's loopback and its
    neighbours are out of reach unless one of them was named.
    """

    allowed: frozenset[Place]

    async def visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of a proxy's client: CONNECT, or a plain one."""
        try:
            head = await _head(reader)
            method, target, _version = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
            connects = method == "CONNECT"
            parts = urlsplit(f"//{target}" if connects else target)
            place = Place(host=(parts.hostname or "").lower(), port=parts.port or (0 if connects else 80))
        except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            await _refuse(writer, 400, "This is no request to a proxy.")
            return
        if place not in self.allowed or not (connects or parts.scheme == "http"):
            names = ", ".join(str(each) for each in sorted(self.allowed)) or "nothing"
            await _refuse(writer, 403, f"{place} is not reachable from this sandbox; reachable: {names}.")
            return
        try:
            other_reader, other_writer = await dial(place)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            await _refuse(writer, 502, f"{place} does not answer.")
            return
        if connects:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            # Whatever follows on this connection reaches the same host: it is a tunnel by now.
            other_writer.write(_origin_form(head, method, parts))
        await joined(reader, writer, other_reader, other_writer)


@dataclass(frozen=True, slots=True, kw_only=True)
class StraightWay:
    """Carries every connection to one place, as it is."""

    place: Place

    async def visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection; it is closed where the place does not answer."""
        with suppress(TimeoutError, asyncio.IncompleteReadError):
            await joined(reader, writer, *await dial(self.place))


async def dial(place: Place) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect from this machine, through the proxy of its own environment where one is set.

    Raises OSError, TimeoutError or IncompleteReadError.
    """
    async with asyncio.timeout(_CONNECT_SECONDS):
        proxy = _own_proxy(place)
        if proxy is None:
            return await asyncio.open_connection(place.host, place.port)
        secure = ssl.create_default_context() if proxy.scheme == "https" else None
        port = proxy.port or _PORTS.get(proxy.scheme, 80)
        reader, writer = await asyncio.open_connection(proxy.hostname, port, ssl=secure)
        try:
            writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{_login(proxy)}\r\n".encode())
            answer = await _head(reader)
        except BaseException:
            writer.close()
            raise
        if answer.split(b" ", 2)[1:2] != [b"200"]:
            writer.close()
            raise ConnectionRefusedError(f"The proxy of this machine refuses {place}.")
        return reader, writer


def _own_proxy(place: Place) -> SplitResult | None:
    proxies: Mapping[str, str] = getproxies_environment()
    if place.is_loopback or proxy_bypass(str(place)):
        return None
    address = proxies.get("http" if place.port == 80 else "https") or proxies.get("all")
    if not address:
        return None
    parts = urlsplit(address if "://" in address else f"http://{address}")
    return parts if parts.scheme in _PORTS and parts.hostname else None


def _login(proxy: SplitResult) -> str:
    if proxy.username is None:
        return ""
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}\r\n"


async def _head(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(_HEAD_SECONDS):
        return await reader.readuntil(b"\r\n\r\n")


def _origin_form(head: bytes, method: str, parts: SplitResult) -> bytes:
    """Return the head as the origin server wants it: its own path, and nothing meant for a proxy."""
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = head.rstrip(b"\r\n").split(b"\r\n")[1:]
    kept = [
        line
        for line in lines
        if line.partition(b":")[0].strip().lower().decode("latin-1") not in (_HOP_HEADERS | {"host"})
    ]
    host = parts.netloc.rpartition("@")[2]
    first = [f"{method} {path} HTTP/1.1".encode("latin-1"), f"Host: {host}".encode("latin-1")]
    return b"\r\n".join([*first, *kept, b"Connection: close", b"", b""])


async def _refuse(writer: asyncio.StreamWriter, status: int, sentence: str) -> None:
    words = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway"}[status]
    body = f"{sentence}\n".encode()
    writer.write(
        f"HTTP/1.1 {status} {words}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )
    with suppress(OSError):
        await writer.drain()
