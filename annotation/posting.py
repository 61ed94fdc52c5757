"""Post a message to an address that somebody typed: never inside our own network, never further on."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import SplitResult, quote, urlsplit

NAT64 = ipaddress.ip_network("64:ff9b::/96")
PORTS = {"http": 80, "https": 443}
_WRITTEN_AS_IT_IS = "%/:=&?~+!$,;'@()*[]"


class PostFailed(Exception):
    """The message was not taken; the message says why. `may_repeat` is False where nothing can change it."""

    def __init__(self, sentence: str, *, may_repeat: bool = True) -> None:
        super().__init__(sentence)
        self.may_repeat = may_repeat


def post(url: str, body: bytes, *, headers: Mapping[str, str], to_private: bool, seconds: float) -> None:
    """Post `body` and return once it was taken (2xx). Raises PostFailed.

    The name is resolved once and the address that was looked at is the one that is connected to. A
    redirect is an answer like any other: it could lead where we would not have gone.
    """
    parts = _checked(url)
    address = _address(parts, to_private=to_private)
    deadline = _Deadline(seconds=seconds)
    try:
        status = _status(parts, address, body, headers=headers, deadline=deadline)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if deadline.is_over or isinstance(error, TimeoutError):
            raise PostFailed(f"{parts.netloc} did not answer within {seconds:g} s.") from None
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise PostFailed(f"{parts.netloc} cannot be reached: {reason}.") from None
    finally:
        deadline.end()
    if deadline.is_over:
        # What was cut in the middle of a line may look like the whole of a short one.
        raise PostFailed(f"{parts.netloc} did not answer within {seconds:g} s.")
    if 300 <= status < 400:
        raise PostFailed(f"{parts.netloc} answered with a redirect ({status}), which is not followed.")
    if not 200 <= status < 300:
        raise PostFailed(f"{parts.netloc} answered HTTP {status}.")


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address leads out of this machine and of every private network, whatever it is wrapped in."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


@dataclass(slots=True, kw_only=True)
class _Deadline:
    """Cuts the connection when the time is over: a server that sends a byte now and then gets no more."""

    seconds: float
    is_over: bool = False
    connection: socket.socket | None = None
    _began: float = field(default_factory=time.monotonic)
    _timer: threading.Timer | None = None

    @property
    def left(self) -> float:
        return max(self.seconds - (time.monotonic() - self._began), 0.01)

    def watch(self, connection: socket.socket) -> None:
        self.connection = connection
        if self._timer is None:
            self._timer = threading.Timer(self.left, self._cut)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self.connection is not None:
            self.connection.close()

    def _cut(self) -> None:
        self.is_over = True
        if self.connection is not None:
            with suppress(OSError):
                # Not through TLS, which would wait for the other side.
                socket.socket.shutdown(self.connection, socket.SHUT_RDWR)


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise PostFailed(f"{url[:80]!r} is not an address.", may_repeat=False) from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise PostFailed(f"{url[:80]!r} must begin with https:// or http://.", may_repeat=False)
    if "@" in parts.netloc:
        raise PostFailed(
            "The address holds a user name; leave it out, the signature says who sends.", may_repeat=False
        )
    return parts


def _address(parts: SplitResult, *, to_private: bool) -> tuple[str, int]:
    assert parts.hostname is not None
    port = parts.port or PORTS[parts.scheme]
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise PostFailed(f"The name {parts.hostname!r} is not known.") from None
    addresses = [str(entry[4][0]) for entry in found]
    for text in addresses:
        if not to_private and not is_public(ipaddress.ip_address(text.partition("%")[0])):
            raise PostFailed(
                f"{parts.hostname} is {text}, an address inside a private network; messages go there only "
                "with PROOFROOM_WEBHOOKS_TO_PRIVATE=True.",
                may_repeat=False,
            )
    return addresses[0], port


def _status(
    parts: SplitResult,
    address: tuple[str, int],
    body: bytes,
    *,
    headers: Mapping[str, str],
    deadline: _Deadline,
) -> int:
    assert parts.hostname is not None
    plain = socket.create_connection(address, timeout=deadline.left)
    deadline.watch(plain)
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        secured = context.wrap_socket(plain, server_hostname=parts.hostname, do_handshake_on_connect=False)
        deadline.watch(secured)
        secured.do_handshake()
        connection = http.client.HTTPSConnection(parts.hostname, address[1], context=context)
        connection.sock = secured
    else:
        connection = http.client.HTTPConnection(parts.hostname, address[1])
        connection.sock = plain
    target = quote(parts.path or "/", safe=_WRITTEN_AS_IT_IS)
    if parts.query:
        target += f"?{quote(parts.query, safe=_WRITTEN_AS_IT_IS)}"
    connection.request("POST", target, body=body, headers=dict(headers))
    return connection.getresponse().status
