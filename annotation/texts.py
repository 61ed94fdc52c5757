"""What a browser sent, made fit for the database: text, JSON and keys of rows."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # NUL, and halves of a surrogate pair


def storable(text: str) -> str:
    """Return the text with what no database takes replaced by the sign for a lost character."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def storable_json(value: Any, *, depth: int = 20) -> Any:
    """Return a JSON value that can be stored; numbers that are none, and what lies too deep, become None."""
    if depth == 0 or (isinstance(value, float) and not isfinite(value)):
        return None
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [storable_json(each, depth=depth - 1) for each in value]
    if isinstance(value, dict):
        return {storable(str(key)): storable_json(each, depth=depth - 1) for key, each in value.items()}
    return value


def row_key(text: str) -> int:
    """Return the key of a row that an address or a form names; 0, which no row has, where it names none."""
    # No database counts as far as longer numbers, and Python refuses to read very long ones.
    return int(text) if text.isdecimal() and len(text) < 16 else 0
