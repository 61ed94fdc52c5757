"""Names that a pack may use: keys, paths that stay inside their folder, and a guess for a misspelt one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from pathlib import PurePosixPath

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
KEY_RULE = "letters, digits and . _ - (at most 64, a letter or digit first)"
LONGEST_PATH = 400

JUNK = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX"})
"""What operating systems leave behind; passed over wherever it lies."""


def is_key(name: object) -> bool:
    """Whether a name can be the key of a benchmark, task, criterion or candidate."""
    return isinstance(name, str) and bool(KEY.fullmatch(name)) and not name.endswith(".")


def is_junk(path: str) -> bool:
    """Whether a path leads to something that an operating system left behind."""
    return any(part in JUNK or part.startswith("._") for part in path.split("/"))


def path_problem(path: str) -> str | None:
    """Return why a relative path must not be followed, or None."""
    parts = path.split("/")
    if "\\" in path:
        return "the name holds a backslash; folders are separated by /."
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "the path is absolute; a pack holds only relative ones."
    if ".." in parts:
        return "the path leads out of the pack."
    if "" in parts or "." in parts:
        return "the path has an empty part."
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in path):
        return "the name holds a control character."
    if len(path) > LONGEST_PATH or any(len(part.encode()) > 255 for part in parts):
        return f"the path is longer than {LONGEST_PATH} characters or has a part longer than 255 bytes."
    return None


def collisions(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (path, the earlier one) where two would be one file on a disk that does not tell case apart."""
    seen: dict[str, str] = {}
    for path in sorted(paths):
        for level in (PurePosixPath(path), *PurePosixPath(path).parents):
            name = str(level)
            folded = unicodedata.normalize("NFC", name).casefold()
            earlier = seen.setdefault(folded, name)
            if earlier != name:
                yield path, earlier
                break


def expected_instead(name: str, known: Collection[str]) -> str:
    """Return the end of a sentence: a guess for a misspelt name, and all that is known."""
    close = get_close_matches(name.casefold(), known, n=1, cutoff=0.6)
    guess = f"did you mean {close[0]}? " if close else ""
    return f"{guess}Known here are {', '.join(known)}."
