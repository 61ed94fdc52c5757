"""What pages say of how a run was held, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def bare(site):
    return site.scene("without_sandbox")


def _trial(bare, number: int) -> str:
    return f"/runs/{bare['run']}/trials/{bare['trial']}/?round={number}"


def test_the_containment_of_a_round_is_fit_for_everybody(bare, is_fit):
    is_fit(_trial(bare, 1))


def test_a_run_without_a_sandbox_says_so_in_words_and_by_a_shape(bare, visit):
    page = visit().open(f"/runs/{bare['run']}/")

    notice = page.get_by_role("note").filter(has_text="Made without a sandbox.")
    expect(notice).to_be_visible()
    expect(notice.locator("svg")).to_have_count(1)


def test_the_list_of_runs_marks_only_those_without_a_sandbox(bare, visit):
    page = visit().open("/runs/")

    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=f"Run {bare['run']}", exact=True))
    walled = page.get_by_role("row").filter(
        has=page.get_by_role("link", name=f"Run {bare['walled']}", exact=True)
    )
    expect(row).to_contain_text("made without a sandbox")
    expect(walled).to_be_visible()
    expect(walled).not_to_contain_text("made without a sandbox")


def test_what_was_left_behind_and_met_is_read_on_the_trial_page(bare, visit):
    page = visit().open(_trial(bare, 1))
    card = page.locator("#containment")

    expect(card).to_contain_text("Left behind. The application left 1 process, port 3000, /tmp/kept.")
    expect(card).to_contain_text("The build met its limit of memory: 4.4 GB seen, 4.3 GB allowed.")
    card.get_by_text("Each use").click()
    expect(card.get_by_role("row")).to_have_count(4)


def test_a_round_that_left_nothing_says_it_in_a_line(bare, visit):
    page = visit().open(_trial(bare, 2))

    expect(page.locator("#containment")).to_contain_text("Nothing left behind: no process, no port, no file.")


def test_staff_choose_the_sandbox_on_the_launch_page_and_see_what_works(bare, visit):
    page = visit().open("/runs/launch/")

    page.get_by_role("radio", name="none", exact=False).check()

    expect(page.locator(".launch__end")).to_contain_text("This run is made without a sandbox")
