"""A rubric as the Asuka-Bench paper prints it: one project, its evaluation tasks and their criteria."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmark.packs.located import Located, glance, read_json
from benchmark.packs.problems import ImportRefused, Problems, Repair
from benchmark.packs.specs import BenchmarkFacts, PublishedOptions, PublishedSet
from benchmark.packs.texts import tidy
from benchmark.rules.records import CriterionSpec, OutcomeSpec, TaskSpec
from benchmark.rules.vocabulary import Mode

NAME = "asuka_rubric"


def sniff(path: Path) -> bool:
    """Whether the file is one object with a project and a list of tasks that hold criteria."""
    if not path.is_file() or path.suffix != ".json":
        return False
    value = glance(path.read_bytes())
    tasks = value.get("tasks") if isinstance(value, dict) else None
    return (
        isinstance(tasks, list)
        and "project" in value
        and all(isinstance(task, dict) and "criteria" in task for task in tasks)
    )


def read(path: Path, options: PublishedOptions) -> PublishedSet:
    """Return the project as one task. Raises ImportRefused with every problem by line.

    Such a file holds no request: `options.request`, or the title with a named repair.
    """
    problems = Problems()
    document = read_json(path.read_bytes(), path.name, problems)
    if document is None:
        raise ImportRefused(problems.found)
    value = document.value
    if not isinstance(value, dict) or not isinstance(value.get("tasks"), list):
        document.problem(problems, (), 'the file is not an object with "project" and "tasks".')
        raise ImportRefused(problems.found)
    for field in ("project", "title"):
        if not isinstance(value.get(field), str) or not value[field].strip():
            document.problem(problems, (field,), f"{field} is {value.get(field)!r:.60}, not a text.")
    criteria = [_criterion(document, index, task, problems) for index, task in enumerate(value["tasks"])]
    problems.refuse_if_any()
    repairs = []
    if options.request is None:
        text = "the file has no request; the title stands in for it. Give one with --request FILE."
        line = document.line_of(("title",))
        repairs.append(Repair(name="request_from_title", file=path.name, line=line, text=text))
    task = TaskSpec(
        key=value["project"],
        title=value["title"],
        request=tidy(value["title"] if options.request is None else options.request),
        criteria=tuple(criterion for criterion in criteria if criterion),
    )
    mode = Mode.DAG if any(criterion.needs for criterion in task.criteria) else Mode.FLAT
    return PublishedSet(
        facts=BenchmarkFacts(
            key=f"asuka-{value['project']}",
            version=None,
            title=f"Asuka-Bench {value['project']}: {value['title']}",
            protocol=options.protocol,
            source=NAME,
            settings={"mode": mode.value},
        ),
        tasks=(task,),
        repairs=tuple(repairs),
        used_request=options.request is not None,
    )


def _criterion(document: Located, index: int, task: Any, problems: Problems) -> CriterionSpec | None:
    place = ("tasks", index)
    if not isinstance(task, dict):
        document.problem(problems, place, f"task {index} is not an object.")
        return None
    before = len(problems.found)
    name = f"task {task.get('id', index)}"
    if isinstance(task.get("id"), bool) or not isinstance(task.get("id"), int | str):
        document.problem(problems, (*place, "id"), f"task {index} has no id.")
    texts = task.get("criteria")
    if not isinstance(texts, list) or not texts or not all(_is_text(text) for text in texts):
        document.problem(problems, (*place, "criteria"), f"criteria of {name} is not a list of texts.")
    for field in ("type", "summary"):
        if not _is_text(task.get(field)):
            document.problem(problems, (*place, field), f"{field} of {name} is not a text.")
    needs = task.get("prerequisites", [])
    if not isinstance(needs, list):
        document.problem(
            problems, (*place, "prerequisites"), f"prerequisites of {name} is not a list of ids."
        )
    weight = task.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int) or weight < 1:
        document.problem(
            problems, (*place, "weight"), f"{name} has weight {weight!r}, not a whole number from 1."
        )
    if len(problems.found) > before:
        return None
    return CriterionSpec(
        key=str(task["id"]),
        title=tidy(task["summary"]),
        kind=task["type"].strip().lower(),
        weight=weight,
        needs=tuple(str(need) for need in needs),
        tags=(task["type"],),
        outcomes=tuple(OutcomeSpec(text=tidy(text)) for text in texts or ()),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
