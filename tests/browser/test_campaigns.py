"""Campaigns, their progress, disagreements and one's own sets, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.campaign_stage import NAMES, PASSWORD
from tests.browser.conftest import NARROW, WIDE, Site

LONG = 60_000


@pytest.fixture(scope="module")
def rows(site: Site) -> dict[str, Any]:
    """Campaigns on the stage: one for each state that a page shows."""
    return site.scene("campaigns")


@pytest.fixture
def annotator(site: Site, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open windows of a person who only annotates."""
    contexts = []

    def opened(path: str, **options: Any) -> Page:
        context = browser.new_context(**({"viewport": WIDE} | options))
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{site.address}/sign-in/?next={path}")
        page.get_by_label("Name").fill(NAMES[0])
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(site.address + path, timeout=LONG)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ("draft", "/campaigns/"),
        ("draft", "/campaigns/new/"),
        ("draft", "/campaigns/{}/edit/"),
        ("draft", "/campaigns/{}/edit/?check=1"),
        ("draft", "/campaigns/{}/open/"),
        ("draft", "/campaigns/{}/calibration/"),
        ("at_work", "/campaigns/{}/"),
        ("at_work", "/campaigns/{}/?sets=open"),
        ("at_work", "/campaigns/{}/edit/"),
        ("at_work", "/campaigns/{}/disagreements/"),
        ("at_work", "/campaigns/{}/disagreements/?between=judge&settled=any"),
        ("at_work", "/campaigns/{}/comments/"),
        ("free", "/campaigns/{}/"),
        ("free", "/campaigns/{}/disagreements/"),
        ("draft", "/annotation/"),
    ],
)
def test_the_page_is_fit_for_everybody(rows, is_fit, row, path):
    is_fit(path.format(rows[row]))


def test_choices_longer_than_their_window_are_fit_for_everybody_and_scroll_by_keyboard(site, visit, is_fit):
    of = site.scene("crowd")["run"]
    path = f"/campaigns/new/?runs={of}"

    is_fit(path)
    page = visit().open(path)
    page.get_by_text("Tasks: all").click()

    for name in ("Runs", "Tasks", "Annotators"):
        choice = page.locator(f".pick-list[aria-label={name}]")
        choice.focus()
        page.keyboard.press("End")
        expect(choice.get_by_role("checkbox").last).to_be_in_viewport()


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, {"viewport": NARROW}])
def test_the_sets_of_an_annotator_are_fit_for_everybody(rows, annotator, options):
    page = annotator("/annotation/", **options)

    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    found = [
        each["id"]
        for each in Axe().run(page).response["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    assert wider <= 0
    assert found == []


def test_an_annotator_sees_only_the_way_to_the_own_sets(rows, annotator):
    page = annotator("/annotation/")

    expect(page.get_by_role("navigation", name="Main").get_by_role("link")).to_have_text(["Annotation"])


def test_two_keys_go_to_annotation_and_one_key_continues(rows, annotator, site):
    page = annotator("/annotation/")
    first = page.locator("[data-key=continue]").get_attribute("href")

    page.keyboard.press("g")
    page.keyboard.press("a")
    page.wait_for_url(f"{site.address}/annotation/", timeout=LONG)
    page.keyboard.press("c")

    page.wait_for_url(f"{site.address}{first}", timeout=LONG)


def test_the_count_follows_what_is_ticked_without_a_click_on_anything_else(rows, visit, site):
    page = visit().open("/campaigns/new/")
    expect(page.locator("#plan")).to_contain_text("Choose a run")

    page.locator(f"input[name=runs][value='{site.rows['finished'][-1]}']").check()
    expect(page.locator("#plan")).to_contain_text("Outcomes", timeout=LONG)
    page.get_by_role("group", name="Annotators").get_by_role("checkbox").first.check()
    page.get_by_text("So many of each project").click()
    page.get_by_label("Outcomes of each").fill("1")
    page.get_by_role("textbox", name="Seed").fill("5")

    expect(page.locator(".plan__figures dd").first).to_have_text("6", timeout=LONG)


def test_fields_that_a_choice_does_not_ask_for_are_out_of_sight_and_nothing_typed_is_lost(rows, visit):
    page = visit().open("/campaigns/new/")
    page.get_by_text("Ratings of a whole trial").click()
    page.get_by_role("textbox", name="Title").first.fill("Design")

    page.get_by_text("Two marks").click()
    expect(page.get_by_role("textbox", name="Title").first).to_be_hidden()
    page.get_by_label("Name", exact=True).fill("Kept")
    page.get_by_label("People for each").fill("0")
    page.get_by_role("button", name="Save draft").click()

    expect(page.get_by_role("alert")).to_contain_text("it takes a whole number from 1 to 50")
    page.get_by_text("Ratings of a whole trial").click()
    expect(page.get_by_role("textbox", name="Title").first).to_have_value("Design")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Kept")


def test_tasks_can_be_chosen_once_their_run_is(rows, visit, site):
    page = visit().open("/campaigns/new/")
    page.locator(f"input[name=runs][value='{site.rows['finished'][-1]}']").check()
    expect(page.locator("#plan")).to_contain_text("Outcomes", timeout=LONG)

    page.get_by_text("Tasks: all").click()
    page.get_by_role("group", name="Tasks").get_by_role("checkbox").first.check()

    expect(page.locator("#task-choice summary")).to_have_text("Tasks: 1 chosen", timeout=LONG)
    expect(page.get_by_role("group", name="Tasks").get_by_role("checkbox").first).to_be_checked()


def test_a_campaign_is_opened_only_after_a_question(rows, visit, site):
    page = visit().open(f"/campaigns/{site.scene('draft_campaign')['draft']}/edit/")

    page.get_by_role("button", name="Open campaign…").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Open Village study?")
    expect(page.get_by_role("link", name="Back to the draft")).to_be_focused()
    page.get_by_role("button", name="Open campaign").click()

    expect(page.get_by_role("status")).to_contain_text("its sample is drawn", timeout=LONG)


def test_a_disagreement_is_settled_with_keys_alone_and_shows_names_only_then(rows, visit):
    page = visit().open(f"/campaigns/{rows['at_work']}/disagreements/")
    expect(page.get_by_role("article").first).to_contain_text("Rater A")
    for name in NAMES:
        expect(page.get_by_text(name)).to_have_count(0)
    first = page.get_by_role("heading", level=2).first.inner_text()

    page.keyboard.press("n")
    page.keyboard.type("pf: typed, not marked")
    page.keyboard.press("Escape")
    page.keyboard.press("f")

    expect(page.get_by_role("heading", name="Settled")).to_be_visible(timeout=LONG)
    expect(page.get_by_role("heading", level=2).first).to_have_text(first)
    expect(page.locator(".settled")).to_contain_text("pf: typed, not marked")
    expect(page.get_by_role("article").first).to_contain_text("annotator-")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your mark")).to_be_visible(timeout=LONG)


def test_the_second_of_two_leads_sees_the_first_ones_mark_and_keeps_the_own_words(rows, visit):
    address = f"/campaigns/{rows['at_work']}/disagreements/"
    mine = visit().open(address)
    theirs = visit().open(address)
    theirs.get_by_label("Note").fill("I was first.")
    theirs.get_by_role("button", name="Pass").click()
    expect(theirs.get_by_role("heading", name="Settled")).to_be_visible(timeout=LONG)

    mine.get_by_label("Note").fill("My reasons.")
    mine.get_by_role("button", name="Fail").click()

    expect(mine.get_by_role("alert")).to_contain_text("settled this as Pass", timeout=LONG)
    expect(mine.get_by_role("alert")).to_contain_text("I was first.")
    expect(mine.get_by_label("Note")).to_have_value("My reasons.")
    mine.get_by_role("button", name="Fail").click()
    expect(mine.locator(".settled")).to_have_count(2, timeout=LONG)


def test_a_set_that_stands_still_is_released_from_the_campaigns_page(rows, visit):
    page = visit().open(f"/campaigns/{rows['at_work']}/?sets=idle")

    page.get_by_role("button", name="Release set").first.click()

    expect(page.get_by_role("status")).to_contain_text("is free again", timeout=LONG)


def test_closing_asks_with_the_safe_answer_in_focus(rows, visit):
    page = visit().open(f"/campaigns/{rows['free']}/")

    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Close…").click()
    expect(page.get_by_role("button", name="Keep it open")).to_be_focused()
    page.keyboard.press("Escape")

    expect(page.locator("#ask-close")).to_be_hidden()
