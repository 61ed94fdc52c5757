"""Whose turn it is: everybody's first before anybody's second, and nobody waits for ever."""

from hypothesis import given
from hypothesis import strategies as st

from runs.adapters.previews.turns import MOST_OVERTAKEN, Turn, go


def waiting(*others: int) -> list[Turn]:
    return [Turn(others=number, arrival=arrival) for arrival, number in enumerate(others)]


def order(turns: list[Turn]) -> list[int]:
    return [turn.arrival for turn in sorted(turns, key=Turn.key)]


def test_among_equals_who_came_first_goes_first():
    assert order(waiting(0, 0, 0)) == [0, 1, 2]


def test_somebody_s_first_comes_before_anybody_s_second():
    assert order(waiting(1, 2, 0, 0, 1)) == [2, 3, 0, 4, 1]


def test_who_was_overtaken_often_enough_is_next():
    second, first = waiting(1, 0)

    for _ in range(MOST_OVERTAKEN):
        assert order([second, first]) == [1, 0]
        go(first, before=[second])

    assert order([second, first]) == [0, 1]


def test_to_go_before_a_later_one_overtakes_nobody():
    early, late = waiting(0, 0)

    go(early, before=[late])

    assert late.overtaken == 0


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_everybody_is_served_while_newcomers_without_any_keep_coming(others):
    queue = waiting(*others)
    patient, served = queue[-1], 0

    while patient in queue:
        chosen = min(queue, key=Turn.key)
        queue.remove(chosen)
        go(chosen, before=queue)
        served += 1
        queue.append(Turn(others=0, arrival=len(others) + served))
        assert served <= len(others) + MOST_OVERTAKEN + 1
