"""The first page: for a newcomer, and once runs exist."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from benchmark.rules.vocabulary import RunState, TrialState
from tests.browser import stage_set
from tests.browser.looks import faults, overflow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_a_newcomer_sees_three_steps_and_no_fault(open_page, width, scheme):
    page = open_page("/", width=width, scheme=scheme)

    assert page.get_by_role("heading", level=2).all_inner_texts()[:3] == [
        "Bring in a benchmark",
        "Launch a run",
        "Read the results",
    ]
    assert faults(page) == []
    assert overflow(page) == 0


@pytest.mark.parametrize(("width", "scheme"), [(1440, "dark"), (390, "light")])
def test_what_runs_and_what_is_new_stand_on_the_first_page(open_page, width, scheme):
    small = stage_set.benchmark(tasks=("seed-library", "score-atlas"), rubric=stage_set.RUBRIC[:6])
    stage_set.finished_runs(small)
    live = stage_set.run(small, agent="marlin-xl", state=RunState.RUNNING)
    stage_set.trial(live, "seed-library", ["pppppp"], with_evidence=False)
    stage_set.trial(live, "score-atlas", state=TrialState.PAUSED, trouble="The browser closed three times.")

    page = open_page("/", width=width, scheme=scheme)

    expect(page.get_by_role("link", name=f"Open run {live.pk}")).to_be_visible()
    expect(page.get_by_text("1 of 2 trials finished").first).to_be_visible()
    assert faults(page) == []
    assert overflow(page) == 0
