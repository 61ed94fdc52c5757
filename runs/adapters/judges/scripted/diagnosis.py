"""Say in plain words why an action did not succeed in time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from playwright.async_api import Error as PlaywrightError

from runs.adapters.judges.scripted.nouns import described, seconds
from runs.adapters.judges.scripted.visit import Visit
from runs.adapters.judges.scripted.words import step_words

_OBSTACLES = (
    ("intercepts pointer events", "something else covers it"),
    ("element is not visible", "it is not visible"),
    ("element is not enabled", "it is disabled"),
    ("element is disabled", "it is disabled"),
    ("element is not editable", "it cannot be edited"),
    ("element is not stable", "it does not stop moving"),
    ("outside of the viewport", "it lies outside of the window"),
    ("element was detached", "it is replaced again and again"),
)


async def blamed(
    visit: Visit, step: Mapping[str, Any], action: str, error: PlaywrightError, *, limit: float
) -> str:
    """Return a sentence about an action that timed out, from what Playwright waited for at last."""
    target = step.get("at") if action == "press" else step[action]
    if isinstance(target, str | Mapping) and visit.touched is not None:
        for sign, words in sorted(_OBSTACLES, key=lambda each: error.message.rfind(each[0]), reverse=True):
            if sign in error.message:
                return f"Could not {step_words(step, action)}: {words}{_cover(error.message, sign)}."
        return f"Could not {step_words(step, action)} within {seconds(limit)}."
    if isinstance(target, str | Mapping) and action not in {"press", "dialog"}:
        return f"Could not find {described(target)} within {seconds(limit)}."
    return f"Could not {step_words(step, action)} within {seconds(limit)}."


def _cover(message: str, sign: str) -> str:
    if sign != "intercepts pointer events":
        return ""
    found = re.findall(r"<(\w+)[^>]*>([^<\n]{0,60})[^\n]* intercepts pointer events", message)
    if not found:
        return ""
    text = " ".join(found[-1][1].replace("\u2026", "").split())
    return f' ("{text}")' if text else ""
