"""Validate the step language in which an expected outcome says how it is tried out in a browser.

The language itself is described in `docs/step-language.md`. Nothing of a script is ever run here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from benchmark.rules.script_actions import ACTIONS
from benchmark.rules.script_shapes import filled_text, listed, seconds, shown, upload_name

MOST_STEPS = 100
"""Steps of one criterion, all its outcomes and the repeated `before` steps together."""

_DEEPEST_BRANCH = 3
_COMMON_OPTIONS = {"note": filled_text, "timeout": seconds}
_ALL_OPTIONS = frozenset(name for spec in ACTIONS.values() for name in spec.options) | set(_COMMON_OPTIONS)


def action_of(step: Mapping[str, Any]) -> str:
    """Return the action key of a valid step; raises ValueError when it has none or several."""
    found = [name for name in step if name in ACTIONS]
    if len(found) != 1:
        raise ValueError(f"A step has exactly one action; this one has {len(found)}: {sorted(step)}.")
    return found[0]


def script_problems(steps: Any, *, uploads: Collection[str] | None = None) -> list[str]:
    """Return a sentence for each problem of one list of steps, each with its path ("step 3: ...").

    `uploads` are the task's files ("uploads/a.csv"); None leaves their existence unchecked.
    """
    return [f"{problem}." for problem in _list_problems(steps, "", uploads=uploads, known=set(), depth=0)]


def criterion_script_problems(
    before: Any, scripts: Sequence[Any], *, uploads: Collection[str] | None = None
) -> list[str]:
    """Return a sentence for each problem of all scripts of one criterion; None is an outcome without one.

    Paths read "before, step 1: ..." and "outcome 2, step 3: ...", both counted from 1.
    """
    remembered: set[str] = set()
    problems: list[str] = []
    if before not in ((), []) and before is not None:
        problems = list(_list_problems(before, "before, ", uploads=uploads, known=remembered, depth=0))
    for position, script in enumerate(scripts, start=1):
        if script is not None:
            place = f"outcome {position}, "
            problems.extend(_list_problems(script, place, uploads=uploads, known=set(remembered), depth=0))
    total = sum(
        step_count(before or ()) + step_count(script) for script in scripts if isinstance(script, Sequence)
    )
    if total > MOST_STEPS:
        problems.append(
            f"the scripts have {total} steps together, `before` counted for each outcome; "
            f"at most {MOST_STEPS} are allowed for a criterion"
        )
    return [f"{problem}." for problem in problems]


def step_count(steps: Any) -> int:
    """Return how many steps a list may take at most: of alternatives, all of them."""
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        return 0
    count = 0
    for step in steps:
        branches = step.get("either") if isinstance(step, Mapping) else None
        if isinstance(branches, Sequence) and not isinstance(branches, str):
            count += sum(step_count(branch) for branch in branches)
        else:
            count += 1
    return count


def _list_problems(
    steps: Any, place: str, *, uploads: Collection[str] | None, known: set[str], depth: int
) -> Iterator[str]:
    where = place.removesuffix(", ") or "script"
    if not isinstance(steps, Sequence) or isinstance(steps, str | bytes):
        yield f"{where}: is {shown(steps)}, not a list of steps"
        return
    if not steps:
        yield f"{where}: has no steps; leave it out instead"
        return
    for position, step in enumerate(steps, start=1):
        at = f"{place}step {position}"
        if isinstance(step, Mapping) and "either" in step:
            yield from _either_problems(step, at, uploads=uploads, known=known, depth=depth)
        else:
            yield from (f"{at}: {wrong}" for wrong in _step_problems(step, uploads=uploads, known=known))


def _either_problems(
    step: Mapping[str, Any], at: str, *, uploads: Collection[str] | None, known: set[str], depth: int
) -> Iterator[str]:
    for option in step.keys() - {"either", "note"}:
        yield f"{at}: unknown option {option!r} of 'either'; known is note"
    branches = step["either"]
    if not isinstance(branches, Sequence) or isinstance(branches, str) or len(branches) < 2:
        yield f"{at}: 'either' is {shown(branches)}, not a list of two or more lists of steps"
        return
    if depth >= _DEEPEST_BRANCH:
        yield f"{at}: 'either' is nested more than {_DEEPEST_BRANCH} deep"
        return
    learned: set[str] = set()
    for position, branch in enumerate(branches, start=1):
        inside = set(known)
        place = f"{at}, branch {position}, "
        yield from _list_problems(branch, place, uploads=uploads, known=inside, depth=depth + 1)
        learned |= inside
    known |= learned


def _step_problems(step: Any, *, uploads: Collection[str] | None, known: set[str]) -> Iterator[str]:
    if not isinstance(step, Mapping):
        yield f"is {shown(step)}, not an object with an action"
        return
    if any(not isinstance(name, str) for name in step):
        yield "has a key that is no text"
        return
    found = [name for name in step if name in ACTIONS]
    if not found:
        unknown = next((name for name in step if name not in _ALL_OPTIONS), None)
        said = f"unknown action {unknown!r}" if unknown is not None else "no action"
        yield f"{said}; known are {listed([*ACTIONS, 'either'])}"
        return
    if len(found) > 1:
        yield f"has the actions {listed([repr(name) for name in found])}; one step does one thing"
        return
    action = found[0]
    yield from _value_problems(step, action)
    yield from _reference_problems(step, action, uploads=uploads, known=known)


def _value_problems(step: Mapping[str, Any], action: str) -> Iterator[str]:
    spec = ACTIONS[action]
    options = {**spec.options, **_COMMON_OPTIONS}
    yield from (f"{action!r} {wrong}" for wrong in spec.value(step[action]))
    for name, value in step.items():
        if name == action:
            continue
        if name not in options:
            yield f"unknown option {name!r} of {action!r}; known are {listed(sorted(options))}"
        else:
            yield from (f"{name!r} {wrong}" for wrong in options[name](value))
    for name in spec.needs:
        if name not in step:
            yield f"{action!r} needs {name!r} beside it"
    if spec.needs_one_of and not any(name in step for name in spec.needs_one_of):
        yield f"{action!r} needs one of {listed(spec.needs_one_of)} beside it"


def _reference_problems(
    step: Mapping[str, Any], action: str, *, uploads: Collection[str] | None, known: set[str]
) -> Iterator[str]:
    for name in ACTIONS[action].uses:
        if isinstance(used := step.get(name), str) and used not in known:
            yield f"{name!r} is {used!r}, which no earlier step of this script remembers"
    if action == "remember" and isinstance(step.get("as"), str):
        known.add(step["as"])
    if action == "upload" and uploads is not None and isinstance(step.get("files"), Sequence):
        for file in step["files"]:
            if isinstance(file, str) and not list(upload_name(file)) and file not in uploads:
                yield f"the file {file!r} is not among the task's uploads"
