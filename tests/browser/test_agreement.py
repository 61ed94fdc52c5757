"""The agreement page of a campaign and the two calculators, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Site
from tests.browser.looks import smallest_words

LONG = 60_000


@pytest.fixture(scope="module")
def rows(site: Site) -> dict[str, Any]:
    """A campaign of a few projects in which a kind judge and three people differ, and one with ratings."""
    small = {"projects": 4, "agents": 2, "size": 12, "seed": 3}
    return {
        "compared": site.scene("agreement_scenes.compared", **small)["campaign"],
        "rated": site.scene("agreement_scenes.scored", projects=4)["campaign"],
    }


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ("compared", "/campaigns/{}/agreement/?partial=three"),
        ("rated", "/campaigns/{}/agreement/"),
        ("compared", "/agreement/check/?accuracy=93.35&precision=97.37&recall=95.68&f1=96.52&n=3576"),
        ("compared", "/agreement/plan/"),
    ],
)
def test_the_page_is_fit_for_everybody(rows, is_fit, row, path):
    is_fit(path.format(rows[row]))


def test_a_cell_of_the_table_lists_its_outcomes_and_the_list_leads_to_the_evidence(rows, visit, site):
    page = visit().open(f"/campaigns/{rows['compared']}/agreement/")
    cell = page.get_by_role("link", name="people fail, judge pass")
    count = cell.locator("b").inner_text()

    cell.click()
    page.wait_for_url("**people=fail&said=pass#outcomes", timeout=LONG)

    expect(page.locator("#outcomes-title + span")).to_contain_text(f"{count}, people fail, judge pass")
    page.locator("#outcomes").get_by_role("link", name="Adjudicate").first.click()
    page.wait_for_url("**/disagreements/?between=judge&settled=any&item=*", timeout=LONG)
    expect(page.locator("h1")).to_have_text("Disagreements")


def test_keys_fold_partial_go_into_the_cells_and_walk_the_outcomes(rows, visit):
    page = visit().open(f"/campaigns/{rows['compared']}/agreement/")

    page.keyboard.press("b")
    page.wait_for_url("**partial=pass", timeout=LONG)
    page.keyboard.press("c")
    expect(page.locator(".heat__cell").first).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#outcomes [data-row] a").first).to_be_focused()


def test_a_chart_is_shown_at_the_one_size_that_its_card_has_room_for(rows, visit):
    for narrow, width in ((False, "884"), (True, "340")):
        page = visit(narrow=narrow).open(f"/campaigns/{rows['compared']}/agreement/")
        shown = page.locator("#groups svg.agreement-chart:visible")

        expect(shown).to_have_count(1)
        expect(shown).to_have_attribute("width", width)
        assert smallest_words(page) >= 12
