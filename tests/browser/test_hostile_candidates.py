"""Candidates that attack are deployed for real and looked at in the real console: nothing of it is harmed."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, expect

from tests.browser import native
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


def said(desk: Desk) -> dict[str, str]:
    """What the candidate says came of each attempt."""
    lines = (app(desk).locator("#said").text_content() or "").splitlines()
    return {name: came for name, _, came in (line.partition(": ") for line in lines)}


@pytest.mark.parametrize("candidate", ["downloads", "endless_growth", "busy_loop", "history_walker"])
def test_a_mark_is_given_and_saved_while_the_candidate_keeps_the_browser_busy(seat, candidate):
    desk = seat(candidate)
    state(desk, "running")
    # Nothing is asked of the frame: it would not answer.
    expect(desk.page.locator("[data-frame]")).to_be_visible(timeout=PATIENCE)
    desk.page.wait_for_timeout(2000)

    is_unharmed(desk)


def test_a_candidate_can_neither_replace_nor_read_the_console(seat):
    desk = seat("frame_busting")
    state(desk, "running")
    has_acted(desk)

    came = said(desk)
    assert came["reading"] == came["reading again"] == "SecurityError"
    is_unharmed(desk)


def test_a_candidate_that_forbids_framing_is_shown_with_its_storage(seat):
    desk = seat("forbids_framing")
    state(desk, "running")
    has_acted(desk)

    expect(app(desk).locator("#said")).to_contain_text("kept")
    is_unharmed(desk)


def test_a_dialog_that_nobody_answers_keeps_no_mark_from_being_saved(seat):
    first = seat("alert_loop")
    state(first, "running")
    page = first.context.new_page()
    first.page.close()
    opened: list[str] = []
    page.on("dialog", lambda dialog: opened.append(dialog.message))
    desk = Desk(page=page, site=first.site, rows=first.rows).open()
    state(desk, "running")
    _until(lambda: bool(opened), desk)

    is_unharmed(desk)
    assert opened == ["Look at me"]


def test_dialogs_that_are_answered_again_and_again_keep_no_mark_from_being_saved(seat):
    desk = seat("alert_loop")
    state(desk, "running")

    is_unharmed(desk)


def test_somebody_whom_dialogs_keep_from_every_control_loads_the_page_again_and_goes_on(site, tmp_path):
    if not native.PROGRAM.is_file():
        pytest.skip("The headless shell has no dialogs of its own.")
    rows = site.scene("centre_scenes.live_set", candidate="alert_loop")
    cookies = native.signed_in(site.address, username=rows["username"], password=rows["password"])
    state = "document.querySelector('[data-live]')?.dataset.state"
    with native.window(tmp_path / "browser", address=site.address, cookies=cookies) as window:
        window.call("Runtime.evaluate", expression=f"location.href = '{site.address}{rows['path']}'")
        window.until(f"{state} === 'running'")
        window.value("setInterval(() => { window.ticks = (window.ticks ?? 0) + 1; }, 100)")
        # A dialog takes the focus from the page, and with it every click and key.
        window.until("!document.hasFocus()")
        window.value("window.ticks = 0")
        window.until("window.ticks > 5")

        window.call("Page.reload")
        window.until(f"{state} === 'left'")
        window.click("[data-act=pass]")
        window.until("document.querySelector('[data-connection]').textContent.includes('All saved')")
        window.click("[data-muted]")
        window.until("document.querySelector('[data-frame]') !== null")
        window.click("[data-act=fail]")
        window.until("document.querySelectorAll('.outcome .mark--fail').length === 1")

    saved = site.scene("console_scenes.saved", assignment=rows["assignment"])["revisions"]
    assert [revision["mark"] for revision in saved][:1] == ["pass"]


def test_a_flood_of_messages_takes_the_candidate_away_and_not_the_console(seat):
    desk = seat("message_spam")

    state(desk, "messages")

    expect(desk.page.locator("[data-wait]")).to_contain_text("so many messages")
    is_unharmed(desk)
    desk.page.get_by_role("button", name="Reset state").click()
    state(desk, "messages")


def test_popups_stay_in_the_sandbox_and_read_nothing_of_the_site(seat):
    desk = seat("popups")
    state(desk, "running")
    app(desk).locator("button").click(timeout=PATIENCE)
    has_acted(desk)

    opened = [page for page in desk.context.pages if page is not desk.page]
    came = said(desk)
    assert came.get("its page", "SecurityError") in ("SecurityError", "TypeError", "")
    assert all(desk.rows["username"] not in page.content() for page in opened)
    is_unharmed(desk)


def test_a_service_worker_stays_on_its_own_origin_and_is_gone_after_a_reset(seat):
    desk = seat("service_worker")
    state(desk, "running")
    has_acted(desk)

    came = said(desk)
    assert came["worker"] == "registered"
    assert came["worker of the site"] in ("SecurityError", "TypeError")
    is_unharmed(desk)
    desk.page.get_by_role("button", name="Reload").click()
    expect(app(desk).locator("h1")).to_have_text("Taken by the worker", timeout=PATIENCE)

    desk.page.get_by_role("button", name="Reset state").click()

    expect(app(desk).locator("h1")).to_have_text("A candidate", timeout=PATIENCE)
    assert who(desk) == desk.rows["username"]


def test_cookies_for_the_parent_domain_reach_neither_the_site_nor_the_next_application(seat, site):
    desk = seat("parent_cookies")
    state(desk, "running")
    has_acted(desk)

    is_unharmed(desk)
    _until(lambda: not _foreign(desk), desk)
    assert "own=kept" in app(desk).locator("body").evaluate("() => document.cookie")
    second = site.scene("centre_scenes.second_set", username=desk.rows["username"])
    desk.page.goto(site.address + second["path"])
    state(desk, "running")
    expect(app(desk).locator("header")).to_have_text("Hollow Lane Seed Library", timeout=PATIENCE)
    assert app(desk).locator("body").evaluate("() => document.cookie") == ""
    end(Desk(page=desk.page, site=site, rows=second))


def test_a_candidate_cannot_sign_its_annotator_out(seat):
    desk = seat("clears_site_data")
    state(desk, "running")
    has_acted(desk)

    is_unharmed(desk)


def test_a_candidate_reads_nothing_of_the_site_with_its_annotators_session(seat):
    desk = seat("reads_the_site")
    state(desk, "running")
    has_acted(desk)

    came = said(desk)
    # What frames load is an error page of the browser, and a frame says "loaded" of it too.
    refused = ("script", "img", "link", "object", "socket", "stream")
    assert {tag: came[tag] for tag in refused} == dict.fromkeys(refused, "refused")
    assert all(
        value in ("TypeError", "0") for name, value in came.items() if name.startswith(("fetch", "no-cors"))
    )
    assert desk.rows["username"] not in app(desk).locator("body").inner_text()
    is_unharmed(desk)


def test_a_candidate_gives_no_mark_and_ends_no_session_with_forms_or_beacons(seat):
    desk = seat("posts_marks")
    state(desk, "running")
    has_acted(desk)

    is_unharmed(desk)
    state(desk, "running")


def test_a_candidate_that_takes_the_keys_from_somebody_who_writes_is_taken_away(seat):
    desk = seat("focus_thief")
    state(desk, "running")
    has_acted(desk)
    note = desk.page.locator("textarea").first
    note.click()
    desk.page.keyboard.type("It takes the keys away from me.", delay=50)
    state(desk, "keys")
    expect(note).to_be_focused()
    note.fill("")

    desk.page.keyboard.type("The basket forgets its packets.", delay=20)

    expect(note).to_have_value("The basket forgets its packets.")
    is_marked_beside_the_note(desk)


def is_marked_beside_the_note(desk: Desk) -> None:
    """A mark is saved beside the note."""
    desk.page.locator("[data-act=pass]").click(timeout=PATIENCE)
    desk.is_all_saved()
    first = desk.held()["annotations"][0]
    assert (first["mark"], first["note"]) == ("pass", "The basket forgets its packets.")


def test_a_candidate_that_asks_to_stay_is_stopped_without_a_question(seat):
    desk = seat("stays")
    asked = []
    desk.page.on("dialog", lambda dialog: asked.append(dialog.type))
    state(desk, "running")
    app(desk).locator("button").click(timeout=PATIENCE)
    expect(app(desk).locator("#said")).to_contain_text("used", timeout=PATIENCE)

    desk.page.get_by_role("button", name="Stop", exact=True).click()

    state(desk, "stopped")
    assert asked == []
    is_unharmed(desk)


def test_a_server_that_dies_says_its_last_words_and_starts_again(seat):
    desk = seat("dies")
    state(desk, "running")
    app(desk).get_by_role("link", name="Die").click(timeout=PATIENCE)

    state(desk, "died")

    expect(desk.page.locator("[data-live-notice]")).to_contain_text("died while it was used")
    is_unharmed(desk)
    desk.page.get_by_role("button", name="Logs").click()
    logs = desk.page.locator("[data-logs-body]")
    expect(logs).to_contain_text("last words of /workspace", timeout=PATIENCE)
    desk.page.get_by_role("button", name="Close").click()
    desk.page.locator("[data-notice-act]").click()
    state(desk, "running")
    expect(app(desk).locator("h1")).to_have_text("A candidate", timeout=PATIENCE)


def test_a_candidate_that_never_starts_shows_its_log_without_its_agents_name(seat):
    desk = seat("never_starts")

    state(desk, "failed")

    log = desk.page.locator("[data-wait-log]")
    expect(log).to_contain_text("Error: the module ▒▒▒ is missing")
    expect(desk.page.locator("[data-wait]")).to_contain_text("The application did not start")
    is_unharmed(desk)


def _foreign(desk: Desk) -> list[str]:
    return [cookie["name"] for cookie in desk.context.cookies() if cookie["domain"].startswith(".")]


def _until(is_so: Callable[[], bool], desk: Desk) -> None:
    for _ in range(PATIENCE // 500):
        if is_so():
            return
        desk.page.wait_for_timeout(500)
    raise AssertionError("It did not come to be.")
