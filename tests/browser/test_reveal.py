"""The page of a reveal, in a real browser: it asks for a reason, then shows what was hidden."""

from __future__ import annotations

from playwright.sync_api import expect


def test_a_reveal_asks_why_and_is_fit_for_everybody_before_and_after(site, visit, is_fit):
    path = site.scene("console_scenes.seed_set")["path"] + "reveal/"
    is_fit(path)
    page = visit().open(path)

    page.get_by_label("Why it is revealed").fill("The annotator asked for it")
    page.get_by_role("button", name="Reveal").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("Revealed")
    expect(page.get_by_role("columnheader", name="Judge")).to_be_visible()
    is_fit(path)
