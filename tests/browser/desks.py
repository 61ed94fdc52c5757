"""An annotator at the console: signs in, works by keyboard, and looks at what the site holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from tests.browser.conftest import NARROW, WIDE, Site

PATIENCE = 60_000
"""Milliseconds that a slow machine gets for what takes a moment."""

# What Chromium says of a request that the test itself broke, or that was answered with a "no".
EXPECTED = ("Failed to load resource", "Origin trial controlled feature")


@dataclass(slots=True, kw_only=True)
class Desk:
    """A window of the console."""

    page: Page
    site: Site
    rows: dict[str, Any]
    complaints: list[str] = field(default_factory=list)

    @property
    def context(self) -> BrowserContext:
        """The browser this window belongs to."""
        return self.page.context

    @property
    def current(self) -> Locator:
        """The row of the outcome in hand."""
        return self.page.locator("[data-pick][aria-current]")

    @property
    def saved_at(self) -> Locator:
        """The line that says how the outcome in hand is saved."""
        return self.page.locator("[data-saved-at]")

    @property
    def connection(self) -> Locator:
        """The line that says how the whole set is saved."""
        return self.page.locator("[data-connection]")

    def row(self, place: int) -> Locator:
        """The row of an outcome by its place, from 0."""
        return self.page.locator(f"[data-annotation='{self.rows['annotations'][place]}']")

    def pick(self, place: int) -> None:
        """Take an outcome in hand."""
        self.row(place).locator("button").click()

    def press(self, *keys: str) -> None:
        """Press keys one after the other, as a person does."""
        for key in keys:
            self.page.keyboard.press(key)

    def is_all_saved(self) -> None:
        """Wait until nothing waits any more."""
        # The line is drawn with the next frame: before it, it may still say what was so before the last key.
        self.page.evaluate("() => new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn)))")
        expect(self.connection).to_contain_text("All saved", timeout=PATIENCE)

    def held(self) -> dict[str, Any]:
        """What the database holds of the set."""
        return self.site.scene("console_scenes.saved", assignment=self.rows["assignment"])

    def marks(self) -> list[str]:
        """The marks in the database, in the order of the list."""
        return [annotation["mark"] for annotation in self.held()["annotations"]]

    def open(self) -> Desk:
        """Load the console and wait until it listens."""
        self.page.goto(self.site.address + self.rows["path"])
        expect(self.page.locator("[data-console][data-ready]")).to_be_attached(timeout=PATIENCE)
        return self

    def stop_the_application(self) -> None:
        """Make room: only so many applications run at once."""
        stop = self.page.locator("[data-act=stop]:visible")
        if stop.count():
            # Also from under a dialog that a test left open.
            stop.evaluate("button => button.click()")
            expect(stop).to_be_hidden(timeout=PATIENCE)

    def another_window(self) -> Desk:
        """A second window of the same browser."""
        return _desk(self.context.new_page(), self.site, self.rows).open()

    def ignores_changes(self) -> None:
        """Keep this window from hearing what others saved."""
        silence = {"sequence": 0, "annotations": [], "state": "open"}
        self.page.route("**/changes?*", lambda route: route.fulfill(json=silence))


def sit_down(
    site: Site, browser: Browser, rows: dict[str, Any], *, narrow: bool = False, dark: bool = False
) -> Desk:
    """Open the console in a browser of its own, as somebody who signed in earlier."""
    context = browser.new_context(
        viewport=NARROW if narrow else WIDE, color_scheme="dark" if dark else "light"
    )
    context.add_cookies([site.scene("console_scenes.begin_session", username=rows["username"])])  # type: ignore[list-item]
    return _desk(context.new_page(), site, rows).open()


def sign_in(page: Page, rows: dict[str, Any]) -> None:
    """Fill the form by keyboard; its first field has the focus."""
    expect(page.get_by_label("Name")).to_be_focused(timeout=PATIENCE)
    page.keyboard.type(rows["username"])
    page.keyboard.press("Tab")
    page.keyboard.type(rows["password"])
    page.keyboard.press("Enter")


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that no page shows."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def lose_the_answer(route: Route) -> None:
    """Let a request reach the site, and break the line before its answer comes."""
    # Not a browser, it cannot resolve *.localhost; the interface answers on the loopback name too.
    route.fetch(url=route.request.url.replace("proofroom.localhost", "127.0.0.1"))
    route.abort("connectionreset")


def _desk(page: Page, site: Site, rows: dict[str, Any]) -> Desk:
    desk = Desk(page=page, site=site, rows=rows)

    def hear(kind: str, text: str) -> None:
        if kind in ("error", "warning") and not text.startswith(EXPECTED):
            desk.complaints.append(text)

    page.on("console", lambda said: hear(said.type, said.text))
    page.on("pageerror", lambda error: desk.complaints.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept())
    return desk
