"""Which headers pass between a visitor's browser and a previewed application, and how they change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

type Headers = list[tuple[bytes, bytes]]

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"trailers",
        b"transfer-encoding",
        b"upgrade",
    }
)
_NOT_FORWARDED = _HOP_BY_HOP | {
    b"host",
    b"forwarded",
    b"via",
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-port",
    b"x-forwarded-proto",
    b"x-real-ip",
}
_NOT_RETURNED = _HOP_BY_HOP | {
    b"x-frame-options",  # the annotator sees the application in a frame
    b"clear-site-data",  # would end the visitor's session with the site
    b"alt-svc",  # would lead the browser past the proxy
    b"strict-transport-security",  # would spoil a plain-http host for good
    b"origin-agent-cluster",
}
_SITE_COOKIES = (b"__host-", b"__secure-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The origin a visitor sees, and the one the application believes to have."""

    public_host: bytes
    port: int

    @property
    def inner_host(self) -> bytes:
        """The application's own host: it never learns the random name of the preview."""
        return b"127.0.0.1:%d" % self.port

    @property
    def inner_origin(self) -> bytes:
        """The application's own origin."""
        return b"http://" + self.inner_host


def to_application(headers: Iterable[tuple[bytes, bytes]], places: Places) -> Headers:
    """Return the request headers for the application: without our cookies, hosts and hops."""
    given = [(name.lower(), value) for name, value in headers]
    dropped = _NOT_FORWARDED | _named_by_connection(given)
    if any(name == b"transfer-encoding" for name, _ in given):
        # The body came in chunks: a length beside them is void, and smuggles where it is believed.
        dropped |= {b"content-length"}
    passed: Headers = [(b"host", places.inner_host)]
    for name, value in given:
        if name in dropped:
            continue
        if name == b"cookie":
            value = _own_cookies(value)
            if not value:
                continue
        elif name in (b"origin", b"referer"):
            value = _inward(value, places)
        passed.append((name, value))
    return passed


def to_visitor(headers: Iterable[tuple[bytes, bytes]], places: Places) -> Headers:
    """Return the response headers for the browser, so that it may frame the page and nothing leaks."""
    given = [(name.lower(), value) for name, value in headers]
    dropped = _NOT_RETURNED | _named_by_connection(given)
    passed: Headers = []
    for name, value in given:
        if name in dropped:
            continue
        if name in (b"content-security-policy", b"content-security-policy-report-only"):
            value = _without_frame_ancestors(value)
            if not value:
                continue
        elif name == b"set-cookie":
            value = _without_domain(value)
        elif name in (b"location", b"content-location"):
            value = _outward(value, places)
        passed.append((name, value))
    # A busy preview would otherwise stop the timers of the site's own page (one process, same site).
    passed.append((b"origin-agent-cluster", b"?1"))
    if not any(name == b"referrer-policy" for name, _ in passed):
        # The preview's name is its key: other sites must not read it from a Referer.
        passed.append((b"referrer-policy", b"same-origin"))
    return passed


def _named_by_connection(headers: Headers) -> frozenset[bytes]:
    return frozenset(
        word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")
    )


def _own_cookies(value: bytes) -> bytes:
    pairs = [pair.strip() for pair in value.split(b";")]
    return b"; ".join(pair for pair in pairs if pair and not pair.lower().startswith(_SITE_COOKIES))


def _inward(value: bytes, places: Places) -> bytes:
    """Return an address of the preview as the application's own; any other as it is."""
    for scheme in (b"http://", b"https://"):
        origin = scheme + places.public_host
        if value == origin or value.startswith(origin + b"/"):
            return places.inner_origin + value[len(origin) :]
    return value


def _outward(value: bytes, places: Places) -> bytes:
    """Return an address of the application as a path, which the browser completes; any other as it is."""
    for host in (places.inner_host, b"localhost:%d" % places.port, b"[::1]:%d" % places.port):
        origin = b"http://" + host
        if value == origin:
            return b"/"
        if value.startswith((origin + b"/", origin + b"?")):
            rest = value[len(origin) :]
            # A path of two slashes would name another host.
            return b"/" + rest.lstrip(b"/") if rest.startswith(b"/") else b"/" + rest
    return value


def _without_frame_ancestors(value: bytes) -> bytes:
    policies = []
    for policy in value.split(b","):
        directives = [directive.strip() for directive in policy.split(b";")]
        kept = [
            directive
            for directive in directives
            if directive and directive.split(None, 1)[0].lower() != b"frame-ancestors"
        ]
        if kept:
            policies.append(b"; ".join(kept))
    return b", ".join(policies)


def _without_domain(value: bytes) -> bytes:
    """Return a cookie for the preview's host alone: with a Domain it would reach its neighbours."""
    first, *attributes = value.split(b";")
    kept = [
        attribute for attribute in attributes if attribute.partition(b"=")[0].strip().lower() != b"domain"
    ]
    return b";".join([first, *kept])
