"""Signing in, in a real browser."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Site
from tests.browser.person import NAME, PASSWORD


def test_a_person_returns_to_the_page_that_asked_for_signing_in(site: Site, browser: Browser):
    page = browser.new_context().new_page()
    page.goto(f"{site.address}/runs/")

    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")

    expect(page).to_have_url(f"{site.address}/runs/")
    page.context.close()


def test_a_wrong_password_is_answered_with_a_sentence_and_keeps_the_name(site: Site, browser: Browser):
    page = browser.new_context().new_page()
    page.goto(f"{site.address}/sign-in/")

    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill("not it")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("alert")).to_contain_text("These do not match")
    expect(page.get_by_label("Name")).to_have_value(NAME)
    page.context.close()


def test_the_form_has_nothing_serious_for_axe_in_light_and_dark(site: Site, browser: Browser):
    for scheme in ("light", "dark"):
        page = browser.new_context(color_scheme=scheme).new_page()
        page.goto(f"{site.address}/sign-in/")

        violations = Axe().run(page).response["violations"]

        assert [each["id"] for each in violations if each["impact"] in ("serious", "critical")] == []
        page.context.close()


def test_a_visitor_under_another_host_is_told_the_address_instead_of_a_form(site: Site, browser: Browser):
    page = browser.new_context().new_page()
    port = site.address.rpartition(":")[2]

    response = page.goto(f"http://127.0.0.1:{port}/sign-in/")

    assert response is not None
    assert response.status == 421
    expect(page.get_by_role("heading", level=1)).to_contain_text(site.address)
    expect(page.get_by_role("button", name="Sign in")).to_have_count(0)
    page.context.close()
