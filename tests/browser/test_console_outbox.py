"""Nothing that an annotator does is lost: no network, lost answers, two windows, an ended sign-in, a closed set."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.conftest import Site
from tests.browser.desks import PATIENCE, Desk, lose_the_answer, sit_down, until

type Opened = Callable[..., Desk]
OPERATIONS = "**/operations"


@pytest.fixture
def desk(site: Site, browser: Browser) -> Iterator[Opened]:
    """Open consoles: `desk()` has a set of 30 outcomes, `desk(rows=...)` one that is known."""
    opened: list[Desk] = []

    def open_one(scene: str = "long_set", *, rows: dict[str, object] | None = None) -> Desk:
        values = {"outcomes": 10, "criteria": 3} if scene == "long_set" else {}
        opened.append(sit_down(site, browser, rows or site.scene(f"console_scenes.{scene}", **values)))
        return opened[-1]

    yield open_one
    for each in opened:
        each.context.close()
        assert not each.complaints


def test_thirty_marks_made_without_network_arrive_once_and_in_order(desk: Opened):
    here = desk()
    keys = ["paf"[place % 3] for place in range(30)]
    here.context.set_offline(True)

    here.press(*keys)
    expect(here.connection).to_have_text("Kept here, offline: 30 waiting", timeout=PATIENCE)
    assert here.held()["revisions"] == []
    here.context.set_offline(False)
    here.is_all_saved()

    revisions = here.held()["revisions"]
    words = {"p": "pass", "a": "partial", "f": "fail"}
    assert [(each["annotation"], each["mark"]) for each in revisions] == [
        (annotation, words[key]) for annotation, key in zip(here.rows["annotations"], keys, strict=True)
    ]
    assert {each["version"] for each in revisions} == {1}


def test_marks_whose_answer_was_lost_are_sent_again_and_saved_once(desk: Opened):
    here = desk()
    here.page.route(OPERATIONS, lose_the_answer, times=2)

    here.press("p", "a", "f")
    here.is_all_saved()

    assert [each["mark"] for each in here.held()["revisions"]] == ["pass", "partial", "fail"]


def test_several_changes_of_one_outcome_made_without_network_follow_each_other(desk: Opened):
    here = desk()
    here.page.get_by_label("After a mark, go to the next open outcome").uncheck()
    here.context.set_offline(True)

    here.press("p", "f", "n")
    here.page.keyboard.type("Why")
    here.press("Escape", "u", "a")
    expect(here.connection).to_have_text("Kept here, offline: 5 waiting", timeout=PATIENCE)
    here.context.set_offline(False)
    here.is_all_saved()

    revisions = here.held()["revisions"]
    assert [each["change"] for each in revisions] == ["mark", "mark", "note", "undo", "mark"]
    assert [each["version"] for each in revisions] == [1, 2, 3, 4, 5]
    first = here.held()["annotations"][0]
    assert (first["mark"], first["note"]) == ("partial", "")


def test_a_note_written_without_network_in_two_goes_is_no_conflict(desk: Opened):
    here = desk()
    here.context.set_offline(True)
    here.press("n")
    here.page.keyboard.type("The first half, ")
    expect(here.connection).to_have_text("Kept here, offline: 1 waiting", timeout=PATIENCE)
    here.page.keyboard.type("and the second.")
    here.press("Escape")
    here.context.set_offline(False)
    here.is_all_saved()

    assert here.held()["annotations"][0]["note"] == "The first half, and the second."


def test_what_waits_survives_closing_the_page(desk: Opened):
    here = desk()
    here.page.route(OPERATIONS, lambda route: route.abort("internetdisconnected"))
    here.press("p", "f")
    expect(here.connection).to_contain_text("2 waiting", timeout=PATIENCE)
    asked: list[str] = []
    here.page.on("dialog", lambda dialog: asked.append(dialog.type))

    with here.page.expect_event("close", timeout=PATIENCE):
        here.page.close(run_before_unload=True)
    again = here.another_window()
    again.is_all_saved()

    assert asked == ["beforeunload"]
    assert again.marks()[:3] == ["pass", "fail", ""]


def test_one_window_sends_what_waits_in_several(desk: Opened):
    here = desk()
    there = here.another_window()
    here.context.set_offline(True)
    here.press("p", "p")
    there.pick(5)
    there.press("f")
    expect(here.connection).to_contain_text("3 waiting", timeout=PATIENCE)

    here.context.set_offline(False)
    here.is_all_saved()
    there.is_all_saved()

    marks = here.marks()
    assert (marks[0], marks[1], marks[5]) == ("pass", "pass", "fail")
    assert len(here.held()["revisions"]) == 3


@pytest.mark.parametrize(("answer", "left"), [("Keep yours", "fail"), ("Take the saved one", "pass")])
def test_two_people_of_one_name_never_overwrite_each_other_unseen(desk: Opened, answer: str, left: str):
    here = desk()
    there = desk(rows=here.rows)
    there.ignores_changes()
    here.press("p")
    here.is_all_saved()

    there.press("f", "n")
    there.page.keyboard.type("On the next one")
    there.press("Escape")
    expect(there.row(0)).to_contain_text("choose", timeout=PATIENCE)
    assert there.marks()[0] == "pass"
    there.pick(0)
    conflict = there.page.get_by_role("group", name="Saved differently elsewhere")
    expect(conflict.locator("[data-mine]")).to_contain_text("Fail")
    expect(conflict.locator("[data-theirs]")).to_contain_text("Pass")
    conflict.get_by_role("button", name=answer).click()
    there.is_all_saved()

    expect(conflict).to_be_hidden()
    held = there.held()
    assert held["annotations"][0]["mark"] == left
    # Nothing else was held up by it.
    assert held["annotations"][1]["note"] == "On the next one"
    there.press("u")
    there.is_all_saved()


def test_two_windows_of_one_browser_conflict_over_what_both_did_without_network(desk: Opened):
    here = desk()
    there = here.another_window()
    here.context.set_offline(True)
    here.press("p")
    there.press("f")
    expect(there.connection).to_contain_text("2 waiting", timeout=PATIENCE)

    here.context.set_offline(False)

    expect(there.row(0)).to_contain_text("choose", timeout=PATIENCE)
    expect(here.row(0).get_by_role("img")).to_have_accessible_name("Pass")
    assert there.marks()[0] == "pass"
    there.pick(0)
    there.page.get_by_role("button", name="Keep yours").click()
    there.is_all_saved()
    expect(here.row(0).get_by_role("img")).to_have_accessible_name("Fail", timeout=PATIENCE)


def test_a_conflict_is_still_there_after_a_reload(desk: Opened):
    here = desk()
    there = desk(rows=here.rows)
    there.ignores_changes()
    here.press("p")
    here.is_all_saved()
    there.press("f")
    expect(there.row(0)).to_contain_text("choose", timeout=PATIENCE)

    there.open()
    there.pick(0)

    expect(there.page.get_by_role("button", name="Keep yours")).to_be_visible()
    there.page.get_by_role("button", name="Take the saved one").click()
    until(lambda: there.page.get_by_role("button", name="Keep yours").is_hidden())


def test_changes_of_another_window_arrive_where_nothing_is_being_written(desk: Opened):
    here = desk()
    there = desk(rows=here.rows)
    there.press("n")
    there.page.keyboard.type("Still writ")

    here.press("p", "f")
    here.is_all_saved()

    expect(there.row(1).get_by_role("img")).to_have_accessible_name("Fail", timeout=PATIENCE)
    expect(there.page.get_by_role("textbox", name="Note")).to_have_value("Still writ")


def test_a_session_that_ends_is_begun_again_inside_the_page_and_nothing_is_lost(desk: Opened, site: Site):
    here = desk()
    here.press("p")
    here.is_all_saved()
    here.page.evaluate("window.stillHere = true")
    site.scene("console_scenes.end_sessions", username=here.rows["username"])

    here.press("f")
    dialog = here.page.get_by_role("dialog", name="Your sign-in has ended")
    expect(dialog).to_contain_text("1 change is kept here", timeout=PATIENCE)
    expect(dialog.get_by_label("Name")).to_have_value(here.rows["username"])
    here.press("p", "a")
    expect(dialog.get_by_label("Password")).to_have_value("")
    here.press("Tab", "Tab")
    here.page.keyboard.type("wrong")
    here.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("These do not match", timeout=PATIENCE)
    here.page.keyboard.type(here.rows["password"])
    here.press("Enter")

    expect(dialog).to_be_hidden(timeout=PATIENCE)
    here.is_all_saved()
    here.press("a")
    here.is_all_saved()
    assert here.marks()[:3] == ["pass", "fail", "partial"]
    assert here.page.evaluate("window.stillHere") is True


def test_a_sign_in_that_ends_does_not_interrupt_a_sentence(desk: Opened, site: Site):
    here = desk()
    here.press("n")
    here.page.keyboard.type("The first half, ")
    site.scene("console_scenes.end_sessions", username=here.rows["username"])
    expect(here.page.locator("[data-toast]")).to_contain_text("Your sign-in has ended", timeout=PATIENCE)
    here.page.keyboard.type("and the second.")

    here.press("Escape")
    expect(here.page.get_by_role("dialog", name="Your sign-in has ended")).to_be_visible(timeout=PATIENCE)
    here.press("Tab", "Tab")
    here.page.keyboard.type(here.rows["password"])
    here.press("Enter")
    here.is_all_saved()

    assert here.held()["annotations"][0]["note"] == "The first half, and the second."


def test_what_was_done_in_another_window_can_be_undone_here(desk: Opened):
    here = desk()
    there = desk(rows=here.rows)
    there.press("p", "f")
    there.is_all_saved()
    expect(here.row(1).get_by_role("img")).to_have_accessible_name("Fail", timeout=PATIENCE)

    here.press("u")
    expect(here.row(1).get_by_role("img")).to_have_accessible_name("Not marked", timeout=PATIENCE)
    here.press("u")
    until(lambda: here.marks()[:2] == ["", ""])

    assert [each["change"] for each in here.held()["revisions"]] == ["mark", "mark", "undo", "undo"]


def test_somebody_else_cannot_go_on_in_the_page_of_another(desk: Opened, site: Site):
    here = desk()
    stranger = site.scene("console_scenes.stranger")
    site.scene("console_scenes.end_sessions", username=here.rows["username"])
    here.press("p")
    dialog = here.page.get_by_role("dialog", name="Your sign-in has ended")
    expect(dialog).to_be_visible(timeout=PATIENCE)

    dialog.get_by_label("Name").fill(stranger["username"])
    dialog.get_by_label("Password").fill(here.rows["password"])
    here.press("Enter")

    expect(dialog.get_by_role("alert")).to_contain_text(
        f"This page is {here.rows['username']}'s", timeout=PATIENCE
    )
    assert here.held()["revisions"] == []
    dialog.get_by_label("Name").fill(here.rows["username"])
    dialog.get_by_label("Password").fill(here.rows["password"])
    here.press("Enter")
    here.is_all_saved()
    assert here.marks()[0] == "pass"


@pytest.mark.parametrize("has_noticed", [False, True])
def test_a_sign_in_in_another_window_changes_the_token_and_the_page_goes_on(
    desk: Opened, site: Site, has_noticed: bool
):
    here = desk()
    other = here.context.new_page()
    other.goto(f"{site.address}/")
    other.evaluate(
        "fetch('/sign-out/', {method: 'POST', body: new URLSearchParams({csrfmiddlewaretoken: document.querySelector('[name=csrfmiddlewaretoken]').value})})"
    )
    dialog = here.page.get_by_role("dialog", name="Your sign-in has ended")
    if has_noticed:
        expect(dialog).to_be_visible(timeout=PATIENCE)
    other.goto(f"{site.address}/sign-in/")
    other.get_by_label("Name").fill(here.rows["username"])
    other.get_by_label("Password").fill(here.rows["password"])
    other.keyboard.press("Enter")
    expect(other).not_to_have_url(f"{site.address}/sign-in/", timeout=PATIENCE)

    expect(dialog).to_be_hidden(timeout=PATIENCE)
    here.press("p")
    until(lambda: here.marks()[0] == "pass")


def test_a_set_that_was_taken_back_says_so_and_gives_out_what_was_not_saved(
    desk: Opened, site: Site, tmp_path: Path
):
    here = desk()
    here.press("p")
    here.is_all_saved()
    here.context.set_offline(True)
    here.press("f")
    expect(here.connection).to_contain_text("1 waiting", timeout=PATIENCE)
    site.scene("console_scenes.expire", assignment=here.rows["assignment"])

    here.context.set_offline(False)

    expect(here.page.locator("[data-ended]")).to_contain_text("given back", timeout=PATIENCE)
    expect(here.page.get_by_role("radio", name="Pass")).to_be_disabled()
    with here.page.expect_download() as download:
        here.page.get_by_role("button", name="Download them").click()
    download.value.save_as(tmp_path / "unsaved.json")
    unsent = json.loads((tmp_path / "unsaved.json").read_text())["unsent"]
    assert [(each["annotation"], each["mark"]) for each in unsent if each["kind"] == "operation"] == [
        (here.rows["annotations"][1], "fail")
    ]
    assert here.marks()[:2] == ["pass", ""]


def test_a_change_that_the_site_refuses_holds_up_nothing_and_says_why(desk: Opened):
    here = desk()

    def spoil(route: Route) -> None:
        sent = json.loads(route.request.post_data or "")
        sent["operations"][0]["mark"] = "wonderful"
        route.continue_(post_data=json.dumps(sent))

    here.page.route(OPERATIONS, spoil, times=1)
    here.press("p")
    expect(here.page.locator("[data-toast]")).to_contain_text("1 change not taken", timeout=PATIENCE)
    here.press("f")
    here.is_all_saved()

    assert here.marks()[:2] == ["", "fail"]
    here.page.get_by_role("button", name="Dismiss").click()
    expect(here.page.locator("[data-toast]")).to_be_hidden()


def test_a_note_never_goes_over_one_that_arrived_while_it_was_being_written(desk: Opened):
    here = desk()
    there = desk(rows=here.rows)
    there.press("n")
    there.page.keyboard.type("Mine")
    # Held back, as by somebody who goes on typing.
    there.page.evaluate(
        "window.stop = setInterval(() => document.activeElement.dispatchEvent(new Event('input')), 300)"
    )

    here.press("n")
    here.page.keyboard.type("Theirs")
    here.press("Escape")
    until(lambda: here.held()["annotations"][0]["note"] == "Theirs")
    expect(there.row(0)).to_contain_text("note", timeout=PATIENCE)
    there.page.evaluate("clearInterval(window.stop)")
    there.press("Escape")

    expect(there.row(0)).to_contain_text("choose", timeout=PATIENCE)
    assert there.held()["annotations"][0]["note"] == "Theirs"
    there.page.get_by_role("button", name="Keep yours").click()
    there.is_all_saved()
    assert there.held()["annotations"][0]["note"] == "Mine"


@pytest.mark.parametrize("status", [200, 400, 404])
def test_a_page_that_a_proxy_puts_in_place_of_an_answer_decides_nothing(desk: Opened, status: int):
    here = desk()

    def portal(route: Route) -> None:
        route.fulfill(status=status, content_type="text/html", body="<h1>Sign in to this network</h1>")

    here.page.route("**/api/v1/**", portal)
    here.press("p", "f")
    expect(here.connection).to_have_text("Kept here, offline: 2 waiting", timeout=PATIENCE)
    here.page.unroute("**/api/v1/**")
    here.is_all_saved()

    assert here.marks()[:2] == ["pass", "fail"]


def test_an_answer_that_breaks_off_is_no_answer(desk: Opened):
    here = desk()
    here.page.route(OPERATIONS, lambda route: route.fulfill(status=200, body='{"results": [{"opera'), times=1)

    here.press("p")
    expect(here.page.locator("[data-toast]")).to_contain_text("Offline", timeout=PATIENCE)
    here.is_all_saved()

    assert here.marks()[0] == "pass"


def test_a_note_is_kept_by_who_closes_the_page_in_the_midst_of_it(desk: Opened):
    here = desk()
    here.press("n")
    here.page.keyboard.type("Half a sent")
    here.page.on("dialog", lambda dialog: dialog.accept())
    with here.page.expect_event("close", timeout=PATIENCE):
        here.page.close(run_before_unload=True)

    there = Desk(page=here.context.new_page(), site=here.site, rows=here.rows)
    there.open()
    there.is_all_saved()

    assert there.held()["annotations"][0]["note"] == "Half a sent"


def test_a_browser_that_keeps_nothing_still_saves_everything_and_says_so(desk: Opened):
    here = desk()
    here.context.add_init_script(
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); }"
    )
    here.open()
    here.page.route(OPERATIONS, lambda route: route.fulfill(status=503, body="<h1>Restarting</h1>"), times=2)

    here.press("p", "f", "a")
    expect(here.page.locator("[data-toast]")).to_contain_text("This browser keeps nothing", timeout=PATIENCE)
    here.is_all_saved()

    assert here.marks()[:3] == ["pass", "fail", "partial"]
