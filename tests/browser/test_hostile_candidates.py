"""Candidates that attack are deployed for real and looked at in the real console: nothing of it is harmed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, expect

from tests.browser import hostile
from tests.browser.conftest import Site
from tests.browser.desks import PATIENCE, Desk, sit_down


@pytest.fixture
def seat(site: Site, browser: Browser) -> Iterator[Callable[[str], Desk]]:
    """Open the console on a candidate; its processes end with the test."""
    desks: list[Desk] = []

    def opened(candidate: str = "") -> Desk:
        rows = site.scene("centre_scenes.live_set", candidate=candidate)
        desks.append(sit_down(site, browser, rows))
        return desks[-1]

    yield opened
    for desk in desks:
        end(desk)
        desk.context.close()


def end(desk: Desk) -> None:
    """Stop the application from outside the page, which may be in any state."""
    answer = desk.context.request.get(desk.site.address + "/sign-in/")
    del answer
    token = next(cookie["value"] for cookie in desk.context.cookies() if cookie["name"] == "__Host-csrf")
    desk.context.request.post(
        f"{desk.site.address}{desk.rows['path']}preview/stop/",
        headers={"X-CSRFToken": token, "Referer": desk.site.address},
    )


def app(desk: Desk) -> FrameLocator:
    """The inside of the frame."""
    return desk.page.frame_locator("[data-frame]")


def has_acted(desk: Desk) -> None:
    """Wait until the candidate has done what it could."""
    expect(app(desk).locator("html[data-over]")).to_be_attached(timeout=PATIENCE)


def state(desk: Desk, *words: str) -> None:
    """Wait until the pane shows one of these states."""
    desk.page.wait_for_function(
        "words => words.includes(document.querySelector('[data-live]').dataset.state)",
        arg=words,
        timeout=PATIENCE,
    )


def is_unharmed(desk: Desk) -> None:
    """The console is where it was, its timers run, and a mark can be given and is saved."""
    page = desk.page
    page.evaluate("window.ticks = 0; setInterval(() => { window.ticks += 1; }, 20)")
    page.wait_for_function("window.ticks > 10", timeout=PATIENCE)
    assert page.url == desk.site.address + desk.rows["path"]
    page.locator("[data-act=pass]").click(timeout=PATIENCE)
    desk.is_all_saved()

    held = desk.held()
    assert [revision["mark"] for revision in held["revisions"]] == ["pass"]
    assert held["state"] == "open"
    me = desk.context.request.get(desk.site.address + "/api/v1/me")
    assert me.json()["username"] == desk.rows["username"]


@pytest.mark.parametrize("candidate", [name for name in hostile.NAMES if name != "never_starts"])
def test_the_console_goes_on_whatever_the_candidate_does(seat, candidate):
    desk = seat(candidate)
    state(desk, "running", "messages", "slow", "dialogs")
    if candidate not in ("message_spam", "alert_loop", "popups"):
        has_acted(desk)

    is_unharmed(desk)
