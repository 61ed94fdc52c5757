"""The own account and the log of the site, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.looks import faults, overflow
from tests.browser.person import PASSWORD


@pytest.fixture(autouse=True)
def no_tokens(site) -> Iterator[None]:
    """Leave no token for whoever comes next."""
    yield
    site.scene("account_scenes.clear")


def test_the_account_and_the_password_page_are_fit_for_everybody(site, is_fit):
    site.scene("account_scenes.some_tokens")

    is_fit("/account/")
    is_fit("/account/password/")


def test_a_token_is_made_shown_once_and_revoked(site, visit):
    page = visit().open("/")
    page.get_by_label("Menu").click()
    page.get_by_role("link", name="Account").click()

    page.get_by_label("What it is for").fill("nightly results")
    page.get_by_label("Launch, cancel and retry runs").check()
    page.get_by_role("button", name="Make the token").click()

    shown = page.get_by_label("Token", exact=True)
    expect(shown).to_have_value(re.compile(r"^proofroom_[\w-]{43}$"))
    expect(shown).to_be_focused()
    page.goto(f"{site.address}/account/")
    expect(page.get_by_label("Token", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Revoke nightly results").click()
    expect(page.get_by_role("status")).to_contain_text("nightly results opens nothing any more")


def test_a_form_without_scope_is_refused_in_a_sentence_and_keeps_what_was_typed(site, visit):
    page = visit().open("/account/")

    page.get_by_label("What it is for").fill("nothing")
    page.get_by_label("Read what you may read").uncheck()
    page.get_by_role("button", name="Make the token").click()

    expect(page.get_by_role("alert")).to_contain_text("Choose at least one thing")
    expect(page.get_by_label("What it is for")).to_have_value("nothing")


def test_a_wrong_password_so_far_changes_nothing(site, visit):
    page = visit().open("/account/password/")

    page.get_by_label("Password so far").fill("not it")
    page.get_by_label("New password", exact=True).fill("a new pass phrase")
    page.get_by_label("New password again").fill("a new pass phrase")
    page.get_by_role("button", name="Change password").click()

    expect(page.get_by_role("alert")).to_contain_text(
        "Nothing was changed. This is not your password so far."
    )


def test_an_administrator_reads_and_narrows_the_log(site, browser: Browser):
    name = site.scene("account_scenes.administrator")["name"]
    page = browser.new_context().new_page()
    page.goto(f"{site.address}/sign-in/?next=/log/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    page.get_by_label("What").select_option(label="revealed what blindness hides")
    page.get_by_role("button", name="Show", exact=True).click()

    expect(page.locator("[data-row]").first).to_contain_text("I had to see it")
    expect(page.locator("[data-row]", has_not_text="revealed what blindness hides")).to_have_count(0)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{site.address}/log/")
        assert overflow(page) <= 0
        for scheme in ("light", "dark"):
            # Colours on their way from one scheme to the other are in neither.
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert not (found := faults(page)), f"{width} {scheme}: {found}"
    page.context.close()
