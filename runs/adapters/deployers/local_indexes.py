"""Where the pages of a package index on this disk lead: its files often lie beside it, not in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

_MOST_PAGES = 60
_MOST_CHARACTERS = 200_000


def linked_folders(index: Path) -> tuple[Path, ...]:
    """Return the folders outside an index (PEP 503), or a page of links, that its links lead to.

    `index` is a folder of one page for each package, or one page. The first pages are read: a mirror keeps
    the files of all packages in one place. A folder that holds this user's home is never among them.
    """
    found = {
        _beside(index, Path(os.path.normpath(target)))
        for page in islice(_pages(index), _MOST_PAGES)
        for target in _targets(page)
    }
    home = Path.home()
    return tuple(
        sorted(
            place
            for place in found
            if place is not None and place.is_dir() and place not in (home, *home.parents)
        )
    )


def _pages(index: Path) -> Iterator[Path]:
    if index.is_file():
        if index.suffix in (".html", ".htm"):
            yield index
        return
    if index.is_dir():
        yield from (page for folder in index.iterdir() if (page := folder / "index.html").is_file())


def _targets(page: Path) -> Iterator[str]:
    links = _Links()
    try:
        with page.open(encoding="utf-8", errors="replace") as opened:
            links.feed(opened.read(_MOST_CHARACTERS))
    except OSError:
        return
    for link in links.found:
        parts = urlsplit(urljoin(page.as_uri(), link))
        if parts.scheme == "file":
            yield unquote(parts.path)


def _beside(index: Path, target: Path) -> Path | None:
    """Return the highest folder that leads to `target` but not to the index; None where it lies inside."""
    root = index if index.is_dir() else index.parent
    if target.is_relative_to(root):
        return None
    shared = Path(os.path.commonpath([root, target]))
    # Two places that share only the root of the disk say nothing of where a mirror begins.
    return target.parent if shared == Path(shared.anchor) else shared / target.relative_to(shared).parts[0]


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]
