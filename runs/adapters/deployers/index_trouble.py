"""Tell an index of Python packages that could not be used from requirements that nobody could meet.

pip and uv say both in much the same words, and the wrong reading costs a candidate a mark.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import urlsplit

_SIGNS = re.compile(
    r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProtocolError|IncompleteRead|Max retries exceeded"
    r"|Connection (?:refused|reset|aborted)|Temporary failure in name resolution|CERTIFICATE_VERIFY_FAILED"
    r"|Tunnel connection failed: 50\d|HTTP error (?:5\d\d|429)|HTTP status server error|\(429 Too Many"
    r"|Failed to fetch|error sending request|dns error|Could not connect|operation timed out"
)
_REFUSED_BY_THE_WALL = re.compile(r"Tunnel connection failed: 403")
_RETRIED = re.compile(r"Retrying \(Retry\(|after connection broken by")
_HOST = re.compile(r"host='([^']+)'|https?://([^/\s`'\"):,]+)")
_NOTHING_KNOWN = "(from versions: none)"
_SKIPPED_PAGE = re.compile(r"Could not fetch URL (\S+): (.*?) - skipping")
_NO_SUCH_PACKAGE = re.compile(r"\b(?:404|410) Client Error")


def index_trouble(log: str, *, hosts: Collection[str], gave_up: bool = True) -> str | None:
    """Return a sentence when an install failed because an index or the way to it did not work, else None.

    `hosts` are those of the indexes; what a candidate wants from some other server is its own risk.
    `gave_up` is false for an install that was ended at its deadline: then a try that was to be repeated counts.
    """
    counts_retries = _NOTHING_KNOWN in log or not gave_up
    for line in log.splitlines():
        if not _SIGNS.search(line) or _REFUSED_BY_THE_WALL.search(line):
            continue
        if _RETRIED.search(line) and not counts_retries:
            continue
        named = {_name(first or second) for first, second in _HOST.findall(line)}
        if not named or named & set(hosts):
            return "The Python package index cannot be reached; check the network, then retry."
    return None


def says_nothing_known(log: str) -> bool:
    """True where pip found no version at all: no such package, or an index that answered with an error."""
    return _NOTHING_KNOWN in log


def page_trouble(log: str, *, hosts: Collection[str]) -> str | None:
    """Return a sentence when the log of `pip install -vv` names a page of an index that could not be had.

    That there is no such page is an answer: the package does not exist. Everything else is none.
    """
    for address, reason in _SKIPPED_PAGE.findall(log):
        if _name(urlsplit(address).netloc) in hosts and not _NO_SUCH_PACKAGE.search(reason):
            return f"The Python package index did not answer as it should ({reason[:120]}); retry later."
    return None


def _name(place: str) -> str:
    """Return the host of what stands between the slashes of an address."""
    return (urlsplit(f"//{place}").hostname or "").lower()
