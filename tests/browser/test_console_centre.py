"""What an annotator looks at in the console, with real applications, and the pictures taken of them."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, Playwright, Route, expect

from runs.adapters.browsers import chromium_arguments, running_as_root
from tests.annotation.looks import png
from tests.browser.conftest import Site
from tests.browser.desks import PATIENCE, Desk, sit_down
from tests.browser.looks import faults, overflow
from tests.browser.test_hostile_candidates import end

FULL_CHROMIUM = Path("/usr/lib/chromium/chromium")


@pytest.fixture
def seat(site: Site, browser: Browser) -> Iterator[Callable[..., Desk]]:
    """Open the console on a scene; applications end with the test."""
    desks: list[Desk] = []

    def opened(scene: str = "live_set", *, narrow: bool = False, dark: bool = False, **values: str) -> Desk:
        rows = site.scene(f"centre_scenes.{scene}", **values)
        desks.append(sit_down(site, browser, rows, narrow=narrow, dark=dark))
        return desks[-1]

    yield opened
    for desk in desks:
        end(desk)
        desk.context.close()


def app(page: Page) -> FrameLocator:
    return page.frame_locator("[data-frame]")


def runs(desk: Desk) -> Page:
    """Wait until the seed library is shown."""
    shows(desk, "running")
    expect(app(desk.page).locator("header")).to_have_text("Hollow Lane Seed Library", timeout=PATIENCE)
    return desk.page


def shows(desk: Desk, state: str) -> None:
    expect(desk.page.locator("[data-live]")).to_have_attribute("data-state", state, timeout=PATIENCE)


def test_the_application_starts_with_the_console_and_survives_its_reload(seat):
    desk = seat()
    page = runs(desk)
    host = page.locator("[data-host]").inner_text()

    desk.open()
    runs(desk)

    expect(page.locator("[data-host]")).to_have_text(host)
    assert re.fullmatch(r"p-[a-z2-7]{26}\.proofroom\.localhost:\d+", host)
    assert desk.complaints == []


def test_widths_are_those_of_phone_tablet_and_pane(seat):
    desk = seat()
    page = runs(desk)
    inner = app(page).locator("body")
    widths = {}

    for name in ("phone", "tablet", "fit"):
        page.locator(f"[data-act=viewport-{name}]").click()
        expect(page.locator(f"[data-act=viewport-{name}]")).to_have_attribute("aria-pressed", "true")
        widths[name] = inner.evaluate("() => innerWidth")

    assert (widths["phone"], widths["tablet"]) == (390, 820)
    pane = page.locator("[data-app]").bounding_box()
    shown = page.locator("[data-frame]").bounding_box()
    assert pane is not None
    assert shown is not None
    # All of it is seen, also where the pane is narrower than a tablet.
    assert shown["width"] <= pane["width"] + 1
    assert abs(widths["fit"] - pane["width"]) <= 1


def test_reload_keeps_what_was_stored_and_reset_forgets_it(seat):
    desk = seat()
    page = runs(desk)
    app(page).locator("body").evaluate(
        "() => { localStorage.setItem('kept', 'yes'); document.cookie = 'a=1'; }"
    )
    stored = "() => `${localStorage.getItem('kept')} ${document.cookie}`"

    page.locator("[data-act=reload]").click()
    runs(desk)
    after_reload = app(page).locator("body").evaluate(stored)
    host = page.locator("[data-host]").inner_text()
    page.locator("[data-act=reset]").click()
    expect(page.locator("[data-host]")).not_to_have_text(host, timeout=PATIENCE)
    runs(desk)
    after_reset = app(page).locator("body").evaluate(stored)

    assert after_reload == "yes a=1"
    assert after_reset == "null "


def test_a_tab_shows_the_same_application_without_a_way_back_into_the_console(seat):
    desk = seat()
    page = runs(desk)

    with desk.context.expect_page() as opened:
        page.locator("[data-act=open-tab]").click()
    tab = opened.value

    expect(tab.locator("header")).to_have_text("Hollow Lane Seed Library", timeout=PATIENCE)
    assert tab.evaluate("() => window.opener") is None


def test_stop_ends_it_and_start_begins_anew(seat):
    desk = seat()
    page = runs(desk)
    page.locator("[data-act=stop]").click()
    shows(desk, "stopped")
    expect(page.locator("[data-frame]")).to_have_count(0)
    expect(page.locator("[data-wait]")).to_contain_text("Stopped")

    page.locator("[data-start-again]").click()

    runs(desk)


def test_logs_are_shown_as_text(seat):
    desk = seat()
    page = runs(desk)

    page.locator("[data-act=logs]").click()

    expect(page.locator("[data-logs-body]")).to_contain_text("GET /", timeout=PATIENCE)
    assert faults(page) == []
    page.get_by_role("button", name="Close").click()


def test_a_badge_says_where_keys_go_and_leaving_gives_them_back(seat):
    desk = seat()
    page = runs(desk)
    badge = page.locator("[data-focus-words]")
    expect(badge).to_have_text("Keys mark here")

    app(page).get_by_role("button", name="Borrow").first.click()
    expect(badge).to_have_text("Keys go to the app")
    page.locator("[data-text]").hover()

    expect(badge).to_have_text("Keys mark here")
    page.keyboard.press("p")
    desk.is_all_saved()
    assert desk.marks()[0] == "pass"


def test_a_wish_made_while_the_site_is_asked_how_the_application_is_is_carried_out(seat):
    desk = seat()
    page = runs(desk)
    held: list[Route] = []
    looks = re.compile(r"/preview/(\?active=1)?$")

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route(looks, hold_the_first)
    page.wait_for_event("request", lambda request: looks.search(request.url) is not None)

    page.locator("[data-act=stop]").click()
    held[0].continue_()

    expect(page.locator("[data-wait]")).to_contain_text("Stopped", timeout=PATIENCE)


def test_the_keyboard_goes_into_the_application_and_comes_back(seat):
    desk = seat()
    page = runs(desk)
    page.mouse.move(5, 5)

    page.keyboard.press("g")
    expect(page.locator("[data-focus-words]")).to_have_text("Keys go to the app")
    page.keyboard.press("Tab")
    expect(app(page).locator("button:focus")).to_have_count(1)
    page.locator(".live__back").click()

    expect(page.locator("[data-focus-words]")).to_have_text("Keys mark here")
    expect(page.locator("[data-live]")).not_to_have_attribute("data-keys-inside", "")


def test_the_application_is_held_by_a_sandbox_that_never_lets_it_navigate_the_console(seat):
    page = runs(seat())

    sandbox = (page.locator("[data-frame]").get_attribute("sandbox") or "").split()

    assert sandbox == [
        "allow-scripts", "allow-same-origin", "allow-forms", "allow-modals", "allow-popups", "allow-downloads",
    ]  # fmt: skip


def test_a_lost_connection_leaves_the_application_where_it_is(seat):
    desk = seat()
    page = runs(desk)
    page.route("**/preview/*", lambda route: route.abort())

    expect(page.locator("[data-live-notice]")).to_contain_text("cannot be reached", timeout=PATIENCE)

    expect(page.locator("[data-frame]")).to_be_visible()
    page.unroute("**/preview/*")
    expect(page.locator("[data-live-notice]")).to_be_hidden(timeout=PATIENCE)


def test_evidence_follows_the_outcome_in_hand(seat):
    desk = seat("evidence_set")
    page = desk.page
    body = page.locator("[data-recorded-body]")
    expect(body.locator("img")).to_have_attribute("alt", "Picture 1 of the application", timeout=PATIENCE)
    expect(body).to_contain_text("<b>bold</b>")
    assert body.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 1280

    desk.pick(1)
    expect(body).to_contain_text("Cannot find module", timeout=PATIENCE)
    desk.pick(2)

    expect(body).to_contain_text("Nothing was recorded", timeout=PATIENCE)
    assert desk.complaints == []


def test_files_are_filtered_and_read_with_line_numbers(seat):
    desk = seat("files_set")
    page = desk.page
    files = page.locator("[data-files-list] li:not([hidden])")
    expect(files).to_have_count(5, timeout=PATIENCE)
    expect(page.locator("[data-files-recorded]")).to_contain_text("output: Birch", timeout=PATIENCE)

    page.get_by_label("Filter files").fill("RANK")
    expect(files).to_have_count(1)
    files.locator("button").click()

    expect(page.locator("[data-files-text] li")).to_have_count(3, timeout=PATIENCE)
    expect(page.locator("[data-files-text]")).to_contain_text("# <b>the best first</b>")
    page.get_by_label("Filter files").fill("nothing like it")
    page.get_by_role("button", name="Clear the filter").click()
    expect(files).to_have_count(5)
    assert desk.complaints == []


def _paste(page: Page, content: bytes, *, into: str = "body") -> None:
    """Paste a picture as a browser hands it over."""
    page.evaluate(
        """([data, into]) => {
          const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
          const clipboardData = new DataTransfer();
          clipboardData.items.add(new File([bytes], "picture.png", { type: "image/png" }));
          const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
          document.querySelector(into).dispatchEvent(event);
        }""",
        [base64.b64encode(content).decode(), into],
    )


def _held(desk: Desk) -> list[dict[str, object]]:
    found: list[dict[str, object]] = desk.site.scene(
        "centre_scenes.pictures", assignment=desk.rows["assignment"]
    )["pictures"]
    return found


def test_a_pasted_and_a_chosen_picture_are_kept_with_their_outcome(seat):
    desk = seat("evidence_set")
    page = desk.page
    thumbs = page.locator("[data-pictures] .picture:not(.picture--waiting)")

    _paste(page, png(300, 200))
    expect(thumbs).to_have_count(1, timeout=PATIENCE)
    page.locator("[data-pictures] input[type=file]").set_input_files(
        {"name": "long.png", "mimeType": "image/png", "buffer": png(390, 5000)}
    )
    expect(thumbs).to_have_count(2, timeout=PATIENCE)
    desk.pick(1)
    expect(thumbs).to_have_count(0)
    desk.pick(0)

    expect(thumbs).to_have_count(2)
    first = desk.rows["annotations"][0]
    assert [(row["annotation"], row["source"], row["width"], row["height"]) for row in _held(desk)] == [
        (first, "paste", 300, 200),
        (first, "upload", 390, 5000),
    ]
    desk.open()
    expect(thumbs).to_have_count(2, timeout=PATIENCE)


def test_a_picture_is_seen_large_removed_and_brought_back(seat):
    desk = seat("evidence_set")
    page = desk.page
    _paste(page, png(300, 200))
    look = page.get_by_role("button", name="Screenshot 1, view large")
    look.click(timeout=PATIENCE)
    expect(page.locator(".picture-dialog img")).to_be_visible()
    assert faults(page) == []
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Remove screenshot 1").click()
    undo = page.locator("[data-pictures]").get_by_role("button", name="Undo")
    expect(undo).to_be_focused(timeout=PATIENCE)
    assert [row["removed"] for row in _held(desk)] == [True]
    undo.click()

    expect(look).to_be_visible(timeout=PATIENCE)
    assert [row["removed"] for row in _held(desk)] == [False]


def test_what_is_no_picture_is_said_at_once_and_what_only_claims_to_be_one_by_the_site(seat):
    desk = seat("evidence_set")
    page = desk.page
    words = page.locator("[data-pictures] .caption")
    box = page.locator("[data-pictures] input[type=file]")

    box.set_input_files({"name": "x.txt", "mimeType": "text/plain", "buffer": b"text"})
    expect(words).to_contain_text("This is no picture")
    box.set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": b"text"})

    expect(words).to_contain_text("This is no picture that can be read", timeout=PATIENCE)
    expect(page.locator(".picture--refused")).to_have_count(1)
    assert _held(desk) == []


def test_a_picture_taken_offline_is_kept_here_and_sent_later(seat):
    desk = seat("evidence_set")
    page = desk.page
    expect(page.locator("[data-recorded-body] img")).to_be_visible(timeout=PATIENCE)
    desk.context.set_offline(True)
    _paste(page, png(64, 48))
    expect(page.locator(".picture--waiting")).to_have_count(1)

    desk.context.set_offline(False)

    expect(page.locator(".picture:not(.picture--waiting)")).to_have_count(1, timeout=PATIENCE)
    assert [(row["width"], row["height"]) for row in _held(desk)] == [(64, 48)]


def test_where_the_browser_does_not_capture_a_sentence_names_the_other_way(seat):
    # The headless shell refuses, as a browser does whose person says no.
    desk = seat("evidence_set")
    page = desk.page

    page.locator("[data-act=capture]").click()

    expect(page.locator("[data-pictures] .caption")).to_contain_text("paste it here (Ctrl+V)")


def test_one_click_takes_the_application_and_nothing_around_it(site: Site, playwright: Playwright):
    if not FULL_CHROMIUM.is_file():
        pytest.skip("Screen capture needs a whole Chromium, not the headless shell.")
    arguments = [
        *chromium_arguments(is_root=running_as_root()),
        "--headless=new",
        "--auto-accept-this-tab-capture",
    ]
    browser = playwright.chromium.launch(executable_path=FULL_CHROMIUM, args=arguments)
    rows = site.scene("centre_scenes.live_set")
    desk = sit_down(site, browser, rows)
    page = runs(desk)
    page.locator("[data-act=viewport-phone]").click()
    frame = page.locator("[data-frame]").bounding_box()
    assert frame is not None

    page.locator("[data-act=capture]").click()
    expect(page.locator(".picture:not(.picture--waiting)")).to_have_count(1, timeout=PATIENCE)
    page.locator("[data-act=capture]").click()
    expect(page.locator(".picture:not(.picture--waiting)")).to_have_count(2, timeout=PATIENCE)

    for row in _held(desk):
        assert row["source"] == "capture"
        assert abs(int(str(row["width"])) - frame["width"]) <= 2
        assert abs(int(str(row["height"])) - frame["height"]) <= 2
    end(desk)
    browser.close()


@pytest.mark.parametrize("scene", ["live_set", "evidence_set", "files_set"])
@pytest.mark.parametrize("look", [{}, {"dark": True}, {"narrow": True}], ids=["light", "dark", "narrow"])
def test_the_centre_is_fit_for_everybody(seat, scene, look):
    desk = seat(scene, **look)
    if scene == "live_set":
        runs(desk)
    else:
        desk.page.wait_for_load_state("networkidle")

    assert faults(desk.page) == []
    assert overflow(desk.page) <= 0
    assert desk.complaints == []
