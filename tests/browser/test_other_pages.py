"""First page, list of runs, launch form, results and error pages, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


@pytest.mark.parametrize("path", ["/", "/runs/", "/runs/launch/", "/results/"])
def test_the_page_is_fit_for_everybody(site, is_fit, path):
    is_fit(path)


@pytest.mark.parametrize(("keys", "place"), [("gr", "/runs/"), ("gb", "/benchmarks/"), ("gs", "/results/")])
def test_two_keys_go_to_each_area(site, visit, keys, place):
    page = visit().open("/")

    for key in keys:
        page.keyboard.press(key)

    page.wait_for_url(lambda address: place in address)


def test_the_search_key_is_not_taken_while_a_field_has_the_focus(site, visit):
    page = visit().open("/runs/")

    page.keyboard.press("/")
    page.keyboard.type("g r/x")

    expect(page.get_by_role("searchbox", name="Find runs")).to_have_value("g r/x")


def test_an_address_of_nothing_names_the_request_and_a_way_on(site, visit):
    visitor = visit()

    response = visitor.page.goto(f"{site.address}/runs/999999/")

    assert response is not None
    assert response.status == 404
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Nothing is here")
    assert response.headers["x-request-id"] in visitor.page.content()
    expect(visitor.page.get_by_role("link", name="Go to the first page")).to_be_visible()


def test_the_skip_link_is_the_first_stop_and_leads_to_the_content(site, visit):
    page = visit().open("/runs/")

    page.keyboard.press("Tab")
    expect(page.locator(".skip-link")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("main")).to_be_focused()
