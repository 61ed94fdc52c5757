"""Candidates that attack are deployed for real and looked at in the real console: nothing of it is harmed."""

from __future__ import annotations

import http.client
import json
import re
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
    """Stop the application from outside the browser, which may be in any state."""
    held = {cookie["name"]: cookie["value"] for cookie in desk.context.cookies(desk.site.address)}
    host = desk.site.address.removeprefix("http://")
    line = http.client.HTTPConnection("127.0.0.1", int(host.rpartition(":")[2]), timeout=60)
    names = ("__Host-session", "__Host-csrf")
    headers = {
        "Host": host,
        "Cookie": "; ".join(f"{name}={held[name]}" for name in names if name in held),
        "X-CSRFToken": held.get("__Host-csrf", ""),
        "Content-Length": "0",
    }
    line.request("POST", f"{desk.rows['path']}preview/stop/", headers=headers)
    line.getresponse().read()
    line.close()


def who(desk: Desk) -> str:
    """Whom the site takes this browser for."""
    page = desk.context.new_page()
    page.goto(desk.site.address + "/api/v1/me")
    name: str = json.loads(page.locator("body").inner_text()).get("username", "")
    page.close()
    return name


def app(desk: Desk) -> FrameLocator:
    """The inside of the frame."""
    return desk.page.frame_locator("[data-frame]")


def has_acted(desk: Desk) -> None:
    """Wait until the candidate has done what it could."""
    expect(app(desk).locator("html[data-over]")).to_be_attached(timeout=PATIENCE)


def state(desk: Desk, *words: str) -> None:
    """Wait until the pane shows one of these states."""
    expect(desk.page.locator("[data-live]")).to_have_attribute(
        "data-state", re.compile(f"^({'|'.join(words)})$"), timeout=PATIENCE
    )


def is_unharmed(desk: Desk) -> None:
    """The console is where it was, its timers run, and a mark can be given and is saved."""
    page = desk.page
    page.evaluate(
        "() => { let ticks = 9; setInterval(() => { document.body.dataset.ticks = ticks += 1; }, 20); }"
    )
    expect(page.locator("body")).to_have_attribute("data-ticks", re.compile(r"^\d{2,}$"), timeout=PATIENCE)
    assert page.url == desk.site.address + desk.rows["path"]
    page.locator("[data-act=pass]").click(timeout=PATIENCE)
    desk.is_all_saved()

    held = desk.held()
    assert [revision["mark"] for revision in held["revisions"]] == ["pass"]
    assert held["state"] == "open"
    assert who(desk) == desk.rows["username"]


@pytest.mark.parametrize("candidate", [name for name in hostile.NAMES if name != "never_starts"])
def test_the_console_goes_on_whatever_the_candidate_does(seat, candidate):
    desk = seat(candidate)
    state(desk, "running", "messages", "slow", "dialogs")
    if candidate not in ("message_spam", "alert_loop", "popups"):
        has_acted(desk)

    is_unharmed(desk)
