"""Read texts, values and styles of elements in one question to the page, bounded there already."""

from __future__ import annotations

from typing import Any, cast

from playwright.async_api import Locator, Page

from runs.adapters.judges.scripted.readings import LONGEST_READING, cleaned, plain

MOST_ELEMENTS = 2_000

# Plain loops: a page may have replaced what a prototype offers.
_TEXTS = """(elements, [most, longest]) => {
  const texts = [];
  for (let i = 0; i < elements.length && i < most; i++) {
    const e = elements[i];
    let text = e.innerText;
    if (text === undefined) text = e.textContent || "";
    if (e.tagName === "OPTION") text = e.textContent || "";
    if (e.tagName === "SELECT") text = e.selectedOptions[0] ? e.selectedOptions[0].textContent : "";
    if (e.tagName === "INPUT" || e.tagName === "TEXTAREA") text = e.value;
    texts.push(String(text).slice(0, longest));
  }
  return texts;
}"""

_VALUE = """(e, longest) => {
  const value = "value" in e ? e.value : e.isContentEditable ? e.innerText : "";
  return String(value).slice(0, longest);
}"""

_OVERFLOW = """() => {
  const root = document.scrollingElement || document.documentElement;
  return [root.scrollWidth, document.documentElement.clientWidth];
}"""


async def texts_of(elements: Locator) -> list[str]:
    """Return the visible text of each element, white space folded; of a field its value."""
    raw = cast("list[Any]", await elements.evaluate_all(_TEXTS, [MOST_ELEMENTS, LONGEST_READING]))
    return [plain(str(text)) for text in raw]


async def value_of(element: Locator) -> str:
    """Return what a field holds, exactly."""
    raw = await element.evaluate(_VALUE, LONGEST_READING)
    return cleaned(str(raw))


async def style_of(element: Locator, name: str) -> str:
    """Return the computed value of one CSS property."""
    raw = await element.evaluate("(e, name) => getComputedStyle(e).getPropertyValue(name)", name)
    return plain(str(raw))


async def page_widths(page: Page) -> tuple[int, int]:
    """Return how wide the page is and how wide its window."""
    page_width, window_width = await page.evaluate(_OVERFLOW)
    return int(page_width), int(window_width)
