"""Read marks files: the parts that every protocol's file has, each mistake as one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from benchmark.rules.graph import graph_problems
from benchmark.rules.records import CriterionSpec, OutcomeSpec, RoundRecord, TaskSpec
from benchmark.rules.vocabulary import Mark, StageName

_MOST_OUTCOMES = 10_000
_JSON_NAMES = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}


class BadMarks(ValueError):
    """A marks file that cannot be scored; the message is one sentence for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules:
    """What one protocol takes in a marks file."""

    kinds: tuple[str, ...]
    marks: tuple[Mark, ...]
    weights: tuple[int, int]
    may_skip: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTrial:
    """One task's rounds of one repeat, and for each round the criteria supplied as skipped."""

    task: TaskSpec
    repeat: int
    rounds: tuple[RoundRecord, ...] = ()
    supplied_skips: tuple[frozenset[str], ...] = ()


def tasks_in(document: Mapping[str, Any], *, rules: FileRules) -> tuple[TaskSpec, ...]:
    """Return the declared tasks; raises BadMarks."""
    tasks: dict[str, TaskSpec] = {}
    for position, given in enumerate(_list(document, "tasks", where="The marks file"), start=1):
        task = _task(given, where=f"Task number {position}", rules=rules)
        if task.key in tasks:
            raise BadMarks(f"The task {task.key!r} is declared twice; give each task its own key.")
        tasks[task.key] = task
    return tuple(tasks.values())


def trials_in(
    document: Mapping[str, Any], *, tasks: Sequence[TaskSpec], rules: FileRules
) -> tuple[FileTrial, ...]:
    """Return a trial for each task and repeat, and one without rounds for a task that has none.

    Raises BadMarks, also for a hole in the rounds.
    """
    by_key = {task.key: task for task in tasks}
    rounds = [
        _round(given, where=f"Round entry number {position}", tasks=by_key, rules=rules)
        for position, given in enumerate(_list(document, "rounds", where="The marks file"), start=1)
    ]
    trials: list[FileTrial] = []
    order = {task.key: position for position, task in enumerate(tasks)}
    rounds.sort(key=lambda each: (order[each.task], each.repeat, each.record.number))
    for (task, repeat), of_trial in groupby(rounds, key=lambda each: (each.task, each.repeat)):
        trials.append(_trial(by_key[task], repeat=repeat, rounds=list(of_trial)))
    with_rounds = {trial.task.key for trial in trials}
    without = [FileTrial(task=task, repeat=1) for task in tasks if task.key not in with_rounds]
    return tuple(sorted([*trials, *without], key=lambda trial: (order[trial.task.key], trial.repeat)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileRound:
    task: str
    repeat: int
    record: RoundRecord
    skipped: frozenset[str]


def _task(given: object, *, where: str, rules: FileRules) -> TaskSpec:
    task = _object(given, where=where)
    key = _key(task, where=where)
    where = f"Task {key!r}"
    criteria = tuple(
        _criterion(each, where=f"Criterion number {position} of task {key!r}", task=key, rules=rules)
        for position, each in enumerate(_list(task, "criteria", where=where), start=1)
    )
    if not criteria:
        raise BadMarks(f"{where} has no criteria; declare at least one.")
    for problem in graph_problems(criteria):
        raise BadMarks(f"In task {key!r}: {problem.sentence}")
    return TaskSpec(key=key, title=key, request="", criteria=criteria)


def _criterion(given: object, *, where: str, task: str, rules: FileRules) -> CriterionSpec:
    criterion = _object(given, where=where)
    key = _key(criterion, where=where)
    where = f"Criterion {key!r} of task {task!r}"
    kind = criterion.get("kind")
    if kind not in rules.kinds:
        raise BadMarks(f"{where} has the kind {kind!r}; kinds are {_listed(rules.kinds)}.")
    low, high = rules.weights
    weight = _whole(criterion, "weight", where=where, low=low, high=high, default=1)
    outcomes = _whole(criterion, "outcomes", where=where, low=1, high=_MOST_OUTCOMES)
    needs = _list(criterion, "needs", where=where) if "needs" in criterion else []
    for need in needs:
        if not isinstance(need, str):
            raise BadMarks(f"{where} needs {need!r}; prerequisites are keys of criteria, as texts.")
    return CriterionSpec(
        key=key,
        kind=kind,
        weight=weight,
        needs=tuple(needs),
        outcomes=(OutcomeSpec(text=""),) * outcomes,
    )


def _round(given: object, *, where: str, tasks: Mapping[str, TaskSpec], rules: FileRules) -> _FileRound:
    round_ = _object(given, where=where)
    key = round_.get("task")
    if not isinstance(key, str) or key not in tasks:
        known = _listed(tuple(tasks)) or "none"
        raise BadMarks(f"{where} is of the unknown task {key!r}; declared are: {known}.")
    number = _whole(round_, "round", where=f"{where} (task {key!r})", low=1)
    repeat = _whole(round_, "repeat", where=f"{where} (task {key!r})", low=1, default=1)
    where = f"Round {number} of task {key!r}"
    criteria = {criterion.key: criterion for criterion in tasks[key].criteria}
    supplied = _object(round_.get("marks"), where=f"{where}: `marks`")
    for name in supplied:
        if name not in criteria:
            raise BadMarks(f"{where} marks the unknown criterion {name!r}; declare it or remove it.")
    skipped = frozenset(name for name, value in supplied.items() if value == Mark.SKIPPED)
    if skipped and not rules.may_skip:
        name = min(skipped)
        raise BadMarks(f"{where} marks {name!r} as skipped; only mode 'dag' skips criteria.")
    marks = {
        name: _marks(value, where=f"{where}, criterion {name!r}", criterion=criteria[name], rules=rules)
        for name, value in supplied.items()
    }
    record = RoundRecord(number=number, marks=marks, completed=frozenset({StageName.JUDGE}))
    return _FileRound(task=key, repeat=repeat, record=record, skipped=skipped)


def _trial(task: TaskSpec, *, repeat: int, rounds: Sequence[_FileRound]) -> FileTrial:
    of_repeat = f" (repeat {repeat})" if repeat > 1 else ""
    for expected, number in enumerate((each.record.number for each in rounds), start=1):
        if number < expected:
            raise BadMarks(f"Round {number} of task {task.key!r}{of_repeat} is given twice; keep one.")
        if number > expected:
            raise BadMarks(
                f"Task {task.key!r}{of_repeat} has round {number} but no round {expected}; "
                "rounds go 1, 2, 3 without a hole."
            )
    return FileTrial(
        task=task,
        repeat=repeat,
        rounds=tuple(each.record for each in rounds),
        supplied_skips=tuple(each.skipped for each in rounds),
    )


def _marks(value: object, *, where: str, criterion: CriterionSpec, rules: FileRules) -> tuple[Mark, ...]:
    count = len(criterion.outcomes)
    if not isinstance(value, list):
        taken = {*rules.marks, Mark.SKIPPED} if rules.may_skip else set(rules.marks)
        return (_mark(value, where=where, taken=taken),) * count
    if len(value) != count:
        raise BadMarks(f"{where}: marks in the list: {len(value)}, outcomes: {count}; give one for each.")
    if Mark.SKIPPED in value:
        raise BadMarks(f'{where}: a criterion is skipped as a whole; write "skipped" in place of the list.')
    return tuple(_mark(each, where=where, taken=set(rules.marks)) for each in value)


def _mark(value: object, *, where: str, taken: AbstractSet[Mark]) -> Mark:
    words = {mark.value: mark for mark in Mark if mark in taken}
    if not isinstance(value, str) or value not in words:
        raise BadMarks(f"{where}: the mark {value!r} is not taken here; marks are {_listed(tuple(words))}.")
    return words[value]


def _object(given: object, *, where: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise BadMarks(f"{where} is {_named(given)}; it must be an object.")
    return given


def _list(parent: Mapping[str, Any], name: str, *, where: str) -> list[Any]:
    if name not in parent:
        raise BadMarks(f"{where} has no `{name}`; give it a list.")
    given = parent[name]
    if not isinstance(given, list):
        raise BadMarks(f"{where}: `{name}` is {_named(given)}; it must be a list.")
    return given


def _key(parent: Mapping[str, Any], *, where: str) -> str:
    key = parent.get("key")
    if not isinstance(key, str) or not key:
        raise BadMarks(f"{where} has the key {key!r}; a key is a text that is not empty.")
    return key


def _whole(
    parent: Mapping[str, Any],
    name: str,
    *,
    where: str,
    low: int,
    high: int | None = None,
    default: int | None = None,
) -> int:
    given = parent.get(name, default)
    is_whole = isinstance(given, int) and not isinstance(given, bool)
    if is_whole and given >= low and (high is None or given <= high):
        return int(given)
    taken = f"from {low} to {high}" if high is not None else f"from {low} on"
    raise BadMarks(f"{where}: `{name}` is {given!r}; it must be a whole number {taken}.")


def _listed(words: Sequence[str]) -> str:
    shown = [repr(word) for word in words[:8]]
    return ", ".join(shown) + (f" and {len(words) - 8} more" if len(words) > 8 else "")


def _named(given: object) -> str:
    if given is None:
        return "missing"
    return _JSON_NAMES.get(type(given), repr(given))
