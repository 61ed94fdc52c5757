"""Content hashes: equal for equal content, wherever it was read from and in whatever order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmark.packs.checks import rubric_as_json
from benchmark.rules.records import TaskSpec


def task_hash(spec: TaskSpec, files: Iterable[tuple[str, str, str]]) -> str:
    """Return the hash of all that a task is judged by; `files` are (role, path, digest)."""
    rubric = rubric_as_json(spec.criteria)
    for criterion in rubric["criteria"]:
        criterion["needs"].sort()
    return _digest(
        {
            "schema": "proofroom/task-content/1",
            "key": spec.key,
            "title": spec.title,
            "request": spec.request,
            "prd": spec.prd,
            "deploy": spec.deploy,
            "facts": spec.facts,
            "rubric": rubric,
            "files": sorted(list(file) for file in files),
        }
    )


def benchmark_hash(protocol: str, settings: Mapping[str, Any], task_hashes: Sequence[str]) -> str:
    """Return the hash over a benchmark's protocol, settings and tasks in order.

    What a person may reword (title, description, licence) and what is measured with it
    (recorded candidates) are not part of it.
    """
    return _digest(
        {
            "schema": "proofroom/benchmark-content/1",
            "protocol": protocol,
            "settings": settings,
            "tasks": list(task_hashes),
        }
    )


def _digest(value: Mapping[str, Any]) -> str:
    canonical = json.dumps(
        _plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Write 2.0 as 2: not every database gives a number back as it was written."""
    match value:
        case Mapping():
            return {key: _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value
