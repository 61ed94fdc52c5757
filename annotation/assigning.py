"""Decide how many people mark what, and give sets to people: pure, seeded, balanced."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from annotation.sampling import seeded

COMPARISONS = 200_000
"""How many swaps are looked at for more even pairs before it is good enough."""


class TooFewPeople(ValueError):
    """Raised with a sentence where a set is wanted by more people than there are."""


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class PlannedSet:
    """One copy of a round: so many items for one person."""

    round: int
    copy: int
    size: int


def copies_of[U: Hashable](units: Iterable[U], *, overlap: int, share: float, seed: int) -> dict[U, int]:
    """Return for each unit how many people it gets: `overlap` for a share of them, else one.

    A share above 0 means at least one unit, so that agreement is never undefined by rounding.
    """
    # By repr: any units sort so, and the order of the given ones must not matter.
    ordered = sorted(set(units), key=repr)
    wanted = min(len(ordered), max(1, round(share * len(ordered)))) if share > 0 else 0
    shared = set(seeded(seed, "overlap").sample(ordered, wanted)) if overlap > 1 else set()
    return {unit: overlap if unit in shared else 1 for unit in ordered}


def plan(sets: Iterable[PlannedSet], people: Sequence[int], *, seed: int) -> dict[PlannedSet, int]:
    """Give each set to a person so that nobody gets a round twice and everybody about as many items.

    Nobody has more items than somebody else by more than the largest set. Within that, pairs of people
    meet on about equally many rounds, so that agreement is not one pair's. Raises TooFewPeople.
    """
    rounds: dict[int, list[PlannedSet]] = defaultdict(list)
    for each in sets:
        rounds[each.round].append(each)
    most = max((len(copies) for copies in rounds.values()), default=0)
    if most > len(set(people)):
        raise TooFewPeople(few_people(most, len(set(people))))
    given = _balanced(rounds, sorted(set(people)), seeded(seed, "people"))
    return _with_even_pairs(given)


def few_people(overlap: int, people: int) -> str:
    """Return the sentence about too few people."""
    return (
        f"An overlap of {overlap} needs {overlap} different people, and there "
        f"{'is' if people == 1 else 'are'} {people}: add annotators or lower the overlap."
    )


def _balanced(
    rounds: Mapping[int, list[PlannedSet]], people: Sequence[int], generator: Random
) -> dict[PlannedSet, int]:
    """Large rounds first, each to those who have least: differences stay below the largest set."""
    load = dict.fromkeys(people, 0)
    met: Counter[frozenset[int]] = Counter()
    luck = {person: generator.random() for person in people}
    order = sorted(rounds)
    generator.shuffle(order)
    given: dict[PlannedSet, int] = {}
    for round_ in sorted(order, key=lambda each: -sum(copy.size for copy in rounds[each])):
        chosen: list[int] = []
        # The larger copy to the one with less: that is what keeps the difference below one set.
        for copy in sorted(rounds[round_], key=lambda each: (-each.size, each.copy)):
            free = [person for person in people if person not in chosen]
            person = min(
                free,
                key=lambda one: (load[one], sum(met[frozenset((one, other))] for other in chosen), luck[one]),
            )
            chosen.append(person)
            given[copy] = person
            load[person] += copy.size
        met.update(frozenset(pair) for pair in combinations(chosen, 2))
    return given


def _with_even_pairs(given: dict[PlannedSet, int]) -> dict[PlannedSet, int]:
    """Swap people between sets of one size, which changes nobody's load, while pairs become more even."""
    raters: dict[int, set[int]] = defaultdict(set)
    for each, person in given.items():
        raters[each.round].add(person)
    met: Counter[frozenset[int]] = Counter(
        frozenset(pair) for people in raters.values() for pair in combinations(sorted(people), 2)
    )
    left = COMPARISONS
    for first, second in _comparisons(given):
        left -= 1
        if left < 0:
            break
        one, other = given[first], given[second]
        if one == other or other in raters[first.round] or one in raters[second.round]:
            continue
        stay, remain = raters[first.round] - {one}, raters[second.round] - {other}
        change = Counter[frozenset[int]]()
        change.subtract(frozenset((one, person)) for person in stay)
        change.subtract(frozenset((other, person)) for person in remain)
        change.update(frozenset((other, person)) for person in stay)
        change.update(frozenset((one, person)) for person in remain)
        if sum((met[pair] + by) ** 2 - met[pair] ** 2 for pair, by in change.items()) < 0:
            met.update(change)
            given[first], given[second] = other, one
            raters[first.round], raters[second.round] = stay | {other}, remain | {one}
    return given


def _comparisons(given: Mapping[PlannedSet, int]) -> Iterable[tuple[PlannedSet, PlannedSet]]:
    by_size: dict[int, list[PlannedSet]] = defaultdict(list)
    for each in sorted(given):
        by_size[each.size].append(each)
    for _pass in range(2):
        for alike in by_size.values():
            yield from (pair for pair in combinations(alike, 2) if pair[0].round != pair[1].round)
