"""WebGen-Bench: a JSON-lines file, one website a line, its user interface checks as criteria."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmark.packs.located import Located, glance, json_lines
from benchmark.packs.problems import Problems
from benchmark.packs.specs import BenchmarkFacts, PublishedOptions, PublishedSet
from benchmark.packs.texts import tidy
from benchmark.rules.records import CriterionSpec, OutcomeSpec, TaskSpec
from benchmark.rules.vocabulary import Mode

NAME = "webgen"
KINDS = {
    "Functional Testing": "functionality",
    "Data Display Testing": "presence",
    "Design Validation Testing": "presence",
}


def sniff(path: Path) -> bool:
    """Whether the first line is an object with an instruction and user interface checks."""
    if not path.is_file() or path.suffix != ".jsonl":
        return False
    with path.open("rb") as lines:
        first = lines.readline(1 << 20)
    value = glance(first)
    return isinstance(value, dict) and {"instruction", "ui_instruct"} <= value.keys()


def read(path: Path, options: PublishedOptions) -> PublishedSet:
    """Return one task a line. Raises ImportRefused with every problem by line."""
    problems = Problems()
    tasks: dict[str, TaskSpec] = {}
    for line in json_lines(path.read_bytes(), path.name, problems):
        task = _task(line, problems)
        if task is None:
            continue
        if task.key in tasks:
            line.problem(problems, ("id",), f"the id {task.key!r} occurs twice.")
        tasks[task.key] = task
    if not tasks and not problems.found:
        problems.add(path.name, "the file holds no task.")
    problems.refuse_if_any()
    return PublishedSet(
        facts=BenchmarkFacts(
            key="webgen-bench",
            version=None,
            title="WebGen-Bench",
            protocol=options.protocol,
            source=NAME,
            settings={"mode": Mode.FLAT.value},
        ),
        tasks=tuple(tasks.values()),
    )


def _task(line: Located, problems: Problems) -> TaskSpec | None:
    value = line.value
    if not isinstance(value, dict):
        line.problem(problems, (), "the line is not an object.")
        return None
    before = len(problems.found)
    for field in ("id", "instruction"):
        if not isinstance(value.get(field), str) or not value[field].strip():
            line.problem(problems, (field,), f"{field} is {value.get(field)!r:.60}, not a text.")
    checks = value.get("ui_instruct")
    if not isinstance(checks, list) or not checks:
        line.problem(problems, ("ui_instruct",), "ui_instruct is not a list of checks.")
        return None
    criteria = [_criterion(line, index, check, problems) for index, check in enumerate(checks)]
    if len(problems.found) > before:
        return None
    category = value.get("Category")
    return TaskSpec(
        key=value["id"],
        title=str(value.get("application_type") or f"Website {value['id']}"),
        request=tidy(value["instruction"]),
        criteria=tuple(criterion for criterion in criteria if criterion),
        facts={
            "underspecified": False,
            **({"category": category} if category else {}),
            **({"application_type": value["application_type"]} if value.get("application_type") else {}),
        },
    )


def _criterion(line: Located, index: int, check: Any, problems: Problems) -> CriterionSpec | None:
    place = ("ui_instruct", index)
    if not isinstance(check, dict):
        line.problem(problems, place, f"check {index} is not an object.")
        return None
    texts = {name: check.get(name) for name in ("task", "expected_result")}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            line.problem(problems, place, f"check {index} has no {name}.")
            return None
    category = check.get("task_category")
    own_kind = category.get("primary_category") if isinstance(category, dict) else None
    if own_kind not in KINDS:
        text = f"check {index} is of the category {own_kind!r}; known are {', '.join(KINDS)}."
        line.problem(problems, place, text)
        return None
    return CriterionSpec(
        key=f"c{index}",
        title=tidy(check["task"]),
        kind=KINDS[own_kind],
        tags=(own_kind,),
        outcomes=(OutcomeSpec(text=tidy(check["expected_result"])),),
    )
