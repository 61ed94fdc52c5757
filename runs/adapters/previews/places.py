"""Take the folders of this machine out of what an application and its build have written."""

from __future__ import annotations

import re

# Folders of `own_folder`: what it is for, the machine, the process, a random word.
_PLACE = re.compile(r"/(?:deploy|preview)-[0-9a-f]{8}-\d{1,10}-\w{1,20}(?:/app)?(?!\w)")
_ENDS_A_PATH = re.compile(r"[\s\"'`<>|;,()=]")
_LONGEST_PATH = 1000


def without_places(text: str) -> str:
    """Return a log in which the application lies in `/workspace`, wherever it really was."""
    parts: list[str] = []
    done = 0
    for place in _PLACE.finditer(text):
        parts += [text[done : _start_of_path(text, done, place.start())], "/workspace"]
        done = place.end()
    return "".join([*parts, text[done:]])


def _start_of_path(text: str, low: int, high: int) -> int:
    """Where the path begins that goes on at `high`: no pattern with `*` here, a log may be hostile."""
    low = max(low, high - _LONGEST_PATH)
    ends = [end.end() for end in _ENDS_A_PATH.finditer(text, low, high)]
    start = ends[-1] if ends else low
    # What precedes the first slash is a label: `file:///…`, `at:/…`.
    slash = text.find("/", start, high)
    return high if slash < 0 else slash
