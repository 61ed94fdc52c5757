"""The judges: one module or package each, found by looking, registered nowhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from runs.adapters.browser_places import BrowserPlaces
from runs.adapters.kinds import Kind, kinds_in
from runs.adapters.sandboxes import Sandbox
from runs.ports import Judge

FAMILY = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeKit:
    """What the toolbox hands to whichever judge is built. `chromium` is empty to have it looked for.

    `places` limits the browsers of the machine; without it there is no limit.
    """

    sandbox: Sandbox
    scratch: Path
    chromium: str = ""
    places: BrowserPlaces | None = None


@cache
def all_judges() -> Mapping[str, Kind[JudgeKit, Judge]]:
    """Return every kind of judge by name."""
    return kinds_in(sys.modules[__name__], family=FAMILY)


def judge(name: str) -> Kind[JudgeKit, Judge]:
    """Return the kind of that name; raises LookupError that names the known ones."""
    try:
        return all_judges()[name]
    except KeyError:
        raise LookupError(f"Unknown judge {name!r}; known are: {', '.join(all_judges())}.") from None
