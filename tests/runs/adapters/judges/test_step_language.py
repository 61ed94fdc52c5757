"""Every step of the language, once as it should be and once as it should not, in a real Chromium."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from benchmark.rules.script_actions import ACTIONS
from benchmark.rules.scripts import script_problems
from benchmark.rules.vocabulary import Mark
from runs.adapters.browsers import FoundBrowser
from runs.adapters.judges.scripted.judge import ScriptedJudge
from runs.adapters.judges.scripted.settings import ScriptedSettings
from runs.ports import OutcomeVerdict
from tests.runs.adapters.judges.conftest import Site, criterion, serving
from tests.runs.adapters.judges.pages import PAGES, SCRIPT_OF_DOWNLOAD

pytestmark = pytest.mark.browser

PASS = ""
"""Where a case says nothing is wrong."""


class Case(NamedTuple):
    """A page, a script on it, and the rationale of its failure."""

    name: str
    page: str
    script: tuple[Mapping[str, Any], ...]
    rationale: str = PASS


CASES = (
    # Finding
    Case("finds by css", "shop", ({"expect_visible": "h1"},)),
    Case("finds by text selector", "shop", ({"expect_visible": "text=Our shop"},)),
    Case("finds by role and name", "shop", ({"expect_visible": {"role": "button", "name": "Add"}},)),
    Case("finds by label", "form", ({"expect_visible": {"label": "Name"}},)),
    Case("finds by placeholder", "form", ({"expect_visible": {"placeholder": "Your name"}},)),
    Case("finds by text", "shop", ({"expect_visible": {"text": "Our shop", "exact": True}},)),
    Case("finds by test id", "shop", ({"expect_visible": {"testid": "cart-count"}},)),
    Case("finds by alternative text", "shop", ({"expect_visible": {"alt": "A tea pot"}},)),
    Case("finds by title", "shop", ({"expect_visible": {"title": "Help"}},)),
    Case(
        "narrows by position, text, container and visibility",
        "shop",
        (
            {"expect_text": {"css": "td", "nth": 1}, "equals": "12.50"},
            {"expect_text": {"css": "td", "nth": -1}, "equals": "9"},
            {"expect_number": {"css": "td", "nth": 1, "within": {"css": "tr", "has_text": "Pot"}}, "is": 1234.5},
            {"expect_count": {"css": "li", "visible": True}, "is": 1},
        ),
    ),
    Case(
        "takes the first alternative that exists",
        "shop",
        ({"expect_text": {"any": ["#basket", {"testid": "cart-count"}, "h1"]}, "equals": "0 items"},),
    ),
    Case(
        "looks into a frame", "frame", ({"expect_text": {"css": "h1", "frame": "iframe"}, "equals": "Our shop"},)
    ),
    Case("names what it cannot find", "shop", ({"click": "#nothing-here"},), 'Could not find the element "nothing here" within 1 s.'),
    # Navigation
    Case("opens a path", "shop", ({"goto": "/form"}, {"expect_url": {"equals": "/form"}})),
    Case(
        "goes back, forward and reloads",
        "shop",
        (
            {"goto": "/form"},
            {"back": True},
            {"expect_url": {"contains": "/shop"}},
            {"forward": True},
            {"expect_url": {"matches": "/form$"}},
            {"reload": True},
            {"expect_visible": {"label": "Name"}},
        ),
    ),
    Case("resizes", "wide", ({"resize": [1000, 600]}, {"expect_no_overflow": True})),
    Case(
        "sees an overflow",
        "wide",
        ({"resize": [390, 844]}, {"expect_no_overflow": True}),
        "Expected the page to fit the window of 390 pixels, but it is 900 pixels wide.",
    ),
    Case("waits", "late", ({"wait": 400}, {"expect_text": "#late", "equals": "here", "timeout": 0.1})),
    Case("waits for an element", "late", ({"wait_for": "#late:has-text('here')"}, {"wait_for": "#gone", "state": "detached"})),
    Case(
        "says what did not come",
        "shop",
        ({"wait_for": {"text": "Thank you"}},),
        'The text "Thank you" did not show within 1 s.',
    ),
    Case(
        "turns to a page that opened",
        "popup",
        ({"click": "a"}, {"use_page": "newest"}, {"expect_visible": {"label": "Name"}}, {"use_page": "first"}, {"expect_visible": "a"}),
    ),
    Case("says that no page opened", "shop", ({"use_page": "newest"},), "No new page opened within 1 s."),
    # Actions
    Case("clicks", "shop", ({"click": {"role": "button", "name": "Add"}}, {"expect_text": {"testid": "cart-count"}, "equals": "1 items"})),
    Case("says that it is disabled", "shop", ({"click": {"role": "button", "name": "Pay"}},), 'Could not click the button "Pay": it is disabled.'),
    Case("says that it is covered", "covered", ({"click": "button"},), 'Could not click the button: something else covers it ("Please wait").'),
    Case("says that it is hidden", "shop", ({"click": "#secret"},), 'Could not click the element "secret": it is not visible.'),
    Case("clicks twice and with keys", "pointer", ({"dblclick": "#pad"}, {"expect_text": "#seen", "contains": "dblclick"}, {"click": "#pad", "keys": ["Shift"], "button": "right"}, {"expect_text": "#seen", "contains": "right+shift"})),
    Case("points at a share of an element", "pointer", ({"hover": "#pad", "position": [0.25, 0.5]}, {"expect_text": "#at", "equals": "50,50"})),
    Case("focuses", "form", ({"focus": {"label": "Name"}}, {"expect_focused": {"label": "Name"}})),
    Case("misses the focus", "form", ({"expect_focused": {"label": "Name"}},), 'Expected the field "Name" to be focused, but it is not.'),
    Case("ticks and unticks", "form", ({"check": {"label": "News"}}, {"expect_checked": {"label": "News"}}, {"uncheck": {"label": "News"}}, {"expect_checked": {"label": "News"}, "is": False})),
    Case("ticks a hidden box through its label", "form", ({"check": "#styled"}, {"expect_checked": "#styled"})),
    Case("sees what is not ticked", "form", ({"expect_checked": {"label": "News"}},), 'Expected the field "News" to be ticked, but it is not.'),
    Case("fills and types", "form", ({"fill": {"label": "Name"}, "value": "Ada"}, {"expect_value": {"label": "Name"}, "equals": "Ada"}, {"type": {"label": "Search"}, "value": "abc"}, {"expect_text": "#keys", "equals": "3"})),
    Case("cannot fill a heading", "shop", ({"fill": "h1", "value": "x"},), 'Could not fill "x" into the heading: Element is not an <input>, <textarea>, <select> or [contenteditable] and does not have a role allowing [aria-readonly]'),
    Case("sees a wrong value", "form", ({"fill": {"label": "Name"}, "value": "Ada"}, {"expect_value": {"label": "Name"}, "equals": "Eve"}), 'Expected the value of the field "Name" to be "Eve", saw "Ada" (after filling "Ada" into the field "Name").'),
    Case("presses keys", "form", ({"press": "Enter", "at": {"label": "Search"}}, {"expect_text": "#keys", "equals": "1"}, {"focus": {"label": "Search"}}, {"press": "a"}, {"expect_text": "#keys", "equals": "2"})),
    Case("chooses by label, value and position", "form", ({"select": {"label": "Sort"}, "label": "By price"}, {"expect_value": {"label": "Sort"}, "equals": "price"}, {"select": {"label": "Sort"}, "index": 0}, {"expect_text": {"label": "Sort"}, "equals": "By name"}, {"select": {"label": "Sort"}, "value": "price"}, {"expect_value": {"label": "Sort"}, "equals": "price"})),
    Case("names the options there are", "form", ({"select": {"label": "Sort"}, "label": "By date"},), 'The field "Sort" has no option "By date"; it offers "By name, By price".'),
    Case("uploads a file", "form", ({"upload": {"label": "File"}, "files": ["uploads/list.csv"]}, {"expect_text": "#file", "equals": "list.csv 8"})),
    Case("uploads through a button", "form", ({"upload": {"role": "button", "name": "Import"}, "files": ["uploads/list.csv"]}, {"expect_text": "#file", "equals": "list.csv 8"})),
    Case("drags", "drag", ({"drag": "#piece", "to": "#goal", "timeout": 10}, {"expect_text": "#goal", "contains": "dropped"})),
    Case("scrolls", "tall", ({"expect_hidden": "#seen"}, {"scroll_to": "#end"}, {"expect_inside_viewport": "#end"}, {"scroll_by": [0, -5000]}, {"expect_inside_viewport": "h1"})),
    Case("sees what is outside of the window", "tall", ({"expect_inside_viewport": "#end"},), 'Expected the element "end" inside the window, but it reaches beyond the lower edge.'),
    Case("accepts dialogs, and answers them", "dialogs", ({"click": "#confirm"}, {"expect_text": "#said", "equals": "true"}, {"dialog": "dismiss"}, {"click": "#confirm"}, {"expect_text": "#said", "equals": "false"}, {"dialog": "accept", "text": "Ada"}, {"click": "#prompt"}, {"expect_text": "#said", "equals": "Ada"}, {"expect_dialog": {"contains": "Sure"}})),
    Case("misses a dialog", "shop", ({"expect_dialog": {"contains": "Sure"}},), "Expected a dialog, but none opened."),
    Case("reads the wrong dialog", "dialogs", ({"click": "#confirm"}, {"expect_dialog": {"contains": "Bye"}}), 'Expected the dialog to contain "Bye", saw "Sure?" (after clicking the element "confirm").'),
    Case("expects no dialog", "dialogs", ({"expect_no_dialog": True}, {"click": "#confirm"}, {"expect_no_dialog": True}), 'Expected no dialog, but one opened: "Sure?" (after clicking the element "confirm").'),
    Case("goes offline and online", "offline", ({"set_offline": True}, {"click": "button"}, {"expect_text": "#net", "equals": "offline"}, {"set_offline": False}, {"click": "button"}, {"expect_text": "#net", "equals": "online"})),
    # Remembering
    Case(
        "compares with what was remembered",
        "shop",
        (
            {"remember": {"testid": "cart-count"}, "as": "text"},
            {"remember": {"testid": "cart-count"}, "as": "number", "what": "number"},
            {"remember": "tr", "as": "rows", "what": "count"},
            {"remember": "td", "as": "cells", "what": "texts"},
            {"remember": "img", "as": "alt", "what": {"attribute": "alt"}},
            {"expect_text": {"testid": "cart-count"}, "same_as": "text"},
            {"expect_texts": "td", "same_as": "cells"},
            {"expect_attribute": "img", "name": "alt", "same_as": "alt"},
            {"click": {"role": "button", "name": "Add"}},
            {"expect_text": {"testid": "cart-count"}, "differs_from": "text"},
            {"expect_number": {"testid": "cart-count"}, "more_than": "number"},
            {"expect_count": "tr", "more_than": "rows"},
            {"expect_count": "tr", "differs_from": "rows"},
            {"expect_texts": "td", "differs_from": "cells"},
        ),
    ),
    Case("says what did not change", "shop", ({"remember": "tr", "as": "rows", "what": "count"}, {"expect_count": "tr", "less_than": "rows"}), "Expected fewer rows than before (3), saw 3."),
    Case("says which number did not stay", "shop", ({"remember": {"testid": "cart-count"}, "as": "n", "what": "number"}, {"click": {"role": "button", "name": "Add"}}, {"expect_number": {"testid": "cart-count"}, "same_as": "n"}), 'Expected the element "cart count" to stay 0, saw 1 (after clicking the button "Add").'),
    Case("waits for an answer before it believes that nothing changes", "offline", ({"remember": "#net", "as": "said"}, {"click": {"role": "button", "name": "Ask"}}, {"expect_text": "#net", "same_as": "said"}), 'Expected the element "net" to stay "", saw "online" (after clicking the button "Ask").'),
    Case("waits for an answer before it believes that nothing comes", "offline", ({"click": {"role": "button", "name": "Ask"}}, {"expect_hidden": {"text": "online"}}), 'Expected not to see the text "online", but it is there (after clicking the button "Ask").'),
    Case("finds no number to remember", "shop", ({"remember": "h1", "as": "n", "what": "number"},), 'The heading shows "Our shop", which holds no number.'),
    Case("compares pictures", "chart", ({"remember": "canvas", "as": "look", "what": "screenshot"}, {"expect_screenshot": "canvas", "same_as": "look"}, {"click": "button"}, {"expect_screenshot": "canvas", "differs_from": "look"})),
    Case("sees a picture that did not change", "chart", ({"remember": "canvas", "as": "look", "what": "screenshot"}, {"expect_screenshot": "canvas", "differs_from": "look"}), "Expected the drawing to look different, but it looks as before."),
    # Expectations
    Case("waits until it is true", "late", ({"expect_text": "#late", "equals": "here"},)),
    Case("sees what should not be seen", "shop", ({"expect_hidden": "h1"},), "Expected not to see the heading, but it is there."),
    Case("sees nothing where something should be", "shop", ({"expect_visible": {"role": "dialog"}},), "Expected to see the dialog, but it is not there."),
    Case("sees something hidden", "shop", ({"expect_hidden": "#secret"}, {"expect_visible": "#secret"}), 'Expected to see the element "secret", but it is hidden.'),
    Case("tells enabled from disabled", "shop", ({"expect_enabled": "#add"}, {"expect_disabled": "#pay"}, {"expect_disabled": "#add"}), 'Expected the element "add" to be disabled, but it is not.'),
    Case("compares wording", "shop", ({"expect_text": "h1", "contains": "shop"}, {"expect_text": "h1", "equals": "OUR SHOP", "ignore_case": True}, {"expect_text": "h1", "contains_any": ["store", "shop"]}, {"expect_text": "h1", "matches": "^Our \\w+$"}, {"expect_text": "h1", "lacks": "your"})),
    Case("says what it read", "shop", ({"expect_text": "h1", "equals": "Your shop"},), 'Expected the heading to be "Your shop", saw "Our shop".'),
    Case("says what it read instead of parts", "shop", ({"expect_text": "h1", "contains_any": ["Store", "Market"]},), 'Expected the heading to contain "Store" or "Market", saw "Our shop".'),
    Case("says that a form is wrong", "shop", ({"expect_text": "h1", "matches": "^\\d+$"},), 'Expected the heading to have another form, saw "Our shop".'),
    Case("says what should not be there", "shop", ({"expect_text": "h1", "lacks": "shop"},), 'Expected the heading not to contain "shop", saw "Our shop".'),
    Case("compares lists", "list", ({"expect_texts": ".name", "equals": ["Ada", "Bob", "Cem"]}, {"expect_texts": ".name", "contains_all": ["Cem", "Ada"]}, {"expect_texts": ".price", "each_contains": "$"}, {"expect_texts": ".price", "each_matches": "^\\$[\\d,]+$"}, {"expect_texts": ".name", "sorted": "ascending"}, {"expect_texts": ".price", "sorted": "descending"}, {"expect_texts": ".name", "unique": True}, {"expect_texts": ".name", "lacks": "Zoe"})),
    Case("says how a list is wrong", "list", ({"expect_texts": ".name", "equals": ["Bob", "Ada"]},), 'Expected the elements "name" to be "Bob", "Ada", saw "Ada", "Bob", "Cem".'),
    Case("says what a list lacks", "list", ({"expect_texts": ".name", "contains_all": ["Zoe"]},), 'Expected "Zoe" among the elements "name", saw "Ada", "Bob", "Cem".'),
    Case("says which one is odd", "list", ({"expect_texts": {"css": ".name", "called": "names"}, "each_contains": "a"},), 'Expected all names to contain "a", saw "Bob".'),
    Case("says that the order is wrong", "list", ({"expect_texts": {"css": ".price", "called": "prices"}, "sorted": "ascending"},), 'Expected the prices in order from low to high, saw "$1,000", "$200", "$30".'),
    Case("says what comes twice", "twice", ({"expect_texts": "li", "unique": True},), 'Expected each of the list items once, saw "Ada" more than once.'),
    Case("does not call an empty list sorted", "shop", ({"expect_texts": ".none", "sorted": "ascending"},), 'Expected elements "none", saw none.'),
    Case("counts", "shop", ({"expect_count": "tbody tr", "is": 3}, {"expect_count": "tbody tr", "at_least": 2, "at_most": 4}, {"expect_count": ".none", "is": 0})),
    Case("says how many it saw", "shop", ({"expect_count": "tbody tr", "is": 4},), "Expected 4 rows, saw 3."),
    Case("says that it saw too few", "shop", ({"expect_count": "tbody tr", "at_least": 5},), "Expected at least 5 rows, saw 3."),
    Case("compares numbers", "shop", ({"expect_number": {"css": "td", "nth": 3}, "is": 1234.5}, {"expect_number": {"css": "td", "nth": 1}, "is": 12.4, "tolerance": 0.11}, {"expect_number": {"css": "td", "nth": 1}, "at_least": 12, "at_most": 13})),
    Case("says which number it saw", "shop", ({"expect_number": {"css": "td", "nth": 1}, "is": 13},), "Expected the 2nd cell to be 13, saw 12.5."),
    Case("says that there is no number", "shop", ({"expect_number": "h1", "is": 13},), 'Expected the heading to hold a number, saw "Our shop".'),
    Case("compares attributes and styles", "shop", ({"expect_attribute": "img", "name": "alt", "contains": "tea"}, {"expect_style": "h1", "property": "color", "equals": "rgb(255, 0, 0)"})),
    Case("says which attribute is missing", "shop", ({"expect_attribute": "h1", "name": "aria-sort", "equals": "ascending"},), 'Expected the attribute "aria-sort" of the heading, but there is none.'),
    Case("says which style it saw", "shop", ({"expect_style": "h1", "property": "color", "contains": "0, 255, 0"},), 'Expected the style "color" of the heading to contain "0, 255, 0", saw "rgb(255, 0, 0)".'),
    Case("reads the title", "shop", ({"expect_title": {"equals": "Test page"}},)),
    Case("reads a wrong title", "shop", ({"expect_title": {"contains": "Shop"}},), 'Expected the page\'s title to contain "Shop", saw "Test page".'),
    Case("reads a wrong address", "shop", ({"expect_url": {"contains": "/cart"}},), 'Expected the address to contain "/cart", saw "/shop".'),
    Case("hears nothing on the console", "shop", ({"expect_no_console_error": True},)),
    Case("hears an error", "noisy", ({"wait": 50}, {"expect_no_console_error": True}), 'Expected no error on the console, saw "it broke" and 1 more.'),
    Case("receives a download", "download", ({"click": "a"}, {"expect_download": {"name_matches": "\\.csv$", "contains": "Ada", "contains_all": ["name", "Bob"]}})),
    Case("misses a download", "shop", ({"expect_download": {"name_matches": "csv"}},), "Expected a download, but there was none."),
    Case("reads a download", "download", ({"click": "a"}, {"expect_download": {"contains": "Zoe"}}), 'Expected the download "list.csv" to contain "Zoe", but it does not (after clicking the link).'),
    Case("compares places", "shop", ({"expect_placed": "h1", "above": "table"}, {"expect_placed": "table", "below": "h1"}, {"expect_placed": "#add", "left_of": "#pay"}, {"expect_placed": "#pay", "right_of": "#add"}, {"expect_placed": "h1", "below": "table"}), "Expected the heading below the table, but it is not."),
    # Around steps
    Case("takes either branch", "shop", ({"either": [[{"expect_visible": "#basket"}], [{"expect_visible": "h1"}]]},)),
    Case("says what the first branch missed", "shop", ({"either": [[{"expect_visible": "#a"}], [{"expect_visible": "#b"}]], "note": "Look at the basket"},), 'Look at the basket: expected to see the element "a", but it is not there.'),
    Case("begins with the note", "shop", ({"note": "Count the products", "expect_count": "tbody tr", "is": 9},), "Count the products: expected 9 rows, saw 3."),
)  # fmt: skip


@pytest.fixture(scope="module")
def verdicts(chromium: FoundBrowser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, OutcomeVerdict]:
    """Judge all cases in one session, as outcomes of a few criteria, each on a new page."""
    uploads = tmp_path_factory.mktemp("task")
    (uploads / "uploads").mkdir()
    (uploads / "uploads" / "list.csv").write_text("a,b\n1,2\n")
    site = Site(pages={"/": "<p>Start</p>", **PAGES})
    site.pages["/list.csv"] = SCRIPT_OF_DOWNLOAD
    settings = ScriptedSettings(step_timeout=1.0, concurrency=3, max_steps=1000)
    judge = ScriptedJudge(settings, browser=chromium, scratch=tmp_path_factory.mktemp("scratch"))
    lots = {f"lot-{number}": CASES[number::6] for number in range(6)}
    criteria = [
        criterion(key, *[({"goto": f"/{case.page}"}, *case.script) for case in cases])
        for key, cases in lots.items()
    ]
    found = {}
    with (
        serving(site),
        judge.session(site.app, uploads=uploads, is_cancelled=lambda: False) as session,
    ):
        for verdict in session.judge(criteria, on_start=lambda _key: None):
            for case, outcome in zip(lots[verdict.key], verdict.outcomes, strict=True):
                found[case.name] = outcome
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_step(case: Case, verdicts: dict[str, OutcomeVerdict]):
    outcome = verdicts[case.name]

    if case.rationale == PASS:
        assert (outcome.mark, outcome.reason) == (Mark.PASS, ""), outcome.rationale
    else:
        assert (outcome.mark, outcome.rationale) == (Mark.FAIL, case.rationale)


def test_cases_cover_every_action():
    tried = {
        name
        for case in CASES
        for step in (*case.script, {"goto": "/"})
        for name in step
        if name in ACTIONS or name == "either"
    }

    assert set(ACTIONS) - tried == set()


def test_every_case_is_a_valid_script():
    problems = {case.name: script_problems([dict(step) for step in case.script]) for case in CASES}

    assert {name: found for name, found in problems.items() if found} == {}


def test_every_outcome_has_a_picture_and_its_steps(verdicts: dict[str, OutcomeVerdict]):
    for name, outcome in verdicts.items():
        files = {piece.name: piece for piece in outcome.evidence}

        assert files["screenshot.png"].content.startswith(b"\x89PNG"), name
        steps = json.loads(files["actions.json"].content)["steps"]
        assert [step["number"] for step in steps] == list(range(1, len(steps) + 1))
        assert {"console.json", "network.json"} <= set(files)
        assert ("dom.txt" in files) == (outcome.mark is not Mark.PASS)
