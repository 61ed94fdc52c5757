"""The annotation console, in a real browser on a real site: marking, keys, undo, resuming, submitting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.browser import looks
from tests.browser.conftest import WIDE, Site
from tests.browser.desks import PATIENCE, Desk, sign_in, sit_down, until

type Opened = Callable[..., Desk]


@pytest.fixture
def desk(site: Site, browser: Browser) -> Iterator[Opened]:
    """Open consoles: `desk()` has the seed library, `desk("long_set", outcomes=10)` another scene's set."""
    opened: list[Desk] = []

    def open_one(
        scene: str = "seed_set",
        *,
        rows: dict[str, Any] | None = None,
        narrow: bool = False,
        dark: bool = False,
        **values: Any,
    ) -> Desk:
        given = rows or site.scene(f"console_scenes.{scene}", **values)
        opened.append(sit_down(site, browser, given, narrow=narrow, dark=dark))
        return opened[-1]

    yield open_one
    for each in opened:
        each.stop_the_application()
        each.context.close()
        assert not each.complaints


def test_an_annotator_goes_from_sign_in_to_submit_with_the_keyboard_alone(site: Site, browser: Browser):
    rows = site.scene("console_scenes.seed_set", centre="live")
    page = browser.new_context(viewport=WIDE).new_page()
    page.goto(f"{site.address}/sign-in/?next={rows['path']}")
    sign_in(page, rows)
    here = Desk(page=page, site=site, rows=rows)
    expect(page.locator("[data-console][data-ready]")).to_be_attached(timeout=PATIENCE)
    app = page.frame_locator("[data-frame]")
    expect(app.get_by_role("button", name="Borrow").first).to_be_visible(timeout=PATIENCE)

    # Into the application, a packet borrowed, and out of it again.
    here.press("g", "Tab", "Enter")
    expect(app.locator("#count")).to_have_text("1 of 5 packets", timeout=PATIENCE)
    for _ in range(12):
        if page.evaluate("document.activeElement.id") == "after-app":
            break
        here.press("Tab")
    here.press("Enter")
    here.press(*"pppppp", "a")
    expect(here.current).to_contain_text("A sixth packet is refused")
    here.press("f")
    here.press("k", "n")
    page.keyboard.type("Refused, but nothing says why.")
    here.press("Escape", "Shift+U", "e", "ArrowDown", "Enter")
    expect(page.locator("[data-dialog=problem]")).to_be_hidden()
    here.press(*"ppppp")
    expect(page.locator("[data-progress]")).to_contain_text("14 of 14 marked, 1 flagged")
    here.press("Shift+U")
    expect(page.get_by_role("dialog", name="Submit this set?")).to_contain_text(
        "14 of 14 are marked, of which 1 is an environment problem"
    )
    here.press("Tab", "Enter")

    expect(page.locator("[data-ended]")).to_contain_text("Submitted", timeout=PATIENCE)
    held = here.held()
    assert held["state"] == "submitted"
    assert here.marks() == [*["pass"] * 6, "partial", "fail", "error", *["pass"] * 5]
    assert held["annotations"][7]["note"] == "Refused, but nothing says why."
    assert held["annotations"][8]["problem"] == "died"
    page.context.close()


def test_each_mark_is_saved_at_once_and_says_when(desk: Opened):
    here = desk()
    here.page.get_by_label("After a mark, go to the next open outcome").uncheck()

    here.press("a")

    expect(here.saved_at).to_have_text(re.compile(r"Saved at \d\d:\d\d:\d\d"), timeout=PATIENCE)
    expect(here.page.get_by_role("radio", name="Partial")).to_be_checked()
    expect(here.row(0).get_by_role("img")).to_have_accessible_name("Partial")
    assert here.marks()[0] == "partial"


def test_after_a_mark_it_goes_to_the_next_open_outcome_and_says_which(desk: Opened):
    here = desk()

    here.press("p")

    expect(here.current).to_contain_text("The catalogue lists at least six packets.")
    expect(here.page.locator("[data-said]")).to_have_text(
        "Pass. Next: The catalogue lists at least six packets."
    )


def test_no_key_is_stolen_from_somebody_who_writes_a_note(desk: Opened):
    here = desk()

    here.press("n")
    here.page.keyboard.type("paf jkeu ?123 P")
    here.press("Escape", "Alt+p", "Control+e")
    here.is_all_saved()

    held = here.held()
    assert held["annotations"][0]["note"] == "paf jkeu ?123 P"
    assert [revision["change"] for revision in held["revisions"]] == ["note"]
    expect(here.page.get_by_role("dialog")).to_have_count(0)
    here.press("p")
    expect(here.row(0).get_by_role("img")).to_have_accessible_name("Pass")


def test_a_note_is_saved_while_it_is_written(desk: Opened):
    here = desk()

    here.press("n")
    here.page.keyboard.type("Half a sentence")

    expect(here.page.locator("[data-note-state]")).to_have_text("Saved", timeout=PATIENCE)
    assert here.held()["annotations"][0]["note"] == "Half a sentence"
    assert here.held()["annotations"][0]["mark"] == ""


def test_keys_are_the_persons_own_and_printed_on_their_controls(desk: Opened):
    here = desk("seed_set", keys={"pass": "x", "next": "ArrowRight", "fail": "p"})

    here.press("x", "p", "ArrowRight")
    here.is_all_saved()

    assert here.marks()[:3] == ["pass", "fail", ""]
    expect(here.current).to_contain_text("Borrowing adds the packet")
    expect(here.page.get_by_role("radio", name="Pass").locator("kbd")).to_have_text("x")
    expect(here.page.get_by_role("radio", name="Fail").locator("kbd")).to_have_text("p")


def test_keys_are_off_by_one_switch(desk: Opened):
    here = desk()

    here.press("?")
    here.page.get_by_label("Use keys in this browser").uncheck()
    here.press("Escape", "p", "j")

    expect(here.current).to_contain_text("A catalogue, a search field")
    expect(here.page.get_by_role("radio", name="Pass").locator("kbd")).to_be_hidden()
    assert here.held()["revisions"] == []


def test_a_key_held_down_marks_one_outcome_only(desk: Opened):
    here = desk()

    here.page.keyboard.down("p")
    here.page.keyboard.down("p")
    here.page.keyboard.down("p")
    here.page.keyboard.up("p")
    here.is_all_saved()

    assert here.marks()[:3] == ["pass", "", ""]


def test_undo_goes_back_to_the_beginning_of_the_assignment_also_after_a_reload(desk: Opened):
    here = desk()
    here.press("p", "a", "n")
    here.page.keyboard.type("A note")
    here.press("Escape", "f", "e", " ", "Enter")
    here.pick(0)
    here.press("f")
    here.is_all_saved()
    made = len(here.held()["revisions"])

    here.open()
    here.press(*["u"] * made)
    here.is_all_saved()

    held = here.held()
    assert {(each["mark"], each["note"], each["problem"]) for each in held["annotations"]} == {("", None, "")}
    assert len(held["revisions"]) == 2 * made
    expect(here.page.get_by_role("button", name="Undo")).to_be_disabled()


def test_a_person_returns_to_the_same_outcome_scroll_filter_and_viewport(desk: Opened, site: Site):
    here = desk("long_set", outcomes=12, criteria=8, centre="live")
    here.page.get_by_role("button", name="Phone").click()
    here.pick(70)
    here.page.evaluate("document.querySelector('[data-outcomes]').scrollTop = 1500")
    scroll = here.page.evaluate("document.querySelector('[data-outcomes]').scrollTop")
    here.page.goto("about:blank")
    until(lambda: here.held()["place"].get("scroll") == scroll)

    again = desk(rows=here.rows)

    expect(again.row(70).locator("button")).to_have_attribute("aria-current", "true")
    assert abs(again.page.evaluate("document.querySelector('[data-outcomes]').scrollTop") - scroll) < 2
    expect(again.page.get_by_role("button", name="Phone")).to_have_attribute("aria-pressed", "true")


def test_submit_says_how_many_are_open_and_jumps_to_the_first(desk: Opened):
    here = desk()
    here.press(*"ppp", "j", *"ppp")
    submit = here.page.get_by_role("button", name="Submit")
    expect(submit).to_have_text("Submit: 8 still open")

    submit.click()

    expect(here.current).to_contain_text("Borrowing adds the packet to the basket.")
    expect(here.page.locator("[data-said]")).to_have_text("8 still open. This is the first.")
    expect(here.page.get_by_role("dialog")).to_have_count(0)
    assert here.held()["state"] == "open"
    submit.click()
    expect(here.page.locator("[data-toast]")).to_contain_text(
        "8 still open, the first is in hand: Borrowing adds the packet to the basket."
    )


def test_an_environment_problem_needs_its_reason_and_is_no_fail(desk: Opened):
    here = desk()

    here.page.get_by_role("button", name="Environment problem").click()
    here.page.get_by_role("radio", name="Something else, see below").check()
    here.page.get_by_role("button", name="Flag the problem").click()
    expect(here.page.get_by_role("alert")).to_contain_text("needs a sentence")
    here.page.get_by_label("What happened").fill("The power went.")
    here.page.get_by_role("button", name="Flag the problem").click()
    here.is_all_saved()

    first = here.held()["annotations"][0]
    assert (first["mark"], first["problem"], first["problem_text"]) == ("error", "other", "The power went.")
    expect(here.row(0)).to_contain_text("env")
    here.pick(0)
    expect(here.page.locator("[data-problem-words]")).to_have_text("Something else: The power went.")


def test_the_list_shows_what_is_open_and_what_has_a_note(desk: Opened):
    here = desk()
    here.press("p", "n")
    here.page.keyboard.type("Look again")
    here.press("Escape")

    here.page.get_by_role("button", name="Open 13").click()
    expect(here.row(0)).to_be_hidden()
    expect(here.row(2)).to_be_visible()
    here.page.get_by_role("button", name="Noted 1").click()

    expect(here.page.locator("[data-annotation]:visible")).to_have_count(1)


def test_panes_are_made_wider_by_arrow_keys_and_stay_so(desk: Opened):
    here = desk()
    splitter = here.page.get_by_role("separator", name="Width of the list")
    expect(splitter).to_have_attribute("aria-valuenow", "292")

    splitter.focus()
    here.press("ArrowRight", "ArrowRight")
    here.open()

    expect(splitter).to_have_attribute("aria-valuenow", "324")
    assert here.page.locator("[data-list]").evaluate("pane => pane.offsetWidth") == 324


def test_panes_are_dragged_over_the_frame(desk: Opened):
    here = desk()
    splitter = here.page.get_by_role("separator", name="Width of the judgement")
    box = splitter.bounding_box()
    assert box is not None

    here.page.mouse.move(box["x"] + 2, box["y"] + 300)
    here.page.mouse.down()
    here.page.mouse.move(box["x"] - 98, box["y"] + 320, steps=5)
    here.page.mouse.up()

    expect(splitter).to_have_attribute("aria-valuenow", "472")


def test_ratings_are_numbers_within_their_scale(desk: Opened):
    here = desk("rated_set")
    box = here.page.get_by_label("Your rating")

    box.fill("140")
    here.press("Enter")
    expect(here.page.get_by_role("alert")).to_have_text("Give a number from 0 to 100.")
    box.fill("72.5")
    here.press("Enter")
    expect(here.page.locator("[data-text]")).to_contain_text("How good is design?")
    here.is_all_saved()
    assert [each["score"] for each in here.held()["annotations"]] == [72.5, None]
    # The field of the next one has the focus already.
    here.page.keyboard.type("80")
    here.press("Enter")
    here.is_all_saved()

    assert [each["score"] for each in here.held()["annotations"]] == [72.5, 80]


def test_time_counts_for_the_outcome_that_was_in_hand(desk: Opened):
    here = desk()

    here.press("j")
    here.page.wait_for_timeout(1500)
    here.press("j")

    until(lambda: here.held()["annotations"][1]["active_ms"] >= 1000)
    assert here.held()["annotations"][3]["active_ms"] == 0


def test_the_guideline_is_text_and_its_version_is_said(desk: Opened):
    here = desk("seed_set", guideline="First line\n<b>second</b>")

    here.page.get_by_text("Guideline v2").click()

    expect(here.page.locator(".conventions .given-text").first).to_have_text(
        "First line\n<b>second</b>", use_inner_text=True
    )


def test_a_guideline_that_changes_while_somebody_marks_is_said_and_opened(desk: Opened, site: Site):
    here = desk("seed_set", guideline="Count what is there.")
    here.press("p")

    site.scene(
        "console_scenes.write_guideline", assignment=here.rows["assignment"], text="<i>Grey</i> is hidden."
    )

    guideline = here.page.locator("[data-guideline]")
    expect(guideline.locator("summary")).to_have_text("Guideline v3 – changed just now", timeout=PATIENCE)
    expect(guideline.get_by_text("<i>Grey</i> is hidden.")).to_be_visible()
    expect(here.page.locator("[data-said]")).to_contain_text("The guideline was changed")
    expect(here.current).to_contain_text("at least six packets")


def test_a_question_to_the_lead_is_kept_until_it_was_sent(desk: Opened, site: Site):
    here = desk()
    here.page.get_by_text("Ask the lead").click()
    words = here.page.get_by_label("Your question or answer")
    here.context.set_offline(True)
    words.fill("Does a greyed-out button count?")
    here.page.get_by_role("button", name="Send").click()
    expect(here.page.get_by_role("alert")).to_contain_text("Not sent, and kept here", timeout=PATIENCE)
    here.context.set_offline(False)
    here.press("Escape", "j", "k")

    expect(words).to_have_value("Does a greyed-out button count?")
    here.page.get_by_role("button", name="Send").click()

    expect(here.page.locator("[data-talk-said]")).to_contain_text(
        "Does a greyed-out button count?", timeout=PATIENCE
    )
    expect(words).to_have_value("")
    site.scene("console_scenes.answer", assignment=here.rows["assignment"], text="Yes.")
    here.open()
    expect(here.page.locator("[data-talk-said] li")).to_have_count(2, timeout=PATIENCE)


def test_thousands_of_outcomes_can_be_marked(desk: Opened):
    here = desk("long_set", outcomes=25, criteria=80)

    here.press("p", "p", "Shift+J", "f")
    here.is_all_saved()

    marks = here.marks()
    assert len(marks) == 2000
    assert [place for place, mark in enumerate(marks) if mark] == [0, 1, 25]


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"narrow": True}], ids=["light", "dark", "narrow"])
def test_the_console_is_fit_for_everybody(desk: Opened, look: dict[str, bool]):
    here = desk(**look, guideline="Mark what you see.", centre="live")
    expect(here.page.locator("[data-frame]")).to_be_visible(timeout=PATIENCE)
    here.press("p", "a", "f")
    until(lambda: here.marks()[2] == "fail")

    assert looks.overflow(here.page) <= 0
    assert here.page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0
    expect(here.page.locator("h1")).to_have_count(1)
    assert looks.faults(here.page) == []
    here.press("?")
    assert looks.faults(here.page) == []


def test_below_720_pixels_the_list_and_the_note_are_sheets_and_marks_stand_under_the_thumb(desk: Opened):
    here = desk(narrow=True)

    here.page.get_by_role("radio", name="Fail").click()
    here.page.get_by_role("button", name="Note").click()
    here.page.get_by_role("textbox", name="Note").fill("On the phone")
    here.page.get_by_role("button", name="Close").click()
    here.page.get_by_role("button", name="Outcomes").click()
    here.row(4).locator("button").click()
    here.page.get_by_role("radio", name="Pass").click()

    until(lambda: here.marks()[4] == "pass")
    held = here.held()["annotations"]
    assert (held[0]["mark"], held[1]["note"]) == ("fail", "On the phone")


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
def test_what_is_hidden_can_be_revealed_from_the_console_which_says_so_afterwards(desk: Opened, narrow: bool):
    here = desk(narrow=narrow)

    here.page.get_by_role("link", name="Blind: reveal…").click()
    here.page.get_by_label("Why it is revealed").fill("Nothing can be told without it.")
    here.page.get_by_role("button", name="Reveal").click()
    expect(here.page.get_by_role("heading", level=1)).to_contain_text("Revealed", timeout=PATIENCE)
    here.page.get_by_role("link", name="Back to the set").click()

    expect(here.page.get_by_role("link", name="Revealed")).to_be_visible(timeout=PATIENCE)
    expect(here.page.get_by_text("Blind", exact=False)).to_have_count(0)
    assert looks.overflow(here.page) <= 0


def test_nothing_of_a_set_that_was_taken_back_looks_as_if_it_could_be_changed(desk: Opened, site: Site):
    here = desk()
    here.press("p")
    here.is_all_saved()
    site.scene("console_scenes.expire", assignment=here.rows["assignment"])
    here.open()

    for name in ("Undo", "Choose a file", "Capture", "Next open"):
        expect(here.page.get_by_role("button", name=name)).to_have_count(0)
    expect(here.page.get_by_text("Kept while you type")).to_be_hidden()
    here.press("n", "j")
    expect(here.current).to_contain_text("A month selector")


def test_a_picture_that_the_site_refuses_can_be_removed(desk: Opened):
    here = desk()
    broken: FilePayload = {"name": "broken.png", "mimeType": "image/png", "buffer": b"no picture at all"}
    here.page.get_by_label("Choose pictures").set_input_files([broken])
    expect(here.page.locator(".picture--refused")).to_be_visible(timeout=PATIENCE)

    here.page.get_by_role("button", name="Remove screenshot 1").click()

    expect(here.page.locator(".picture--refused")).to_have_count(0)
    expect(here.page.locator("[data-toast]")).to_be_hidden()
    here.open()
    expect(here.page.locator(".picture--refused")).to_have_count(0)
