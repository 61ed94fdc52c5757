"""Check what is expected of the page as a whole: address, title, console, dialogs, downloads, layout."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from runs.adapters.judges.scripted.comparing import wording_shortfall
from runs.adapters.judges.scripted.evidence import rounded
from runs.adapters.judges.scripted.locating import the_one
from runs.adapters.judges.scripted.looking import Check, Reading, Step, finder, missing, seen_element
from runs.adapters.judges.scripted.nouns import described, quoted
from runs.adapters.judges.scripted.reading_pages import page_widths
from runs.adapters.judges.scripted.readings import cleaned
from runs.adapters.judges.scripted.visit import Visit

_MOST_DOWNLOADED = 2_000_000


async def _url(visit: Visit, step: Step, reading: Reading) -> str | None:
    reading.value = cleaned(visit.page.url.removeprefix(visit.fence.origin))[:2000]
    return await wording_shortfall("the address", reading.value, step["expect_url"], found=finder(visit))


async def _title(visit: Visit, step: Step, reading: Reading) -> str | None:
    reading.value = cleaned(await visit.page.title())[:2000]
    return await wording_shortfall(
        "the page's title", reading.value, step["expect_title"], found=finder(visit)
    )


async def _no_console_error(visit: Visit, _step: Step, reading: Reading) -> str | None:
    reading.value = len(visit.logs.errors)
    if not visit.logs.errors:
        return None
    more = f" and {reading.value - 1} more" if reading.value > 1 else ""
    return f"Expected no error on the console, saw {quoted(visit.logs.errors[0])}{more}."


async def _no_overflow(visit: Visit, _step: Step, reading: Reading) -> str | None:
    page_width, window_width = await page_widths(visit.page)
    reading.value = page_width
    if page_width <= window_width + 1:
        return None
    return (
        f"Expected the page to fit the window of {window_width} pixels, but it is {page_width} pixels wide."
    )


async def _dialog(visit: Visit, step: Step, reading: Reading) -> str | None:
    unread = visit.dialogs[visit.dialogs_read :]
    if not unread:
        return "Expected a dialog, but none opened."
    wrong: str | None = None
    for position, dialog in enumerate(unread, start=1):
        wrong = await wording_shortfall(
            "the dialog", dialog.message, step["expect_dialog"], found=finder(visit)
        )
        if wrong is None:
            reading.value = dialog.message
            visit.dialogs_read += position
            return None
    return wrong


async def _no_dialog(visit: Visit, _step: Step, reading: Reading) -> str | None:
    unread = visit.dialogs[visit.dialogs_read :]
    reading.value = len(unread)
    return f"Expected no dialog, but one opened: {quoted(unread[0].message)}." if unread else None


async def _download(visit: Visit, step: Step, reading: Reading) -> str | None:
    wanted = step["expect_download"]
    if not visit.downloads:
        return "Expected a download, but there was none."
    wrong: str | None = None
    for download in visit.downloads:
        name = cleaned(download.suggested_filename)
        reading.value = name
        if "name_matches" in wanted and not await visit.matcher.found(wanted["name_matches"], name):
            wrong = f"Expected a download under another name, saw {quoted(name)}."
            continue
        content = None
        with suppress(TimeoutError):
            path = await asyncio.wait_for(download.path(), visit.settings.step_timeout)
            content = await asyncio.to_thread(_beginning, path)
        if content is None:
            wrong = f"The download {quoted(name)} did not end."
            continue
        texts = [*wanted.get("contains_all", ()), *([wanted["contains"]] if "contains" in wanted else [])]
        lacking = next((text for text in texts if text not in content), None)
        if lacking is None:
            return None
        wrong = f"Expected the download {quoted(name)} to contain {quoted(lacking)}, but it does not."
    return wrong


def _beginning(path: Any) -> str:
    with open(path, "rb") as file:  # noqa: PTH123  # Playwright types it as a path, older ones as text
        return file.read(_MOST_DOWNLOADED).decode(errors="replace")


async def _inside_viewport(visit: Visit, step: Step, reading: Reading) -> str | None:
    target = step["expect_inside_viewport"]
    element = await seen_element(visit, target)
    box = await element.bounding_box() if element is not None else None
    if box is None:
        return missing(target)
    reading.value = rounded(box)
    width, height = await visit.page.evaluate("[innerWidth, innerHeight]")
    beyond = {
        "left": box["x"] < -1,
        "right": box["x"] + box["width"] > width + 1,
        "upper": box["y"] < -1,
        "lower": box["y"] + box["height"] > height + 1,
    }
    edges = [edge for edge, is_beyond in beyond.items() if is_beyond]
    if not edges:
        return None
    sides = " and the ".join(edges)
    return f"Expected {described(target)} inside the window, but it reaches beyond the {sides} edge."


async def _placed(visit: Visit, step: Step, _reading: Reading) -> str | None:
    target = step["expect_placed"]
    element = await seen_element(visit, target)
    box = await element.bounding_box() if element is not None else None
    if box is None:
        return missing(target)
    for side, start, size, is_before in (
        ("above", "y", "height", True),
        ("below", "y", "height", False),
        ("left_of", "x", "width", True),
        ("right_of", "x", "width", False),
    ):
        if side not in step:
            continue
        other = await (await the_one(visit.page, step[side])).bounding_box()
        if other is None:
            return missing(step[side])
        first, second = (rounded(box), rounded(other)) if is_before else (rounded(other), rounded(box))
        if first[start] + first[size] > second[start] + 1:
            words = side.replace("_", " ")
            return f"Expected {described(target)} {words} {described(step[side])}, but it is not."
    return None


PAGE_CHECKS: Mapping[str, Check] = {
    "expect_url": _url,
    "expect_title": _title,
    "expect_no_console_error": _no_console_error,
    "expect_no_overflow": _no_overflow,
    "expect_dialog": _dialog,
    "expect_no_dialog": _no_dialog,
    "expect_download": _download,
    "expect_inside_viewport": _inside_viewport,
    "expect_placed": _placed,
}
