"""Prerequisites: order, layers and problems, on small graphs and on very long ones."""

from __future__ import annotations

from graphlib import CycleError
from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.rules.graph import graph_problems, in_dependency_order, layers, problems_of
from benchmark.rules.records import CriterionSpec, OutcomeSpec


def criteria(**needs: str) -> list[CriterionSpec]:
    """Return criteria by key, each with its prerequisites as words."""
    return [spec(key, *words.split()) for key, words in needs.items()]


def spec(key: str, *needs: str) -> CriterionSpec:
    return CriterionSpec(key=key, kind="presence", needs=needs, outcomes=(OutcomeSpec(text=""),))


def keys(ordered) -> list[str]:
    return [criterion.key for criterion in ordered]


def test_each_criterion_follows_its_prerequisites():
    assert keys(in_dependency_order(criteria(c="b", b="a", a=""))) == ["a", "b", "c"]


def test_given_order_is_kept_where_nothing_speaks_against_it():
    assert keys(in_dependency_order(criteria(d="", a="", c="a", b=""))) == ["d", "a", "c", "b"]


def test_layers_hold_what_can_be_judged_together():
    found = layers(criteria(a="", b="a", c="a", d="b c", e=""))

    assert [keys(layer) for layer in found] == [["a", "e"], ["b", "c"], ["d"]]


def test_no_criteria_have_no_layers():
    assert layers([]) == ()
    assert in_dependency_order([]) == ()
    assert problems_of([]) == []


def test_sound_graph_has_no_problems():
    assert problems_of(criteria(a="", b="a", c="a b")) == []


def test_prerequisite_named_twice_counts_once():
    assert keys(in_dependency_order(criteria(b="a a", a=""))) == ["a", "b"]
    assert problems_of(criteria(b="a a", a="")) == []


def test_cycle_is_named_with_its_path():
    found = graph_problems(criteria(a="c", b="a", c="b", d="c"))

    assert [problem.sentence for problem in found] == [
        "The prerequisites form a cycle: 'a' needs 'c' needs 'b' needs 'a'; remove one of them."
    ]
    assert found[0].criterion == "a"


def test_criteria_that_only_stand_behind_a_cycle_are_not_named_in_it():
    assert problems_of(criteria(z="y", y="a", a="b", b="a")) == [
        "The prerequisites form a cycle: 'a' needs 'b' needs 'a'; remove one of them."
    ]


def test_two_cycles_are_two_problems():
    assert len(problems_of(criteria(a="b", b="a", c="d", d="c"))) == 2


def test_self_loop_is_a_problem_of_its_own():
    assert problems_of(criteria(a="a", b="a")) == [
        "Criterion 'a' needs itself; remove it from its prerequisites."
    ]


def test_unknown_prerequisite_is_named():
    assert problems_of(criteria(a="x")) == [
        "Criterion 'a' needs 'x', which is no criterion of its task; name one that is, or remove it."
    ]


def test_duplicate_key_is_named_once():
    assert problems_of([spec("a"), spec("a"), spec("a")]) == [
        "The key 'a' names more than one criterion; give each its own."
    ]


def test_every_problem_is_found_at_once():
    found = problems_of([spec("a", "a"), spec("b", "x"), spec("c", "d"), spec("d", "c"), spec("b")])

    assert len(found) == 4


def test_order_of_a_broken_graph_is_refused():
    with pytest.raises(CycleError, match="'a' needs 'b' needs 'a'"):
        in_dependency_order(criteria(a="b", b="a"))
    with pytest.raises(CycleError, match="needs itself"):
        in_dependency_order(criteria(a="a"))
    with pytest.raises(LookupError, match="needs 'x'"):
        layers(criteria(a="x"))


def test_chain_of_5000_is_ordered_and_layered_without_recursion():
    chain = [spec(f"c{number}", *([f"c{number - 1}"] if number else [])) for number in range(5000)]
    Random(1).shuffle(chain)
    begin = process_time()

    assert keys(in_dependency_order(chain)) == [f"c{number}" for number in range(5000)]
    assert len(layers(chain)) == 5000
    assert problems_of(chain) == []
    # A fraction of a second; the bound only catches what grows with the square.
    assert process_time() - begin < 10


def test_cycle_of_5000_is_named_in_a_sentence_that_can_be_read():
    ring = [spec(f"c{number}", f"c{(number + 1) % 5000}") for number in range(5000)]

    (sentence,) = problems_of(ring)

    assert sentence.startswith("The prerequisites form a cycle: 'c0' needs 'c1' needs")
    assert "(4989 more)" in sentence
    assert sentence.endswith("needs 'c0'; remove one of them.")
    assert len(sentence) < 400


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_order_and_layers_hold_for_any_graph(seed):
    random = Random(seed)
    count = random.randint(1, 30)
    given_ = [
        spec(
            f"c{number}",
            *(f"c{need}" for need in random.sample(range(number), random.randint(0, min(3, number)))),
        )
        for number in range(count)
    ]
    random.shuffle(given_)

    position = {key: index for index, key in enumerate(keys(in_dependency_order(given_)))}
    depth = {key: index for index, layer in enumerate(layers(given_)) for key in keys(layer)}

    assert position.keys() == depth.keys() == set(keys(given_))
    for criterion in given_:
        assert all(position[need] < position[criterion.key] for need in criterion.needs)
        assert depth[criterion.key] == 1 + max((depth[need] for need in criterion.needs), default=-1)
