"""DevAI: a folder of JSON files, one development task each, its requirements as criteria."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmark.packs.located import Located, glance, read_json
from benchmark.packs.problems import Problems, Repair
from benchmark.packs.specs import BenchmarkFacts, PublishedOptions, PublishedSet
from benchmark.packs.texts import short_title, tidy
from benchmark.rules.records import CriterionSpec, OutcomeSpec, TaskSpec
from benchmark.rules.vocabulary import Mode

NAME = "devai"
KIND = "functionality"


def sniff(path: Path) -> bool:
    """Whether a file of the folder, or the file itself, has a query and requirements."""
    files = _files(path)
    if not files:
        return False
    value = glance(files[0].read_bytes())
    return isinstance(value, dict) and {"query", "requirements"} <= value.keys()


def read(path: Path, options: PublishedOptions) -> PublishedSet:
    """Return one task a file. Raises ImportRefused with every problem by file and line."""
    problems = Problems()
    repairs: list[Repair] = []
    tasks: dict[str, TaskSpec] = {}
    for file in _files(path):
        document = read_json(file.read_bytes(), file.name, problems)
        task = None if document is None else _task(document, problems, repairs)
        if document is None or task is None:
            continue
        if task.key in tasks:
            document.problem(problems, ("name",), f"the name {task.key!r} occurs in two files.")
        tasks[task.key] = task
    problems.refuse_if_any()
    has_edges = any(criterion.needs for task in tasks.values() for criterion in task.criteria)
    return PublishedSet(
        facts=BenchmarkFacts(
            key="devai",
            version=None,
            title="DevAI",
            protocol=options.protocol,
            source=NAME,
            settings={"mode": (Mode.DAG if has_edges else Mode.FLAT).value},
        ),
        tasks=tuple(tasks.values()),
        repairs=tuple(repairs),
    )


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if path.suffix == ".json" else []
    folder = path / "instances" if (path / "instances").is_dir() else path
    # 2 before 10: the files are numbered.
    return sorted(
        folder.glob("*.json"), key=lambda file: (int(file.name.split("_")[0]), file.name)
        if file.name.split("_")[0].isdigit() else (1 << 30, file.name),
    )  # fmt: skip


def _task(document: Located, problems: Problems, repairs: list[Repair]) -> TaskSpec | None:
    value = document.value
    if not isinstance(value, dict) or not isinstance(value.get("requirements"), list):
        document.problem(problems, (), 'the file is not an object with "query" and "requirements".')
        return None
    before = len(problems.found)
    for field in ("name", "query"):
        if not isinstance(value.get(field), str) or not value[field].strip():
            document.problem(problems, (field,), f"{field} is {value.get(field)!r:.60}, not a text.")
    requirements = value["requirements"]
    for index, requirement in enumerate(requirements):
        _check(document, index, requirement, problems)
    if not requirements:
        document.problem(problems, ("requirements",), "the task has no requirement.")
    if len(problems.found) > before:
        return None
    known = {str(requirement["requirement_id"]) for requirement in requirements}
    return TaskSpec(
        key=value["name"],
        title=short_title(value["name"].replace("_", " "), longest=300),
        request=tidy(value["query"]),
        criteria=tuple(
            _criterion(document, index, requirement, known, repairs)
            for index, requirement in enumerate(requirements)
        ),
        facts=_facts(value),
    )


def _check(document: Located, index: int, requirement: Any, problems: Problems) -> None:
    place = ("requirements", index)
    if not isinstance(requirement, dict):
        document.problem(problems, place, f"requirement {index} is not an object.")
        return
    key = requirement.get("requirement_id")
    if isinstance(key, bool) or not isinstance(key, int | str):
        document.problem(problems, place, f"requirement {index} has no requirement_id.")
    text = requirement.get("criteria")
    if not isinstance(text, str) or not text.strip():
        document.problem(problems, (*place, "criteria"), f"requirement {index} has no criteria text.")
    if not isinstance(requirement.get("prerequisites", []), list):
        document.problem(
            problems, (*place, "prerequisites"), f"prerequisites of {index} is not a list of ids."
        )


def _criterion(
    document: Located, index: int, requirement: dict[str, Any], known: set[str], repairs: list[Repair]
) -> CriterionSpec:
    key = str(requirement["requirement_id"])
    place = ("requirements", index, "prerequisites")
    needs: list[str] = []
    for need in map(str, requirement.get("prerequisites", [])):
        if need == key:
            name, text = "self_loop_dropped", f"{key} needs itself; the edge is dropped."
        elif need not in known:
            name, text = "unknown_prerequisite_dropped", f"{key} needs {need}, which does not exist; dropped."
        elif need in needs:
            name, text = "repeated_prerequisite_dropped", f"{key} needs {need} twice; named once."
        else:
            needs.append(need)
            continue
        repairs.append(Repair(name=name, file=document.file, line=document.line_of(place), text=text))
    category = requirement.get("category")
    return CriterionSpec(
        key=key,
        title=short_title(requirement["criteria"], longest=120),
        kind=KIND,
        needs=tuple(needs),
        tags=(category,) if isinstance(category, str) and category else (),
        outcomes=(OutcomeSpec(text=tidy(requirement["criteria"])),),
    )


def _facts(value: dict[str, Any]) -> dict[str, Any]:
    preferences = value.get("preferences")
    texts = [
        preference["criteria"]
        for preference in (preferences if isinstance(preferences, list) else [])
        if isinstance(preference, dict) and isinstance(preference.get("criteria"), str)
    ]
    kept = (
        "tags",
        "hint",
        "resource",
        "is_kaggle_api_needed",
        "is_training_needed",
        "is_web_navigation_needed",
    )
    return {
        "underspecified": False,
        **{name: value[name] for name in kept if value.get(name) is not None},
        **({"preferences": texts} if texts else {}),
    }
