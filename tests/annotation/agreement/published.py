"""Values that others published or computed, kept beside this repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[4] / "shared"


def shared(path: str) -> Path:
    """Return a file or folder beside this repository, or skip the test."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"{path} is not beside this repository (../shared)")
    return found


def oracle(name: str) -> dict[str, Any]:
    """Return one entry of the published coefficients, or skip the test."""
    document = json.loads(shared("oracles/agreement.json").read_text(encoding="utf-8"))
    return next(entry for entry in document["oracles"] if entry["id"] == name)
