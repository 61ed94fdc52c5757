"""Perform the steps that act on an element, and remember what one shows."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator, Position
from playwright.async_api import TimeoutError as PlaywrightTimeout

from runs.adapters.judges.scripted.locating import located, the_one
from runs.adapters.judges.scripted.navigating import NAVIGATIONS
from runs.adapters.judges.scripted.nouns import capital, described, quoted, seconds
from runs.adapters.judges.scripted.reading_pages import texts_of, value_of
from runs.adapters.judges.scripted.readings import first_number
from runs.adapters.judges.scripted.troubles import ScriptProblem, StepFailed
from runs.adapters.judges.scripted.visit import Visit

type Step = Mapping[str, Any]

_POLL = 0.05


async def perform(visit: Visit, step: Step, action: str, *, limit: float) -> Any:
    """Do what a step says and return what is worth a line in the log.

    Raises StepFailed with a sentence when the candidate does not let it be done.
    """
    return await (NAVIGATIONS.get(action) or _ACTIONS[action])(visit, step, limit)


async def _click(visit: Visit, step: Step, limit: float) -> None:
    action = "click" if "click" in step else "dblclick"
    element = await _element(visit, step[action], limit)
    press = element.click if action == "click" else element.dblclick
    await press(
        timeout=limit * 1000,
        button=cast("Literal['left', 'middle', 'right']", step.get("button", "left")),
        modifiers=step.get("keys"),
        position=await _position(element, step),
    )


async def _hover(visit: Visit, step: Step, limit: float) -> None:
    element = await _element(visit, step["hover"], limit)
    await element.hover(timeout=limit * 1000, position=await _position(element, step))


async def _focus(visit: Visit, step: Step, limit: float) -> None:
    await (await _element(visit, step["focus"], limit)).focus(timeout=limit * 1000)


async def _set_checked(visit: Visit, step: Step, limit: float) -> None:
    action = "check" if "check" in step else "uncheck"
    element = await _element(visit, step[action], limit)
    wanted = action == "check"
    if await element.is_visible():
        await element.set_checked(wanted, timeout=limit * 1000)
        return
    # A styled checkbox hides the real one: its label is what a person clicks.
    if await element.is_checked(timeout=limit * 1000) != wanted:
        label = (await element.evaluate_handle("e => e.labels?.[0] || e")).as_element()
        if label is not None:
            await label.click(timeout=limit * 1000)
    if await element.is_checked(timeout=limit * 1000) != wanted:
        raise StepFailed(f"{capital(described(step[action]))} could not be {'' if wanted else 'un'}ticked.")


async def _fill(visit: Visit, step: Step, limit: float) -> None:
    await (await _element(visit, step["fill"], limit)).fill(step["value"], timeout=limit * 1000)


async def _type(visit: Visit, step: Step, limit: float) -> None:
    element = await _element(visit, step["type"], limit)
    typing = limit * 1000 + 50 * len(step["value"])
    await element.press_sequentially(step["value"], timeout=typing)


async def _press(visit: Visit, step: Step, limit: float) -> None:
    try:
        if "at" in step:
            await (await _element(visit, step["at"], limit)).press(step["press"], timeout=limit * 1000)
        else:
            await asyncio.wait_for(visit.page.keyboard.press(step["press"]), limit)
    except PlaywrightError as error:
        if "Unknown key" in error.message:
            raise ScriptProblem("script", f"The script presses an unknown key {step['press']!r}.") from None
        raise


async def _select(visit: Visit, step: Step, limit: float) -> list[str]:
    element = await _element(visit, step["select"], limit)
    choice = {name: step[name] for name in ("value", "label", "index") if name in step}
    try:
        return await element.select_option(**choice, timeout=limit * 1000)
    except PlaywrightTimeout:
        options = await texts_of(element.locator("option"))
        if not options:
            raise
        raise StepFailed(
            f"{capital(described(step['select']))} has no option {quoted(next(iter(choice.values())))}; "
            f"it offers {quoted(', '.join(options[:10]))}."
        ) from None


async def _upload(visit: Visit, step: Step, limit: float) -> None:
    files = [_upload_path(visit.uploads, name) for name in step["files"]]
    element = await _element(visit, step["upload"], limit)
    if await element.evaluate("e => e instanceof HTMLInputElement && e.type === 'file'"):
        await element.set_input_files(files, timeout=limit * 1000)
        return
    inside = element.locator("input[type=file]")
    if await inside.count():
        await inside.first.set_input_files(files, timeout=limit * 1000)
        return
    async with visit.page.expect_file_chooser(timeout=limit * 1000) as chooser:
        await element.click(timeout=limit * 1000)
    await (await chooser.value).set_files(files, timeout=limit * 1000)


def _upload_path(uploads: Path | None, name: str) -> Path:
    if uploads is not None:
        folder = uploads.resolve()
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(folder):
            return path
    raise ScriptProblem("missing_upload", f"The task has no file {name!r} to upload.")


async def _drag(visit: Visit, step: Step, limit: float) -> None:
    element = await _element(visit, step["drag"], limit)
    goal = await _element(visit, step["to"], limit)
    await element.drag_to(goal, timeout=limit * 1000, target_position=await _position(goal, step))


async def _scroll_to(visit: Visit, step: Step, limit: float) -> None:
    element = await _element(visit, step["scroll_to"], limit)
    await element.scroll_into_view_if_needed(timeout=limit * 1000)


async def _scroll_by(visit: Visit, step: Step, limit: float) -> None:
    across, down = step["scroll_by"]
    if "at" in step:
        await (await _element(visit, step["at"], limit)).hover(timeout=limit * 1000)
    await asyncio.wait_for(visit.page.mouse.wheel(across, down), limit)


async def _dialog(visit: Visit, step: Step, _limit: float) -> None:
    visit.accepts_dialogs = step["dialog"] == "accept"
    visit.dialog_text = step.get("text")


async def _set_offline(visit: Visit, step: Step, _limit: float) -> None:
    await visit.context.set_offline(step["set_offline"])


async def _remember(visit: Visit, step: Step, limit: float) -> Any:
    target, what = step["remember"], step.get("what", "text")
    if what == "count":
        reading: Any = await (await located(visit.page, target)).count()
    elif what == "texts":
        await _element(visit, target, limit)
        reading = await texts_of(await located(visit.page, target))
    else:
        reading = await _read(await _element(visit, target, limit), what, limit)
        if what == "number":
            number = first_number(reading)
            if number is None:
                raise StepFailed(
                    f"{capital(described(target))} shows {quoted(reading)}, which holds no number."
                )
            reading = number
    visit.remembered[step["as"]] = reading
    return reading


async def _read(element: Locator, what: Any, limit: float) -> Any:
    if isinstance(what, Mapping):
        return await element.get_attribute(what["attribute"], timeout=limit * 1000)
    if what == "value":
        return await value_of(element)
    if what == "screenshot":
        return await picture_of(element, limit=limit)
    return (await texts_of(element))[0]


async def picture_of(element: Locator, *, limit: float) -> str:
    """Return a fingerprint of what an element looks like."""
    picture = await element.screenshot(animations="disabled", timeout=limit * 1000)
    return hashlib.sha256(picture).hexdigest()


async def _element(visit: Visit, target: Any, limit: float) -> Locator:
    """Return the one element that a step goes to; raises StepFailed when none comes in time."""
    deadline = visit.pulse.deadline(limit)
    while True:
        element = await the_one(visit.page, target)
        if await element.count():
            visit.touched = element
            return element
        if deadline.is_over():
            raise StepFailed(f"Could not find {described(target)} within {seconds(limit)}.")
        await asyncio.sleep(_POLL)


async def _position(element: Locator, step: Step) -> Position | None:
    if "position" not in step:
        return None
    box = await element.bounding_box()
    if box is None:
        return None
    across, down = step["position"]
    return {
        "x": min(max(across * box["width"], 0.5), max(box["width"] - 0.5, 0)),
        "y": min(max(down * box["height"], 0.5), max(box["height"] - 0.5, 0)),
    }


_ACTIONS: Mapping[str, Callable[[Visit, Step, float], Awaitable[Any]]] = {
    "click": _click,
    "dblclick": _click,
    "hover": _hover,
    "focus": _focus,
    "check": _set_checked,
    "uncheck": _set_checked,
    "fill": _fill,
    "type": _type,
    "press": _press,
    "select": _select,
    "upload": _upload,
    "drag": _drag,
    "scroll_to": _scroll_to,
    "scroll_by": _scroll_by,
    "dialog": _dialog,
    "set_offline": _set_offline,
    "remember": _remember,
}
