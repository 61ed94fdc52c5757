"""Numbers, order and names are read and said as a person would."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.adapters.judges.scripted.nouns import counted, described
from runs.adapters.judges.scripted.readings import cleaned, first_number, is_sorted, plain
from runs.adapters.judges.scripted.settings import ScriptedSettings
from runs.adapters.judges.scripted.words import step_words


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("$1,234.50", 1234.5),
        ("1.234,50 €", 1234.5),
        ("1 234,5", 1234.5),
        ("1\u202f234\u202f567", 1234567),
        ("1'000", 1000),
        ("3,500", 3500),
        ("3.500", 3.5),
        ("1.234.567", 1234567),
        ("0,500", 0.5),
        ("1,5", 1.5),
        ("1,2,3", 1),
        ("−3", -3),
        ("-$5", -5),
        ("$-5", -5),
        ("Total - 5", 5),
        ("Items: 3.", 3),
        ("(5 items)", 5),
        ("12%", 12),
        ("3 of 7", 3),
        (".5", 0.5),
        ("1e3", 1000),
        ("2024-05-01", 2024),
        ("no number", None),
        ("", None),
        ("v1.2", None),
    ],
)
def test_first_number(text: str, number: float | None):
    assert first_number(text) == number


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_a_number_is_read_back_however_it_is_grouped(number: int):
    for grouped in (f"{number:,}", f"{number:,}".replace(",", " "), f"Total: {number} pieces"):
        assert first_number(grouped) == number


@given(st.text(max_size=200))
def test_reading_never_fails(text: str):
    first_number(text)
    json.dumps(cleaned(text)).encode()
    cleaned(text).encode("utf-8")
    assert "\0" not in plain(text)


@pytest.mark.parametrize(
    ("texts", "descending", "holds"),
    [
        (["2", "10"], False, True),
        (["$2", "$10"], False, True),
        (["10", "9", "2"], True, True),
        (["2 kg", "10 kg"], False, True),
        (["b", "A"], True, True),
        (["A", "b", "C"], False, True),
        (["10", "b"], False, True),
        (["3", "1"], False, False),
    ],
)
def test_order_is_that_of_numbers_where_all_are_numbers(texts: list[str], descending: bool, holds: bool):
    assert is_sorted(texts, descending=descending) is holds


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("tbody tr", "the row"),
        (".cart-count", 'the element "cart count"'),
        ("#chart canvas", "the drawing"),
        ("[data-testid=score-table] tr.x", "the row"),
        ("input[name=email]", 'the field "email"'),
        ("button:has-text('Go')", 'the button with "Go"'),
        ("text=Hello", 'the text "Hello"'),
        ('role=button[name="Add"]', 'the button "Add"'),
        ({"role": "textbox", "name": "Search"}, 'the text field "Search"'),
        ({"css": "tr", "nth": -1, "has_text": "Ada"}, 'the last row with "Ada"'),
        ({"role": "button", "name": "Add", "nth": 1, "within": {"role": "dialog"}}, 'the 2nd button "Add" in the dialog'),
        ({"css": ".x", "called": "product cards"}, "the product cards"),
        ({"any": ["#total", ".sum"]}, 'the element "total"'),
    ],
)  # fmt: skip
def test_a_target_is_named_without_its_selector(target: Any, name: str):
    assert described(target) == name


def test_things_are_counted_in_words():
    assert counted("tbody tr", 3) == "3 rows"
    assert counted("tbody tr", 1) == "1 row"
    assert counted({"css": "x", "called": "product cards"}, 1) == "1 product card"
    assert counted({"role": "button", "name": "Add"}, 2) == '2 buttons "Add"'
    assert counted({"css": "tr", "has_text": "Ada"}, 2) == '2 rows with "Ada"'


def test_a_step_is_a_sentence_part():
    assert (
        step_words({"fill": {"label": "Name"}, "value": "Ada"}, "fill") == 'fill "Ada" into the field "Name"'
    )
    assert step_words({"expect_hidden": "h1"}, "expect_hidden") == "look whether the heading is hidden"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"step_timeout": 0}, "step_timeout is 0; allowed are 0.1 to 30"),
        ({"concurrency": 1.5}, "concurrency is 1.5, no whole number"),
        ({"retries": True}, "retries is True; allowed are 0 to 10"),
        ({"speed": 3}, "Unknown setting 'speed' of the judge; known are step_timeout,"),
    ],
)
def test_a_bad_setting_is_named(values: dict[str, Any], problem: str):
    with pytest.raises(ValueError, match=problem):
        ScriptedSettings.from_mapping(values)
