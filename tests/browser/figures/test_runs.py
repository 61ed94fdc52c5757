"""The list of runs: filters in its address, keys, and the way to a comparison."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from benchmark.rules.vocabulary import RunState, TrialState
from runs.models import Run
from tests.browser import stage_set
from tests.browser.looks import faults, overflow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def runs(transactional_db) -> list[Run]:
    small = stage_set.benchmark(tasks=("seed-library", "score-atlas"), rubric=stage_set.RUBRIC[:6])
    live = stage_set.run(small, agent="marlin-xl", state=RunState.RUNNING)
    stage_set.trial(live, "seed-library", state=TrialState.PAUSED, trouble="The browser closed three times.")
    return [*stage_set.finished_runs(small), live]


@pytest.mark.parametrize(
    ("width", "scheme"), [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]
)
def test_the_list_has_no_serious_fault_and_fits_the_window(runs, open_page, width, scheme):
    page = open_page("/runs/", width=width, scheme=scheme)

    assert faults(page) == []
    assert overflow(page) == 0


def test_a_filter_is_kept_in_the_address_and_can_be_cleared(runs, open_page):
    page = open_page("/runs/", script=False)

    page.get_by_label("State").select_option("finished")
    page.get_by_role("button", name="Filter").click()

    page.wait_for_url("**state=finished*")
    expect(page.locator("[data-row]")).to_have_count(3)
    page.get_by_role("link", name="Clear").click()
    expect(page.locator("[data-row]")).to_have_count(4)


def test_a_filter_without_a_match_says_what_it_is(runs, open_page):
    page = open_page("/runs/?q=walrus")

    expect(page.get_by_text("The filter is text “walrus”.")).to_be_visible()


def test_ticked_runs_are_laid_beside_each_other_by_keys(runs, open_page):
    page = open_page("/runs/?state=finished")

    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Compare selected").click()

    page.wait_for_url("**/results/?**")
    expect(page.locator("table.leaders tbody tr")).to_have_count(2)
