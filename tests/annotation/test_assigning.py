"""The planner: balanced, nobody twice on a round, pairs of raters spread evenly."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.assigning import PlannedSet, TooFewPeople, copies_of, plan

workloads = st.integers(1, 7).flatmap(
    lambda people: st.tuples(
        st.just(list(range(people))),
        st.lists(
            # Copies of a round shrink: a later copy holds the items that have so many.
            st.lists(st.integers(1, 30), min_size=1, max_size=people).map(lambda s: sorted(s, reverse=True)),
            max_size=25,
        ),
    )
)


def sets_of(rounds: list[list[int]]) -> list[PlannedSet]:
    return [
        PlannedSet(round=number, copy=copy, size=size)
        for number, sizes in enumerate(rounds)
        for copy, size in enumerate(sizes, start=1)
    ]


@given(workloads, st.integers())
def test_every_set_is_given_and_nobody_gets_a_round_twice(workload, seed):
    people, rounds = workload
    sets = sets_of(rounds)

    given_out = plan(sets, people, seed=seed)

    assert given_out.keys() == set(sets)
    by_round: dict[int, list[int]] = defaultdict(list)
    for each, person in given_out.items():
        by_round[each.round].append(person)
    assert all(len(set(raters)) == len(raters) for raters in by_round.values())


@given(workloads, st.integers())
def test_loads_differ_by_no_more_than_the_largest_set(workload, seed):
    people, rounds = workload
    sets = sets_of(rounds)

    load = dict.fromkeys(people, 0)
    for each, person in plan(sets, people, seed=seed).items():
        load[person] += each.size

    assert max(load.values()) - min(load.values()) <= max((each.size for each in sets), default=0)


@given(workloads, st.integers(), st.randoms(use_true_random=False))
def test_the_order_of_sets_and_people_changes_nothing(workload, seed, luck):
    people, rounds = workload
    sets = sets_of(rounds)
    shuffled, others = list(sets), list(people)
    luck.shuffle(shuffled)
    luck.shuffle(others)

    assert plan(shuffled, others, seed=seed) == plan(sets, people, seed=seed)


@pytest.mark.parametrize(("people", "overlap", "rounds"), [(4, 2, 60), (6, 2, 60), (5, 3, 40), (8, 2, 112)])
def test_pairs_of_raters_meet_about_equally_often(people, overlap, rounds):
    given_out = plan(sets_of([[10] * overlap] * rounds), list(range(people)), seed=5)

    raters: dict[int, set[int]] = defaultdict(set)
    for each, person in given_out.items():
        raters[each.round].add(person)
    met = Counter(pair for chosen in raters.values() for pair in combinations(sorted(chosen), 2))
    counts = [met[pair] for pair in combinations(range(people), 2)]
    assert max(counts) - min(counts) <= 2


def test_fewer_people_than_the_overlap_is_said_before_anything_is_given():
    with pytest.raises(TooFewPeople, match="needs 3 different people, and there are 2"):
        plan(sets_of([[5, 5, 5]]), [1, 2], seed=1)


@given(st.sets(st.integers(0, 500), max_size=80), st.integers(2, 4), st.floats(0, 1), st.integers())
def test_a_share_of_units_gets_several_people_and_the_others_one(units, overlap, share, seed):
    copies = copies_of(units, overlap=overlap, share=share, seed=seed)

    assert copies.keys() == units
    assert set(copies.values()) <= {1, overlap}
    shared = sum(number > 1 for number in copies.values())
    assert abs(shared - share * len(units)) <= 1
    assert copies == copies_of(sorted(units, reverse=True), overlap=overlap, share=share, seed=seed)


def test_the_smallest_share_still_gives_one_unit_to_several_people():
    assert sorted(copies_of(range(10), overlap=2, share=0.001, seed=1).values()) == [1] * 9 + [2]
