"""Text and JSON that a browser sent, made storable: no NUL, no half of a surrogate pair."""

from __future__ import annotations

import re
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Return the text with what no database takes replaced by the sign for a lost character."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def clean_json(value: Any) -> Any:
    """Return a JSON value whose strings and keys can be stored; numbers that are none become None."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and value - value != 0:
        return None
    if isinstance(value, list):
        return [clean_json(each) for each in value]
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(each) for key, each in value.items()}
    return value
