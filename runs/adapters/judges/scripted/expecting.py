"""Check the expectations of a script: read, compare, and try again until it holds or time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator

from runs.adapters.judges.scripted.acting import picture_of
from runs.adapters.judges.scripted.comparing import (
    count_shortfall,
    number_shortfall,
    sameness_shortfall,
    texts_shortfall,
    wording_shortfall,
)
from runs.adapters.judges.scripted.expecting_pages import PAGE_CHECKS
from runs.adapters.judges.scripted.locating import located
from runs.adapters.judges.scripted.looking import Check, Reading, Step, finder, missing, seen_element
from runs.adapters.judges.scripted.nouns import described, quoted
from runs.adapters.judges.scripted.reading_pages import style_of, texts_of, value_of
from runs.adapters.judges.scripted.readings import cleaned, first_number
from runs.adapters.judges.scripted.troubles import ScriptProblem, StepFailed
from runs.adapters.judges.scripted.visit import Visit

_PAUSES = (0.03, 0.06, 0.1, 0.15, 0.2)
_ON_ITS_WAY = ("Execution context was destroyed", "navigat", "detached", "not attached", "not an element")


async def expect(visit: Visit, step: Step, action: str, *, limit: float) -> Any:
    """Wait until an expectation holds and return what was read; StepFailed says what was seen instead."""
    check = _CHECKS[action]
    reading = Reading()
    deadline = visit.pulse.deadline(limit)
    pauses = iter(_PAUSES)
    while True:
        try:
            shortfall = await check(visit, step, reading)
        except KeyError as error:
            raise ScriptProblem("script", f"Nothing was remembered as {error.args[0]!r}.") from None
        except TypeError as error:
            raise ScriptProblem("script", str(error)) from None
        except PlaywrightError as error:
            if visit.page.is_closed() or not any(sign in error.message for sign in _ON_ITS_WAY):
                raise
            shortfall = "The page did not come to rest."
        if shortfall is None:
            return reading.value
        if deadline.is_over() or action in _AT_ONCE:
            raise StepFailed(shortfall, reading=reading.value)
        await asyncio.sleep(next(pauses, _PAUSES[-1]))


def holds_before_anything_happens(step: Step, action: str) -> bool:
    """Tell whether an expectation also holds when the page has not yet reacted to what was done last.

    Nothing to see, nothing new and nothing more are true at once, whatever comes a moment later.
    """
    return action in _ABSENCES or bool(_STAYING & set(step)) or step.get("is") in (0, False)


async def _visible(visit: Visit, step: Step, _reading: Reading) -> str | None:
    target = step["expect_visible"]
    element = await seen_element(visit, target)
    if element is None:
        return f"Expected to see {described(target)}, but it is not there."
    return None if await element.is_visible() else f"Expected to see {described(target)}, but it is hidden."


async def _hidden(visit: Visit, step: Step, _reading: Reading) -> str | None:
    target = step["expect_hidden"]
    found = (await located(visit.page, target)).filter(visible=True)
    if not await found.count():
        return None
    visit.touched = found.first
    return f"Expected not to see {described(target)}, but it is there."


def _state(action: str, question: Callable[[Locator], Awaitable[bool]], words: str) -> Check:
    async def check(visit: Visit, step: Step, reading: Reading) -> str | None:
        element = await seen_element(visit, step[action])
        if element is None:
            return missing(step[action])
        wanted = step.get("is", True)
        reading.value = await question(element)
        if reading.value == wanted:
            return None
        name = described(step[action])
        if wanted:
            return f"Expected {name} to be {words}, but it is not."
        return f"Expected {name} not to be {words}, but it is."

    return check


async def _is_focused(element: Locator) -> bool:
    return bool(await element.evaluate("e => e.matches(':focus')"))


def _worded(action: str, read: Callable[[Locator, Step], Awaitable[str | None]], thing: str = "{}") -> Check:
    async def check(visit: Visit, step: Step, reading: Reading) -> str | None:
        element = await seen_element(visit, step[action])
        if element is None:
            return missing(step[action])
        seen = await read(element, step)
        reading.value = seen
        name = thing.format(
            described(step[action]),
            name=quoted(step.get("name", "")),
            property=quoted(step.get("property", "")),
        )
        if seen is None and not {"same_as", "differs_from"} & set(step):
            return f"Expected {name}, but there is none."
        wrong = await wording_shortfall(name, seen or "", step, found=finder(visit))
        return wrong or sameness_shortfall(name, seen, step, visit.remembered)

    return check


async def _read_text(element: Locator, _step: Step) -> str | None:
    texts = await texts_of(element)
    return texts[0] if texts else ""


async def _read_value(element: Locator, _step: Step) -> str | None:
    return await value_of(element)


async def _read_attribute(element: Locator, step: Step) -> str | None:
    value = await element.get_attribute(step["name"])
    return None if value is None else cleaned(value)


async def _read_style(element: Locator, step: Step) -> str | None:
    return await style_of(element, step["property"])


async def _texts(visit: Visit, step: Step, reading: Reading) -> str | None:
    target = step["expect_texts"]
    found = await located(visit.page, target)
    reading.value = await texts_of(found)
    if reading.value:
        visit.touched = found.first
    wrong = await texts_shortfall(target, reading.value, step, found=finder(visit))
    return wrong or sameness_shortfall(
        f"the texts of {described(target)}", reading.value, step, visit.remembered
    )


async def _count(visit: Visit, step: Step, reading: Reading) -> str | None:
    target = step["expect_count"]
    found = await located(visit.page, target)
    reading.value = await found.count()
    if reading.value:
        visit.touched = found.first
    return count_shortfall(target, reading.value, step, visit.remembered)


async def _number(visit: Visit, step: Step, reading: Reading) -> str | None:
    target = step["expect_number"]
    element = await seen_element(visit, target)
    if element is None:
        return missing(target)
    text = (await texts_of(element) or [""])[0]
    reading.value = first_number(text)
    if reading.value is None:
        return f"Expected {described(target)} to hold a number, saw {quoted(text)}."
    return number_shortfall(described(target), reading.value, step, visit.remembered)


async def _screenshot(visit: Visit, step: Step, reading: Reading) -> str | None:
    target = step["expect_screenshot"]
    element = await seen_element(visit, target)
    if element is None:
        return missing(target)
    reading.value = await picture_of(element, limit=visit.settings.step_timeout)
    if "same_as" in step and reading.value != visit.remembered[step["same_as"]]:
        return f"Expected {described(target)} to look as before, but it looks different."
    if "differs_from" in step and reading.value == visit.remembered[step["differs_from"]]:
        return f"Expected {described(target)} to look different, but it looks as before."
    return None


_AT_ONCE = {"expect_no_console_error", "expect_no_dialog"}
_ABSENCES = {"expect_hidden", *_AT_ONCE}
_STAYING = {"same_as", "lacks", "at_most"}
_CHECKS: Mapping[str, Check] = {
    **PAGE_CHECKS,
    "expect_visible": _visible,
    "expect_hidden": _hidden,
    "expect_enabled": _state("expect_enabled", Locator.is_enabled, "enabled"),
    "expect_disabled": _state("expect_disabled", Locator.is_disabled, "disabled"),
    "expect_checked": _state("expect_checked", Locator.is_checked, "ticked"),
    "expect_focused": _state("expect_focused", _is_focused, "focused"),
    "expect_text": _worded("expect_text", _read_text),
    "expect_texts": _texts,
    "expect_count": _count,
    "expect_number": _number,
    "expect_value": _worded("expect_value", _read_value, "the value of {}"),
    "expect_attribute": _worded("expect_attribute", _read_attribute, "the attribute {name} of {}"),
    "expect_style": _worded("expect_style", _read_style, "the style {property} of {}"),
    "expect_screenshot": _screenshot,
}
