"""Add scripts from a file of their own to the outcomes of a published set, which has none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmark.packs.located import Located, Place, read_json
from benchmark.packs.names import expected_instead
from benchmark.packs.problems import Problems
from benchmark.rules.records import CriterionSpec, TaskSpec
from benchmark.rules.scripts import criterion_script_problems

_FLAT_KEY = re.compile(r"([^/]+)/([^/]+)/([0-9]{1,6})")
_OUTCOME_OF_PROBLEM = re.compile(r"outcome (\d+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """One script of the file, for one outcome, and where it stands."""

    place: Place
    steps: Any


type _Scripts = dict[tuple[str, str], dict[int, _Given]]


def with_scripts(tasks: Sequence[TaskSpec], path: Path) -> tuple[TaskSpec, ...]:
    """Return the tasks with the scripts of a file; what it leaves out stays as it is.

    The file holds `{"<task>": {"<criterion>": [[steps] or null, ...]}}`, one entry an outcome,
    or flat keys `{"<task>/<criterion>/<index>": [steps]}`. Raises ImportRefused.
    """
    problems = Problems()
    document = read_json(path.read_bytes(), path.name, problems)
    problems.refuse_if_any()
    if document is None or not isinstance(document.value, Mapping):
        problems.add(path.name, 'the file is not an object {"<task>": {"<criterion>": [[steps], ...]}}.')
        problems.refuse_if_any()
        return tuple(tasks)
    reader = _Reader(document=document, problems=problems, tasks={task.key: task for task in tasks})
    given = reader.scripts()
    completed = tuple(
        replace(
            task,
            criteria=tuple(
                reader.completed(task, criterion, given.get((task.key, criterion.key), {}))
                for criterion in task.criteria
            ),
        )
        for task in tasks
    )
    problems.refuse_if_any()
    return completed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    document: Located
    problems: Problems
    tasks: Mapping[str, TaskSpec]

    def scripts(self) -> _Scripts:
        scripts: _Scripts = {}
        for name, value in self.document.value.items():
            if match := _FLAT_KEY.fullmatch(name):
                task, key, index = match.groups()
                self._take(scripts, task, key, int(index), _Given(place=(name,), steps=value))
            elif not isinstance(value, Mapping):
                self._problem((name,), f'{name} is not an object {{"<criterion>": [[steps], ...]}}.')
            else:
                for key, entries in value.items():
                    self._take_list(scripts, name, key, entries)
        return scripts

    def completed(
        self, task: TaskSpec, criterion: CriterionSpec, given: Mapping[int, _Given]
    ) -> CriterionSpec:
        scripts = [
            given[index].steps if index in given else outcome.script
            for index, outcome in enumerate(criterion.outcomes)
        ]
        texts = criterion_script_problems(criterion.before, scripts, uploads=()) if given else []
        for text in texts:
            match = _OUTCOME_OF_PROBLEM.match(text)
            found = given.get(int(match[1]) - 1) if match else None
            place = (found or next(iter(given.values()))).place
            self._problem(place, f"task {task.key}, {criterion.key}, {text}")
        if texts:
            return criterion
        return replace(
            criterion,
            outcomes=tuple(
                replace(outcome, script=None if script is None else tuple(script))
                for outcome, script in zip(criterion.outcomes, scripts, strict=True)
            ),
        )

    def _take_list(self, scripts: _Scripts, task: str, key: str, entries: Any) -> None:
        criterion = self._criterion(task, key, (task, key))
        if criterion is None:
            return
        if not isinstance(entries, list) or len(entries) != len(criterion.outcomes):
            said = f"has {len(entries)} scripts" if isinstance(entries, list) else "is not a list"
            expected = len(criterion.outcomes)
            text = (
                f"{key} {said}; {task} expects {expected} outcomes of it, with null where there is no script."
            )
            self._problem((task, key), text)
            return
        for index, steps in enumerate(entries):
            if steps is not None:
                self._take(scripts, task, key, index, _Given(place=(task, key, index), steps=steps))

    def _take(self, scripts: _Scripts, task: str, key: str, index: int, given: _Given) -> None:
        criterion = self._criterion(task, key, given.place)
        if criterion is None:
            return
        if index >= len(criterion.outcomes):
            text = f"{key} of {task} has no outcome {index}; they go from 0 to {len(criterion.outcomes) - 1}."
            self._problem(given.place, text)
        elif index in scripts.setdefault((task, key), {}):
            self._problem(given.place, f"outcome {index} of {key} of {task} has two scripts.")
        else:
            scripts[task, key][index] = given

    def _criterion(self, task: str, key: str, place: Place) -> CriterionSpec | None:
        if task not in self.tasks:
            known = list(self.tasks)[:10]
            self._problem(place[:1], f"there is no task {task}; {expected_instead(task, known)}")
            return None
        by_key = {criterion.key: criterion for criterion in self.tasks[task].criteria}
        if key not in by_key:
            self._problem(place, f"{task} has no criterion {key}; {expected_instead(key, by_key)}")
        return by_key.get(key)

    def _problem(self, place: Place, text: str) -> None:
        self.document.problem(self.problems, place, text)
