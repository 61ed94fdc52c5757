"""What every expectation is made of: a reading, the element looked at, and a pattern matcher."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from playwright.async_api import Locator

from runs.adapters.judges.scripted.locating import the_one
from runs.adapters.judges.scripted.nouns import described
from runs.adapters.judges.scripted.visit import Visit

type Step = Mapping[str, Any]


class Reading:
    """What was read last, for the action log."""

    def __init__(self) -> None:
        self.value: Any = None


async def seen_element(visit: Visit, target: Any) -> Locator | None:
    """Return the element that an expectation looks at, None where there is none."""
    element = await the_one(visit.page, target)
    if not await element.count():
        return None
    visit.touched = element
    return element


def missing(target: Any) -> str:
    """Return the sentence for a target that is not there."""
    return f"Could not find {described(target)}."


def finder(visit: Visit) -> Callable[[str, str, bool], Awaitable[bool]]:
    """Return how patterns are looked for during a visit."""

    async def found(pattern: str, text: str, ignore_case: bool) -> bool:  # noqa: FBT001  # one private caller
        return await visit.matcher.found(pattern, text, flags=re.IGNORECASE if ignore_case else 0)

    return found


type Check = Callable[[Visit, Step, Reading], Awaitable[str | None]]
"""Looks once and returns what is wrong as a sentence, None when the expectation holds."""
