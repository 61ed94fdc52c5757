"""What every page keeps to: no serious fault for people with assistive means, nothing wider than the window."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def faults(page: Page) -> list[str]:
    """The serious and critical findings of axe, each with its first element."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than the window."""
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def smallest_words(page: Page) -> float:
    """The size in pixels, as shown, of the smallest words in charts."""
    return float(
        page.evaluate(
            """() => Math.min(99, ...[...document.querySelectorAll("main svg text")]
              .filter((text) => text.checkVisibility())
              .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""
        )
    )
