"""Turn a target of the step language into Playwright locators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from playwright.async_api import FrameLocator, Locator, Page

from benchmark.rules.script_shapes import ROLE_STATES, TARGET_WAYS

type Place = Page | FrameLocator | Locator


async def located(place: Place, target: Any) -> Locator:
    """Return what matches a target now; of alternatives the first that exists, else the first."""
    choices = await _choices(place, target)
    for choice in choices[:-1]:
        if await choice.count():
            return choice
    if len(choices) == 1:
        return choices[0]
    return choices[-1] if await choices[-1].count() else choices[0]


async def the_one(place: Place, target: Any) -> Locator:
    """Return the single element that an action goes to: of several the first visible, else the first."""
    found = await located(place, target)
    visible = found.filter(visible=True)
    return visible.first if await visible.count() else found.first


async def _choices(place: Place, target: Any) -> list[Locator]:
    if isinstance(target, str):
        return [place.locator(target)]
    if frame := target.get("frame"):
        place = place.frame_locator(frame)
    if within := target.get("within"):
        place = await located(place, within)
    way = next(way for way in TARGET_WAYS if way in target)
    if way == "any":
        found = [choice for each in target["any"] for choice in await _choices(place, each)]
    else:
        found = [_by(place, way, target)]
    return [_narrowed(each, target) for each in found]


def _by(place: Place, way: str, target: Mapping[str, Any]) -> Locator:
    value = target[way]
    exact = target.get("exact")
    match way:
        case "css":
            return place.locator(value)
        case "role":
            states = {name: target[name] for name in (*ROLE_STATES, "level") if name in target}
            return place.get_by_role(cast("Any", value), name=target.get("name"), exact=exact, **states)
        case "label":
            return place.get_by_label(value, exact=exact)
        case "placeholder":
            return place.get_by_placeholder(value, exact=exact)
        case "text":
            return place.get_by_text(value, exact=exact)
        case "testid":
            return place.get_by_test_id(value)
        case "alt":
            return place.get_by_alt_text(value, exact=exact)
        case _:
            return place.get_by_title(value, exact=exact)


def _narrowed(found: Locator, target: Mapping[str, Any]) -> Locator:
    if "has_text" in target:
        found = found.filter(has_text=target["has_text"])
    if "visible" in target:
        found = found.filter(visible=target["visible"])
    if "nth" in target:
        found = found.nth(target["nth"])
    return found
