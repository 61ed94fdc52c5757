"""Key settings, in a real browser: pressed, typed without scripts, refused, switched off, used elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture(autouse=True)
def delivered_keys(site) -> Iterator[None]:
    """Leave the keys as they were delivered for whoever comes next."""
    yield
    site.scene("deliver_keys")


def row(page: Page, words: str) -> Page:
    return page.locator(".key-list__row", has=page.get_by_text(words, exact=True))  # type: ignore[return-value]


def test_the_page_is_fit_for_everybody(site, is_fit):
    is_fit("/keys/")


def test_a_key_is_set_by_pressing_it_and_works_from_then_on(site, visit):
    page = visit().open("/keys/")

    row(page, "Go to benchmarks").get_by_role("button", name="Press").click()
    page.keyboard.press("g")
    page.keyboard.press("x")

    expect(
        page.get_by_role("status").filter(has_text="Go to benchmarks has the key g x now.")
    ).to_be_visible()
    page.goto(f"{site.address}/runs/")
    for key in "gx":
        page.keyboard.press(key)
    page.wait_for_url("**/benchmarks/")


def test_a_pressed_key_does_nothing_else_while_it_is_set(site, visit):
    page = visit().open("/keys/")
    look = page.evaluate("document.documentElement.dataset.theme ?? ''")

    row(page, "Next row").get_by_role("button", name="Press").click()
    page.keyboard.press(".")

    expect(page.get_by_role("alert")).to_contain_text(". already means 'Light or dark'")
    assert page.evaluate("document.documentElement.dataset.theme ?? ''") == look


def test_escape_leaves_a_key_as_it_was(site, visit):
    page = visit().open("/keys/")
    button = row(page, "Next row").get_by_role("button", name="Press")

    button.click()
    expect(button).to_have_text("Press a key")
    page.keyboard.press("Escape")

    expect(button).to_have_text("Press the key for Next row")
    expect(row(page, "Next row").get_by_role("textbox")).to_have_value("j")


def test_without_scripts_a_key_is_typed_by_its_name(site, visit):
    page = visit(java_script_enabled=False).open("/keys/")

    row(page, "Next row").get_by_role("textbox").fill("n")
    row(page, "Next row").get_by_role("button", name="Set").click()
    expect(page.get_by_text("Next row has the key n now.")).to_be_visible()
    row(page, "Next row").get_by_role("button", name="Reset").click()

    expect(page.get_by_text("Next row has j again.")).to_be_visible()


def test_another_key_walks_the_rows_and_the_old_one_no_longer(site, visit):
    page = visit().open("/keys/")
    row(page, "Next row").get_by_role("textbox").fill("n")
    row(page, "Next row").get_by_role("button", name="Set").click()
    page.wait_for_url("**/keys/#key-next-row")
    page.goto(f"{site.address}/benchmarks/")

    page.keyboard.press("j")
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("n")

    expect(page.locator("[data-row] a").first).to_be_focused()


def test_single_keys_of_the_account_are_switched_off_in_every_browser(site, visit):
    page = visit().open("/keys/")
    page.get_by_label("Use single keys").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Single keys do nothing for your account.")).to_be_visible()

    elsewhere = visit().open("/runs/")
    elsewhere.keyboard.press("/")

    assert elsewhere.evaluate("document.activeElement === document.body")
