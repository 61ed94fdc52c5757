"""Where published sets lie, and how a bench gets the candidates that were written for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runs.adapters.browsers import find_chromium

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
FIXTURES = ROOT / "tests" / "fixtures"


def published(name: str) -> Path:
    """A file of a published set, which is not part of this repository."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the published file {name} is not beside this repository (../shared)")
    return path


def need_chromium() -> None:
    """Skip where no browser is installed."""
    found = find_chromium(os.environ.get("PROOFROOM_CHROMIUM", ""), environment=os.environ)
    if found.path is None:
        pytest.skip(f"no Chromium: {found.problem}")
