"""Cookies that a preview's own scripts set for the whole parent domain: not read, and expired where they can be.

A header is mended on its way, a script is not: `document.cookie` of one preview may set cookies for the
site and for every other preview, also so many that requests become too large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runs.adapters.previews.headers import Headers

_MOST_BYTES = 48_000
_DEEPEST = 6
# A browser takes these from nobody but the host itself, so they are the site's own.
_OWN = b"__host-"


def without_foreign(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return a site request's headers with the site's own cookies alone."""
    kept: Headers = []
    for name, value in headers:
        if name.lower() == b"cookie":
            value = b"; ".join(pair for pair in _pairs(value) if pair.lower().startswith(_OWN))
            if not value:
                continue
        kept.append((name, value))
    return kept


def expiry(headers: Iterable[tuple[bytes, bytes]], *, path: str, parent: bytes) -> Headers:
    """Return response headers that take the parent domain's cookies out of the browser.

    Cookies of a single host stay, whatever their names are. What is too much for one response is left
    for the next.
    """
    pairs = [pair for name, value in headers if name.lower() == b"cookie" for pair in _pairs(value)]
    foreign = dict.fromkeys(_name(pair) for pair in pairs if not pair.lower().startswith(_OWN))
    found: Headers = []
    size = 0
    for place in _places(path):
        for name in foreign:
            for extra in (b"", b"; Partitioned"):
                value = b"%s; Domain=%s; Path=%s; Max-Age=0; Secure%s" % (name, parent, place, extra)
                size += len(value) + 14
                if size > _MOST_BYTES:
                    return found
                found.append((b"set-cookie", value))
    return found


def _pairs(value: bytes) -> list[bytes]:
    return [pair.strip() for pair in value.split(b";") if pair.strip()]


def _name(pair: bytes) -> bytes:
    """Return `name=` as a cookie is set; a cookie without a name keeps a value, or it would be nothing."""
    name, equals, _ = pair.partition(b"=")
    return name.strip() + b"=" if equals and name.strip() else b"x"


def _places(path: str) -> Iterator[bytes]:
    """Yield every path for which a cookie may have been set that came with a request for `path`."""
    yield b"/"
    walked = ""
    for part in path.split("/")[1 : _DEEPEST + 1]:
        if not part:
            continue
        walked += f"/{part}"
        place = walked.encode("utf-8", "replace")
        # A semicolon would end the attribute.
        if b";" in place or not place.isascii() or not place.decode().isprintable():
            return
        yield place
        yield place + b"/"
