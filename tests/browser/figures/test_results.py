"""The results page as a person meets it: wide and narrow, light and dark, by keys, without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from runs.models import Run
from tests.browser import stage_set
from tests.browser.looks import faults, overflow, smallest_words

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def runs(transactional_db) -> list[Run]:
    small = stage_set.benchmark(
        "seed-race", tasks=("seed-library", "score-atlas"), rubric=stage_set.RUBRIC[:6]
    )
    return stage_set.finished_runs(small)


def address(runs: list[Run]) -> str:
    return f"/results/?benchmark={runs[0].benchmark_id}"


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_results_have_no_serious_fault_and_fit_the_window(runs, open_page, width, scheme):
    page = open_page(address(runs), width=width, scheme=scheme)
    page.locator("details.fold").first.evaluate("each => each.open = true")

    assert faults(page) == []
    assert overflow(page) == 0
    assert smallest_words(page) >= 12


def test_each_figure_is_drawn_once_for_each_width_and_says_what_it_shows(runs, open_page):
    page = open_page(address(runs))

    charts = page.locator("main svg.chart:visible")
    expect(charts).to_have_count(2)
    assert "heron-2:" in (charts.first.get_attribute("aria-label") or "")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(charts).to_have_count(2)
    for chart in charts.all():
        expect(chart).to_have_attribute("width", "340")


def test_a_figures_numbers_unfold_below_it(runs, open_page):
    page = open_page(address(runs))

    page.get_by_text("The numbers").first.click()

    expect(page.get_by_role("columnheader", name="Round 3").first).to_be_visible()


def test_switches_work_without_javascript(runs, open_page):
    page = open_page(address(runs), script=False)

    page.get_by_role("link", name="This round alone").click()

    page.wait_for_url("**figure=state*")
    expect(page.get_by_role("columnheader", name="Task Pass Rate, this round")).to_be_visible()
    page.get_by_role("navigation", name="After round").get_by_role("link", name="1").click()
    expect(page.get_by_text("As it stood after round 1.")).to_be_visible()


def test_compare_selected_leaves_the_ticked_runs(runs, open_page):
    page = open_page(address(runs))

    page.get_by_label("Select tern-9b").uncheck()
    page.get_by_role("button", name="Compare selected").click()

    expect(page.locator("table.leaders tbody tr")).to_have_count(2)
    expect(page.get_by_text("tern-9b")).to_have_count(0)


def test_keys_walk_the_rows_and_tick_a_run(runs, open_page):
    page = open_page(address(runs))

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")

    boxes = page.locator("table.leaders input[type=checkbox]")
    expect(boxes.and_(page.locator(":not(:checked)"))).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*/")


def test_a_number_of_a_task_leads_to_its_trial(runs, open_page):
    page = open_page(address(runs))

    page.locator("section[aria-labelledby=table-tasks] td a").first.click()

    page.wait_for_url("**/trials/*/")


def test_a_file_of_the_results_is_handed_out(runs, open_page):
    page = open_page(address(runs))

    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as given:
        page.get_by_role("link", name="LaTeX", exact=True).first.click()

    assert given.value.suggested_filename.endswith(".tex")
