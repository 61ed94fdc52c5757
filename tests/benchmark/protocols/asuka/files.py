"""Build Asuka marks files tersely: one letter a mark."""

from __future__ import annotations

from typing import Any

from benchmark.protocols.scorefile import score_document
from benchmark.rules.records import Scores

WORDS = {"P": "pass", "F": "fail", "E": "error", "S": "skipped"}


def criterion(
    key: str,
    *,
    weight: int = 1,
    needs: tuple[str, ...] = (),
    outcomes: int = 1,
    kind: str = "functionality",
) -> dict[str, Any]:
    return {"key": key, "kind": kind, "weight": weight, "needs": list(needs), "outcomes": outcomes}


def task(key: str, *criteria: dict[str, Any]) -> dict[str, Any]:
    return {"key": key, "criteria": list(criteria)}


def round_(task: str, number: int, /, *, repeat: int = 1, **letters: str) -> dict[str, Any]:
    """Give each criterion its marks as letters; S stands for the one word `skipped`."""
    marks = {
        key: "skipped" if marks == "S" else [WORDS[letter] for letter in marks]
        for key, marks in letters.items()
    }
    given = {"task": task, "round": number, "marks": marks}
    return given if repeat == 1 else given | {"repeat": repeat}


def document(tasks: list[dict[str, Any]], rounds: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    return {"protocol": "asuka", "settings": settings, "tasks": tasks, "rounds": rounds}


def scores(tasks: list[dict[str, Any]], rounds: list[dict[str, Any]], **settings: Any) -> Scores:
    return score_document(document(tasks, rounds, **settings), protocol="asuka")


def values(tasks: list[dict[str, Any]], rounds: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    """Return the value of each metric at the last round; None where it is undefined."""
    return {name: each.value for name, each in scores(tasks, rounds, **settings).metrics.items()}
