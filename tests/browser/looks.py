"""What every page keeps to: no serious fault for people with assistive means, nothing wider than the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

COLOURS = ("color-contrast",)
"""The rules that another colour scheme can break; the others see the same page in both."""


def faults(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """The serious and critical findings of axe, each with its first element; all rules unless some are named."""
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    # Half a megabyte of script: once for each document.
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("(options) => axe.run(options)", options)["violations"]
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
