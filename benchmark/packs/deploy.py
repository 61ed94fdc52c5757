"""What a task may say about how its candidates are built and served."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from benchmark.packs.names import expected_instead

FIELDS = ("kind", "install", "build", "start", "health", "root", "spa", "start_timeout", "image")
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
"""What becomes an argument of docker or podman: nothing that could be taken for an option."""

KINDS = ("static", "vite", "node", "python")


def deploy_problems(deploy: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (field, sentence) for everything in a `[deploy]` table that is not understood."""
    found: list[tuple[str, str]] = []
    for field, value in deploy.items():
        if field not in FIELDS:
            found.append((field, f"the field {field!r} is unknown; {expected_instead(field, FIELDS)}"))
        elif expected := _expected_of(field, value):
            found.append((field, f"{field} is {value!r:.60}; it takes {expected}."))
    return found


def _expected_of(field: str, value: Any) -> str | None:
    """Return what a field takes, or None where the value is that."""
    match field:
        case "kind":
            return None if value in KINDS else ", ".join(KINDS)
        case "install" | "build" | "start":
            return None if _is_command(value) else "a command line, or a list of its words"
        case "health":
            is_path = isinstance(value, str) and value.startswith("/")
            return None if is_path else "a path such as /health"
        case "root":
            is_inside = isinstance(value, str) and not value.startswith("/") and ".." not in value.split("/")
            return None if is_inside else "a folder of the candidate"
        case "image":
            return None if isinstance(value, str) and IMAGE.fullmatch(value) else "the name of an image"
        case "spa":
            return None if isinstance(value, bool) else "true or false"
        case _:
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
            return None if is_number else "a number of seconds"


def _is_command(value: Any) -> bool:
    if isinstance(value, str):
        try:
            shlex.split(value)
        except ValueError:
            return False
        return True
    return isinstance(value, list) and all(isinstance(word, str) for word in value)
