"""The views of a trial, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect


def _trial(site) -> str:
    return f"/runs/{site.rows['finished'][0]}/trials/{site.rows['trial']}/"


@pytest.mark.parametrize("view", ["rounds", "compare", "code", "transcript", "graph", "preview"])
def test_each_view_is_fit_for_everybody(site, is_fit, view):
    is_fit(f"{_trial(site)}?view={view}&round=2")


def test_a_paused_trial_says_that_the_bench_is_at_fault_and_the_way_on(site, visit):
    page = visit().open(f"/runs/{site.rows['live']}/trials/{site.rows['paused_trial']}/")

    notice = page.locator(".notice--trouble")
    expect(notice).to_contain_text("Paused: the bench could not go on.")
    expect(notice).to_contain_text("The browser closed three times")


def test_a_trial_without_a_round_says_what_it_waits_for(site, visit):
    page = visit().open(f"/runs/{site.rows['live']}/trials/{site.rows['queued_trial']}/")

    expect(page.get_by_role("heading", name="No round yet")).to_be_visible()


def test_a_failed_outcome_shows_its_picture_with_the_touched_place_and_what_was_read(site, visit):
    page = visit().open(f"{_trial(site)}?round=1&criterion=c13")
    verdict = page.locator(".verdict").first

    expect(verdict).to_contain_text("Expected at most 5 packets in the basket; it held 6.")
    picture = verdict.get_by_role("img", name=re.compile("The page when outcome 1"))
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1280
    expect(verdict.locator(".shot__box rect")).to_have_attribute("x", "1117.0")
    expect(verdict.locator("figcaption")).to_contain_text("6 packets")


def test_console_and_network_logs_are_read_in_place_with_control_characters_shown(site, visit):
    page = visit().open(f"{_trial(site)}?round=1&criterion=c13")
    verdict = page.locator(".verdict").first

    verdict.get_by_text("Console").click()
    verdict.get_by_text("Network").click()

    expect(verdict.locator("pre").nth(0)).to_contain_text("error: packet.left is undefined␛[0m")
    expect(verdict.locator("pre").nth(1)).to_contain_text("404 GET /seeds.json")
    expect(verdict).to_contain_text("2 requests to other hosts were held back.")


def test_choosing_a_criterion_changes_the_panel_and_the_address(site, visit):
    page = visit().open(f"{_trial(site)}?round=1")

    page.get_by_role("link", name=re.compile("Search by name")).click()

    expect(page.locator("#panel-title")).to_have_text("Search by name")
    expect(page).to_have_url(re.compile("criterion=c2"))
    page.reload()
    expect(page.locator("#panel-title")).to_have_text("Search by name")


def test_keys_walk_criteria_rounds_and_views(site, visit):
    page = visit().open(f"{_trial(site)}?round=1")

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("criterion="))
    page.keyboard.press("]")
    expect(page.locator(".timeline__round[aria-current]")).to_contain_text("Round 2")
    page.keyboard.press("v")

    expect(page).to_have_url(re.compile("view=compare"))


def test_a_comparison_groups_criteria_and_ties_feedback_only_as_likely(site, visit):
    page = visit().open(f"{_trial(site)}?view=compare&first=1&second=2&criterion=c13")

    expect(page.locator(".compare-bar")).to_contain_text("3 newly reachable")
    expect(page.locator(".pair__side")).to_have_count(4)
    expect(page.get_by_text("Feedback after round 1")).to_be_visible()
    expect(page.locator(".chain")).to_contain_text(re.compile("likely speaks of|No sentence shares"))
    expect(page.locator(".chain__edit")).to_contain_text("src/basket.js")


def test_code_between_rounds_carries_its_signs_as_text(site, visit):
    page = visit().open(f"{_trial(site)}?view=code&round=2")

    difference = page.get_by_role("region", name="Difference of src/basket.js")
    expect(difference.locator("tr.added .sign").first).to_have_text("+")


def test_evidence_is_served_as_inert_bytes(site, visit):
    page = visit().open("/runs/")
    headers = "async (path) => Object.fromEntries((await fetch(path)).headers)"

    picture = page.evaluate(headers, f"/runs/evidence/{site.rows['picture']}/")
    actions = page.evaluate(headers, f"/runs/evidence/{site.rows['actions']}/")

    assert picture["content-type"] == "image/png"
    assert "content-disposition" not in picture
    assert actions["content-type"] == "application/octet-stream"
    assert actions["content-disposition"].startswith("attachment")
    for answer in (picture, actions):
        assert answer["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer["content-security-policy"]


def test_a_preview_runs_on_an_origin_of_its_own_and_says_where_keys_go(site, visit):
    page = visit().open(f"{_trial(site)}?round=2")

    page.get_by_role("button", name="Open preview").click()
    frame = page.locator("iframe")
    expect(frame).to_be_visible(timeout=30_000)

    assert frame.get_attribute("sandbox") == (
        "allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-downloads"
    )
    source = frame.get_attribute("src") or ""
    assert source.split("/")[2] != site.address.split("/")[2]
    assert source.split("/")[2].endswith(site.address.split("/")[2])
    expect(page.frame_locator("iframe").get_by_role("heading", name="Seed library")).to_be_visible()
    badge = page.locator("[data-focus-badge]")
    expect(badge).to_contain_text("Keys stay here")
    page.frame_locator("iframe").locator("body").click()
    expect(badge).to_contain_text("Keys go to the app")
    page.locator("h1").hover()
    expect(badge).to_contain_text("Keys stay here")


def test_a_stopped_preview_says_so_and_can_be_started_again(site, visit):
    page = visit().open(f"{_trial(site)}?round=1")
    page.get_by_role("button", name="Open preview").click()
    expect(page.locator("iframe")).to_be_visible(timeout=30_000)

    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_role("heading", name="Stopped")).to_be_visible()
    expect(page.get_by_role("button", name="Start again")).to_be_visible()


def test_an_unknown_preview_is_expired_not_an_error(site, visit):
    page = visit().open(f"{_trial(site)}?view=preview&round=1&preview=p-long-gone")

    expect(page.get_by_role("heading", name="Expired")).to_be_visible()


def test_an_agents_words_are_never_markup(site, visit):
    rows = site.scene("hostile_texts")
    visitor = visit()

    for view in ("rounds", "transcript", "compare"):
        page = visitor.open(f"/runs/{rows['run']}/trials/{rows['trial']}/?view={view}")

        assert page.title() != "owned"
        expect(page.locator("main img[src=x]")).to_have_count(0)
    assert visitor.complaints == []
