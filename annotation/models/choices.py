"""Turn a closed list of words into the choices of a field."""

from __future__ import annotations

from enum import StrEnum


def choices(words: type[StrEnum]) -> list[tuple[str, str]]:
    """Return each value with its words."""
    return [(word.value, word.value.replace("_", " ")) for word in words]
