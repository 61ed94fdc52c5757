"""The live page of a run, in a real browser with a real socket."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect


def test_the_page_is_fit_for_everybody(site, is_fit):
    is_fit(f"/runs/{site.rows['live']}/")


def test_marks_appear_as_they_come_without_loading_the_page(site, visit):
    rows = site.scene("small_live_run")
    page = visit().open(f"/runs/{rows['run']}/")
    expect(page.locator("[data-live-badge]")).to_have_attribute("data-state", "live", timeout=15_000)
    page.evaluate("window.stillHere = true")

    site.scene("judge_next", trial=rows["trial"], letters="pf")

    cell = page.locator(f"#trial-{rows['trial']} .cell").first
    expect(cell).to_have_attribute("title", "3 pass, 1 fail, 10 waiting", timeout=15_000)
    expect(page.locator("#event-list")).to_contain_text("c3 Sowing month: fail.")
    assert page.evaluate("window.stillHere") is True


def test_the_page_catches_up_by_its_own_cursor_after_the_network_was_gone(site, visit):
    rows = site.scene("small_live_run")
    page = visit().open(f"/runs/{rows['run']}/")
    badge = page.locator("[data-live-badge]")
    expect(badge).to_have_attribute("data-state", "live", timeout=15_000)

    page.context.set_offline(True)
    page.evaluate("window.dispatchEvent(new Event('offline'))")
    site.scene("judge_next", trial=rows["trial"], letters="ppp")
    page.context.set_offline(False)
    page.reload()

    expect(page.locator(f"#trial-{rows['trial']} .cell").first).to_have_attribute(
        "title", "5 pass, 9 waiting", timeout=15_000
    )
    expect(badge).to_have_attribute("data-state", "live", timeout=15_000)


def test_a_finished_run_closes_the_socket_and_offers_its_results(site, visit):
    rows = site.scene("small_live_run")
    page = visit().open(f"/runs/{rows['run']}/")
    expect(page.locator("[data-live-badge]")).to_have_attribute("data-state", "live", timeout=15_000)

    site.scene("finish", run=rows["run"])

    expect(page.locator("[data-live-badge]")).to_have_attribute("data-state", "finished", timeout=15_000)
    expect(page.get_by_role("link", name="Open results")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel run")).to_have_count(0)


def test_new_events_wait_behind_a_count_while_they_are_paused(site, visit):
    rows = site.scene("small_live_run")
    page = visit().open(f"/runs/{rows['run']}/")
    expect(page.locator("[data-live-badge]")).to_have_attribute("data-state", "live", timeout=15_000)
    shown = page.locator("#event-list .event").count()

    page.keyboard.press(" ")
    site.scene("judge_next", trial=rows["trial"], letters="pp")

    button = page.locator("[data-new-events]")
    expect(button).to_have_text("2 new", timeout=15_000)
    expect(page.locator("#event-list .event")).to_have_count(shown)
    button.click()
    expect(page.locator("#event-list .event")).to_have_count(shown + 2)


def test_cancelling_asks_first_and_the_safe_answer_has_the_focus(site, visit):
    rows = site.scene("small_live_run")
    page = visit().open(f"/runs/{rows['run']}/")

    page.get_by_role("button", name="Cancel run").click()
    dialog = page.get_by_role("dialog", name=re.compile("Cancel run"))
    expect(dialog).to_contain_text("Everything recorded stays")
    expect(dialog.get_by_role("button", name="Keep running")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Cancel run").click()
    dialog.get_by_role("button", name="Cancel run").click()

    expect(page.get_by_role("status").filter(has_text="was cancelled")).to_be_visible()
    expect(page.locator("[data-live-badge]")).to_contain_text("Cancelled")
    expect(page.get_by_role("button", name=re.compile("Retry"))).to_be_visible()


def test_cancelling_works_without_javascript(site, visit):
    rows = site.scene("small_live_run")
    page = visit(java_script_enabled=False).open(f"/runs/{rows['run']}/")

    page.get_by_role("button", name="Cancel run").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel run").click()

    expect(page.get_by_text("was cancelled", exact=False).first).to_be_visible()


def test_arrow_keys_walk_the_grid_and_the_row_in_focus_is_drawn(site, visit):
    page = visit().open(f"/runs/{site.rows['live']}/")

    page.locator("tr[data-row] a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")

    expect(page.locator("#graph-title")).to_have_text("score-atlas")
    expect(page.locator("tr[aria-selected=true]")).to_contain_text("score-atlas")
    expect(page.locator("[aria-label*='Round 1']:focus")).to_have_count(1)


@pytest.mark.parametrize(("key", "shown"), [("r", "Rate"), ("t", "Time"), ("m", "Marks")])
def test_a_key_changes_what_the_cells_show(site, visit, key, shown):
    page = visit().open(f"/runs/{site.rows['live']}/?cell={'time' if key == 'm' else 'marks'}")

    page.keyboard.press(key)

    expect(
        page.get_by_role("navigation", name="Cells show").get_by_role("link", name=shown)
    ).to_have_attribute("aria-current", "true")


def test_keys_can_be_switched_off(site, visit):
    page = visit().open(f"/runs/{site.rows['live']}/")

    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.wait_for_timeout(300)

    expect(page.get_by_role("link", name="Rate")).not_to_have_attribute("aria-current", "true")


def test_a_large_run_shows_a_window_with_the_unfinished_first(site, visit):
    rows = site.scene("large_run", trials=60)

    page = visit().open(f"/runs/{rows['run']}/")

    expect(page.locator("tr[data-row]")).to_have_count(50)
    expect(page.locator("tr[data-row]").first).to_contain_text("task-057")
    page.get_by_role("link", name="Next").click()
    expect(page.locator("tr[data-row]")).to_have_count(10)


def test_the_theme_key_is_remembered(site, visit):
    page = visit().open(f"/runs/{site.rows['live']}/")

    page.keyboard.press(".")
    page.reload()

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
