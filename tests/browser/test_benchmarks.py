"""Benchmarks, one benchmark and one task, in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect


def test_the_lists_and_the_task_are_fit_for_everybody(site, is_fit):
    is_fit("/benchmarks/")
    is_fit(f"/benchmarks/{site.rows['benchmark']}/")
    is_fit(f"/benchmarks/{site.rows['benchmark']}/tasks/seed-library/?criterion=c7")


def test_a_task_says_what_the_agent_sees_and_what_it_never_sees(site, visit):
    page = visit().open(f"/benchmarks/{site.rows['benchmark']}/tasks/seed-library/")

    expect(page.get_by_role("region", name="Request")).to_contain_text("what the agent sees")
    hidden = page.get_by_role("region", name="Clarified requirements")
    expect(hidden).to_contain_text("The agent never sees this")
    expect(page.get_by_role("region", name="Rubric")).to_contain_text("The agent never sees this")


def test_a_script_is_told_in_words_and_a_missing_one_is_called_error_not_fail(site, visit):
    page = visit().open(f"/benchmarks/{site.rows['benchmark']}/tasks/seed-library/?criterion=c13")
    row = page.locator("#c-c13")

    row.get_by_text("What the scripted judge does").click()

    expect(row).to_contain_text("Type “bean” into the field “Search seeds”.")
    expect(row).to_contain_text("No script: the scripted judge marks it error, never fail.")


def test_arrow_keys_walk_the_graph_along_prerequisites(site, visit):
    page = visit().open(f"/benchmarks/{site.rows['benchmark']}/tasks/seed-library/")

    page.locator("[data-node=c0]").focus()
    page.keyboard.press("ArrowDown")
    first = page.evaluate("document.activeElement.dataset.node")
    page.keyboard.press("ArrowUp")

    assert first in ("c1", "c2", "c3", "c13")
    expect(page.locator("[data-node='c0']")).to_be_focused()


def test_a_node_opens_its_criterion_in_the_list(site, visit):
    page = visit().open(f"/benchmarks/{site.rows['benchmark']}/tasks/seed-library/")

    page.locator("[data-node=c5]").click()

    expect(page.locator("#c-c5 details").first).to_have_attribute("open", "")


def test_texts_of_a_task_are_never_markup_and_hide_no_control_character(site, visit):
    rows = site.scene("hostile_texts")
    visitor = visit()

    page = visitor.open(f"/benchmarks/{rows['benchmark']}/tasks/seed-library/")

    assert page.title() != "owned"
    expect(page.locator("main img")).to_have_count(0)
    signs = page.get_by_role("region", name="Request").locator(".control-sign").all_inner_texts()
    assert signs == ["␛", "␀", "U+202E"]
    assert visitor.complaints == []


def test_the_page_works_without_javascript(site, visit):
    page = visit(java_script_enabled=False).open(f"/benchmarks/{site.rows['benchmark']}/")

    page.get_by_role("link", name="seed-library").click()
    page.locator("#c-c5 summary").first.click()

    expect(page.locator("#c-c5")).to_contain_text("Borrow a packet: what a person sees is right")
