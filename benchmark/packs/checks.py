"""What can be wrong with a rubric, whoever wrote it: a sentence and its place for each problem."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from benchmark.packs.located import Place
from benchmark.packs.names import KEY_RULE, expected_instead, is_key
from benchmark.rules.protocol import Protocol
from benchmark.rules.records import CriterionSpec
from benchmark.rules.scripts import criterion_script_problems

CRITERION_FIELDS = ("key", "title", "kind", "weight", "needs", "before", "tags", "outcomes")
OUTCOME_FIELDS = ("text", "script")
LONGEST_TITLE = 1000
_OUTCOME_OF_PROBLEM = re.compile(r"outcome (\d+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem at one place of a rubric, such as `("criteria", 3, "weight")`."""

    place: Place
    text: str


def rubric_as_json(criteria: Sequence[CriterionSpec]) -> dict[str, Any]:
    """Return a rubric as `rubric.json` holds it; what is at its default is left out."""
    return {"criteria": [_criterion_as_json(criterion) for criterion in criteria]}


def rubric_findings(rubric: object, *, protocol: Protocol, uploads: Collection[str] | None) -> list[Finding]:
    """Return every problem of a rubric in the form of `rubric.json`.

    `uploads` are the task's files ("uploads/a.csv"); None leaves their existence unchecked.
    """
    if not isinstance(rubric, Mapping) or not isinstance(rubric.get("criteria"), list):
        return [Finding(place=(), text='a rubric is an object with a list "criteria".')]
    criteria: list[Any] = rubric["criteria"]
    found = list(_unknown_fields(rubric, ("criteria",), ()))
    if not criteria:
        found.append(Finding(place=("criteria",), text="the rubric has no criterion; give it at least one."))
    for index, criterion in enumerate(criteria):
        place: Place = ("criteria", index)
        if isinstance(criterion, Mapping):
            found += _criterion_findings(criterion, place, protocol=protocol, uploads=uploads)
        else:
            found.append(Finding(place=place, text=f"criterion {index + 1} is not an object."))
    found += graph_findings(criteria)
    return found


def graph_findings(criteria: Sequence[Any]) -> Iterator[Finding]:
    """Yield every problem of prerequisites: criteria are objects with a key and its needs."""
    keyed = [
        (index, criterion["key"], criterion.get("needs", []))
        for index, criterion in enumerate(criteria)
        if isinstance(criterion, Mapping) and isinstance(criterion.get("key"), str)
    ]
    places = {key: index for index, key, _ in reversed(keyed)}
    for index, key, _ in keyed:
        if places[key] != index:
            text = f"{key} occurs twice in this rubric; keys are there once."
            yield Finding(place=("criteria", index, "key"), text=text)
    graph: dict[str, list[str]] = {}
    for index, key, needs in keyed:
        if not isinstance(needs, list):
            continue
        named = [need for need in needs if isinstance(need, str) and need]
        at: Place = ("criteria", index, "needs")
        for need, count in Counter(named).items():
            if count > 1:
                yield Finding(place=at, text=f"{key} needs {need} twice; name it once.")
            if need == key:
                yield Finding(place=at, text=f"{key} needs itself; take {key} out of its needs.")
            elif need not in places:
                yield Finding(place=at, text=f"{key} needs {need}, which does not exist.")
            else:
                graph.setdefault(key, []).append(need)
    for cycle in _cycles(graph, places):
        shown = cycle if len(cycle) <= 12 else [*cycle[:6], f"({len(cycle) - 9} more)", *cycle[-3:]]
        chain = ", which needs ".join([f"{shown[0]} needs {shown[1]}", *shown[2:]])
        text = f"{chain} again: a cycle; take one of them out."
        yield Finding(place=("criteria", places[cycle[0]], "needs"), text=text)


def _criterion_as_json(criterion: CriterionSpec) -> dict[str, Any]:
    document: dict[str, Any] = {"key": criterion.key}
    if criterion.title:
        document["title"] = criterion.title
    document |= {"kind": criterion.kind, "weight": criterion.weight, "needs": list(criterion.needs)}
    if criterion.before:
        document["before"] = [dict(step) for step in criterion.before]
    if criterion.tags:
        document["tags"] = list(criterion.tags)
    document["outcomes"] = [
        {"text": outcome.text}
        | ({} if outcome.script is None else {"script": [dict(step) for step in outcome.script]})
        for outcome in criterion.outcomes
    ]
    return document


def _criterion_findings(
    criterion: Mapping[str, Any], place: Place, *, protocol: Protocol, uploads: Collection[str] | None
) -> Iterator[Finding]:
    key = criterion.get("key")
    name = key if isinstance(key, str) and key else f"criterion {int(place[1]) + 1}"
    yield from _unknown_fields(criterion, CRITERION_FIELDS, place)
    if key is None:
        yield Finding(place=place, text=f"{name} has no key.")
    elif not is_key(key):
        yield Finding(place=(*place, "key"), text=f"the key {key!r} is not a text of {KEY_RULE}.")
    kind = criterion.get("kind")
    if kind not in protocol.kinds:
        known = ", ".join(protocol.kinds)
        said = "has no kind" if kind is None else f"has the kind {kind!r}"
        yield Finding(place=(*place, "kind"), text=f"{name} {said}; protocol {protocol.name} knows {known}.")
    lowest, highest = protocol.weights
    weight = criterion.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int) or not lowest <= weight <= highest:
        yield Finding(
            place=(*place, "weight"),
            text=f"{name} has weight {weight!r}; a weight is a whole number from {lowest} to {highest}.",
        )
    title = criterion.get("title", "")
    if not isinstance(title, str) or len(title) > LONGEST_TITLE:
        yield Finding(
            place=(*place, "title"),
            text=f"the title of {name} is not a text of at most {LONGEST_TITLE} characters.",
        )
    for field, noun in (("tags", "texts"), ("needs", "keys")):
        values = criterion.get(field, [])
        if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
            yield Finding(place=(*place, field), text=f"{field} of {name} is not a list of {noun}.")
    yield from _outcome_findings(criterion, place, name)
    yield from _script_findings(criterion, place, name, uploads=uploads)


def _outcome_findings(criterion: Mapping[str, Any], place: Place, name: str) -> Iterator[Finding]:
    outcomes = criterion.get("outcomes")
    if not isinstance(outcomes, list) or not outcomes:
        what = "has no outcomes" if not outcomes else f"has outcomes {outcomes!r:.40}"
        text = f'{name} {what}; give a list with at least one {{"text": ...}}.'
        yield Finding(place=(*place, "outcomes"), text=text)
        return
    for index, outcome in enumerate(outcomes):
        at: Place = (*place, "outcomes", index)
        if not isinstance(outcome, Mapping):
            yield Finding(place=at, text=f"outcome {index + 1} of {name} is not an object.")
            continue
        yield from _unknown_fields(outcome, OUTCOME_FIELDS, at)
        said = outcome.get("text")
        if not isinstance(said, str) or not said.strip():
            yield Finding(place=(*at, "text"), text=f"outcome {index + 1} of {name} has no text.")


def _script_findings(
    criterion: Mapping[str, Any], place: Place, name: str, *, uploads: Collection[str] | None
) -> Iterator[Finding]:
    outcomes = criterion.get("outcomes")
    outcomes = outcomes if isinstance(outcomes, list) else []
    scripts = [outcome.get("script") if isinstance(outcome, Mapping) else None for outcome in outcomes]
    for text in criterion_script_problems(criterion.get("before", []), scripts, uploads=uploads):
        at = place
        if text.startswith("before"):
            at = (*place, "before")
        elif match := _OUTCOME_OF_PROBLEM.match(text):
            at = (*place, "outcomes", int(match[1]) - 1, "script")
        yield Finding(place=at, text=f"{name}, {text}")


def _cycles(graph: Mapping[str, Sequence[str]], order: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield cycles, each begun and ended by its first key in the file, until none is left unnamed."""
    edges = {key: set(needs) for key, needs in graph.items()}
    while True:
        try:
            TopologicalSorter(edges).prepare()
        except CycleError as error:
            # graphlib names them so that each is needed by the next, and the first is named twice.
            around: list[str] = error.args[1][:0:-1]
            first = around.index(min(around, key=order.__getitem__))
            cycle = [*around[first:], *around[:first], around[first]]
            yield cycle
            edges[cycle[0]].discard(cycle[1])
        else:
            return


def _unknown_fields(value: Mapping[str, Any], known: Collection[str], place: Place) -> Iterator[Finding]:
    for field in value:
        if field not in known:
            yield Finding(
                place=(*place, field),
                text=f"the field {field!r} is unknown; {expected_instead(field, known)}",
            )
