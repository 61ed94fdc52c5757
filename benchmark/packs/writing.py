"""Write the text files of a benchmark pack, the same bytes for the same content."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmark.packs.checks import rubric_as_json
from benchmark.packs.head import FILE, SCHEMA
from benchmark.packs.specs import BenchmarkFacts
from benchmark.rules.records import TaskSpec

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def head_files(facts: BenchmarkFacts, version: str, tasks: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of what a pack says as a whole."""
    head = {
        "schema": SCHEMA,
        "key": facts.key,
        "version": version,
        "title": facts.title,
        "description": facts.description,
        "protocol": facts.protocol,
        "licence": facts.licence,
        "source": facts.source,
    }
    lines = [f"{name} = {_toml(value)}" for name, value in head.items() if value]
    lines += ["tasks = [", *(f"  {_toml(task)}," for task in tasks), "]"]
    lines += _table("settings", facts.settings)
    yield FILE, _bytes(lines)


def task_files(spec: TaskSpec) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of a task's texts and its rubric."""
    folder = f"tasks/{spec.key}"
    lines = [f"title = {_toml(spec.title)}", *_table("deploy", spec.deploy), *_table("facts", spec.facts)]
    yield f"{folder}/task.toml", _bytes(lines)
    yield f"{folder}/request.md", f"{spec.request}\n".encode()
    if spec.prd:
        yield f"{folder}/prd.md", f"{spec.prd}\n".encode()
    rubric = json.dumps(rubric_as_json(spec.criteria), ensure_ascii=False, indent=2)
    yield f"{folder}/rubric.json", f"{rubric}\n".encode()


def _table(name: str, values: Mapping[str, Any]) -> list[str]:
    if not values:
        return []
    return ["", f"[{name}]", *(f"{_key(key)} = {_toml(values[key])}" for key in sorted(values))]


def _toml(value: Any) -> str:
    """Return a value as TOML, on one line. Raises ValueError for what TOML cannot say."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            # JSON's escapes are TOML's too; JSON leaves DEL bare, TOML must not.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return "{" + ", ".join(f"{_key(key)} = {_toml(value[key])}" for key in sorted(value)) + "}"
        case list() | tuple():
            return "[" + ", ".join(_toml(inner) for inner in value) + "]"
        case _:
            raise ValueError(f"{value!r} cannot be written to a pack; take it out or make it a text.")


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _toml(name)


def _bytes(lines: Sequence[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()
