"""Prerequisites among criteria: their order, their layers and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError
from heapq import heapify, heappop, heappush

from benchmark.rules.records import CriterionSpec

_KEYS_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphProblem:
    """One thing wrong with the prerequisites, and the criterion in which it is to be mended."""

    criterion: str
    sentence: str


def in_dependency_order(criteria: Sequence[CriterionSpec]) -> tuple[CriterionSpec, ...]:
    """Return criteria so that each follows its prerequisites, as near as can be to the given order.

    Raises graphlib.CycleError when the prerequisites form a cycle, LookupError when one is unknown.
    """
    position = {criterion.key: index for index, criterion in enumerate(criteria)}
    waiting, dependants = _edges(criteria, position)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    heapify(ready)
    ordered: list[CriterionSpec] = []
    while ready:
        index = heappop(ready)
        ordered.append(criteria[index])
        for dependant in dependants[index]:
            waiting[dependant] -= 1
            if waiting[dependant] == 0:
                heappush(ready, dependant)

    if len(ordered) < len(criteria):
        raise CycleError(*[problem.sentence for problem in graph_problems(criteria)])
    return tuple(ordered)


def layers(criteria: Sequence[CriterionSpec]) -> tuple[tuple[CriterionSpec, ...], ...]:
    """Return criteria by depth: the first layer needs nothing, each other one only what is above.

    Raises what `in_dependency_order` raises.
    """
    depth: dict[str, int] = {}
    for criterion in in_dependency_order(criteria):
        depth[criterion.key] = 1 + max((depth[key] for key in criterion.needs), default=-1)
    by_depth: list[list[CriterionSpec]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for criterion in criteria:
        by_depth[depth[criterion.key]].append(criterion)
    return tuple(tuple(layer) for layer in by_depth)


def problems_of(criteria: Sequence[CriterionSpec]) -> list[str]:
    """Return one sentence for each thing that is wrong with keys and prerequisites."""
    return [problem.sentence for problem in graph_problems(criteria)]


def graph_problems(criteria: Sequence[CriterionSpec]) -> tuple[GraphProblem, ...]:
    """Return duplicate keys, unknown prerequisites, self-loops, and cycles with their path."""
    return (
        *_duplicate_keys(criteria),
        *_unknown_prerequisites(criteria),
        *_self_loops(criteria),
        *_cycles(criteria),
    )


def _edges(
    criteria: Sequence[CriterionSpec], position: Mapping[str, int]
) -> tuple[list[int], list[list[int]]]:
    """Return how many prerequisites each criterion waits for, and who waits for it."""
    waiting = [0] * len(criteria)
    dependants: list[list[int]] = [[] for _ in criteria]
    for index, criterion in enumerate(criteria):
        for key in set(criterion.needs):
            if key not in position:
                raise LookupError(_unknown(criterion.key, key))
            waiting[index] += 1
            dependants[position[key]].append(index)
    return waiting, dependants


def _duplicate_keys(criteria: Sequence[CriterionSpec]) -> list[GraphProblem]:
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for criterion in criteria:
        if criterion.key in seen:
            twice[criterion.key] = None
        seen.add(criterion.key)
    return [
        GraphProblem(
            criterion=key,
            sentence=f"The key {key!r} names more than one criterion; give each its own.",
        )
        for key in twice
    ]


def _unknown_prerequisites(criteria: Sequence[CriterionSpec]) -> list[GraphProblem]:
    known = {criterion.key for criterion in criteria}
    return [
        GraphProblem(criterion=criterion.key, sentence=_unknown(criterion.key, key))
        for criterion in criteria
        for key in dict.fromkeys(criterion.needs)
        if key not in known
    ]


def _unknown(criterion: str, prerequisite: str) -> str:
    return (
        f"Criterion {criterion!r} needs {prerequisite!r}, which is no criterion of its task; "
        "name one that is, or remove it."
    )


def _self_loops(criteria: Sequence[CriterionSpec]) -> list[GraphProblem]:
    return [
        GraphProblem(
            criterion=criterion.key,
            sentence=f"Criterion {criterion.key!r} needs itself; remove it from its prerequisites.",
        )
        for criterion in criteria
        if criterion.key in criterion.needs
    ]


def _cycles(criteria: Sequence[CriterionSpec]) -> list[GraphProblem]:
    """Return one problem for each cycle that is met when walking up from the criteria in one."""
    stuck = _stuck(criteria)
    needs = {
        criterion.key: next(key for key in criterion.needs if key in stuck and key != criterion.key)
        for criterion in criteria
        if criterion.key in stuck
    }
    found: list[GraphProblem] = []
    walked: set[str] = set()
    for start in needs:
        path: dict[str, None] = {}
        key = start
        while key not in walked and key not in path:
            path[key] = None
            key = needs[key]
        if key not in walked:
            found.append(_cycle([*_from(key, path), key]))
        walked.update(path)
    return found


def _stuck(criteria: Sequence[CriterionSpec]) -> set[str]:
    """Return the keys that are in a cycle of two or more criteria, or behind one."""
    known = {criterion.key for criterion in criteria}
    waiting: dict[str, set[str]] = {key: set() for key in known}
    dependants: dict[str, list[str]] = {key: [] for key in known}
    for criterion in criteria:
        for key in (known & set(criterion.needs)) - {criterion.key} - waiting[criterion.key]:
            waiting[criterion.key].add(key)
            dependants[key].append(criterion.key)
    counts = {key: len(keys) for key, keys in waiting.items()}
    ready = [key for key, count in counts.items() if count == 0]
    while ready:
        key = ready.pop()
        del counts[key]
        for dependant in dependants[key]:
            counts[dependant] -= 1
            if counts[dependant] == 0:
                ready.append(dependant)
    return set(counts)


def _from(key: str, path: Mapping[str, None]) -> list[str]:
    keys = list(path)
    return keys[keys.index(key) :]


def _cycle(path: Sequence[str]) -> GraphProblem:
    shown = [repr(key) for key in path]
    if len(shown) > _KEYS_SHOWN:
        hidden = len(shown) - _KEYS_SHOWN
        shown[_KEYS_SHOWN - 1 : -1] = [f"({hidden} more)"]
    return GraphProblem(
        criterion=path[0],
        sentence=f"The prerequisites form a cycle: {' needs '.join(shown)}; remove one of them.",
    )
