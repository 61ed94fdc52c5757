"""The first page: for a newcomer, and once runs exist."""

from __future__ import annotations

import pytest

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
    stage_set.finished_runs()
    live = stage_set.live_run()

    page = open_page("/", width=width, scheme=scheme)

    assert page.get_by_role("link", name=f"Open run {live.pk}").is_visible()
    assert page.get_by_text("6 of 12 trials finished").first.is_visible()
    assert faults(page) == []
    assert overflow(page) == 0
