"""A judge's script told in words."""

from __future__ import annotations

import pytest

from benchmark.rules.script_actions import ACTIONS
from benchmark.script_words import _ACTIONS, steps_in_words, target_in_words


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"goto": "/cart"}, "Open /cart."),
        ({"click": {"role": "button", "name": "Add", "nth": 0}}, "Click the first button “Add”."),
        ({"fill": {"label": "Name"}, "value": "bean"}, "Type “bean” into the field “Name”."),
        ({"expect_count": ".row", "at_least": 3}, "Expect the number of ‘.row’ to be at least 3."),
        ({"expect_number": ".sum", "is": 3.5}, "Expect the value of ‘.sum’ to be 3.5."),
        ({"click": "text=Buy", "note": "buy one packet"}, "Buy one packet."),
        ({"expect_checked": ".box", "is": False}, "Expect ‘.box’ to be not ticked."),
    ],
)
def test_a_step_is_one_sentence(step, words):
    assert steps_in_words([step]) == [words]


def test_a_target_inside_another_is_pointed_at_from_near_to_far():
    target = {"role": "row", "has_text": "Kale", "within": {"css": "#stock"}}

    assert target_in_words(target) == "the row with “Kale” in ‘#stock’"


def test_every_action_of_the_step_language_has_its_words():
    assert set(ACTIONS) - set(_ACTIONS) == set()
