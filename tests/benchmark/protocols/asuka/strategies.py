"""Random marks files for properties: tasks with graphs of prerequisites, rounds, repeats, errors.

Hypothesis draws the seed and the settings, plain code the rest: drawing each mark through
Hypothesis takes a hundred times as long as scoring it.
"""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

KINDS = ("presence", "functionality", "robustness")
WORDS = ("pass", "pass", "fail", "error")
THRESHOLDS = (0, 0.25, 0.5, 2 / 3, 0.75, 1)

# No deadline: other work on the machine must not fail a test.
unhurried = settings(deadline=None, max_examples=50)


def documents(
    *, mode: str | None = None, words: tuple[str, ...] = WORDS
) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        _document,
        seed=st.integers(0, 2**40),
        mode=st.sampled_from(["dag", "flat"]) if mode is None else st.just(mode),
        threshold=st.sampled_from(THRESHOLDS),
        words=st.just(words),
    )


def _document(*, seed: int, mode: str, threshold: float, words: tuple[str, ...]) -> dict[str, Any]:
    random = Random(seed)
    tasks = [_task(random, key=f"t{number}") for number in range(random.randint(1, 4))]
    return {
        "protocol": "asuka",
        "settings": {"threshold": threshold, "mode": mode},
        "tasks": tasks,
        "rounds": [
            {
                "task": task["key"],
                "round": number,
                "repeat": repeat,
                "marks": _marks(random, task, words=words),
            }
            for task in tasks
            for repeat in range(1, random.randint(1, 2) + 1)
            for number in range(1, random.randint(0, 4) + 1)
        ],
    }


def _task(random: Random, *, key: str) -> dict[str, Any]:
    return {
        "key": key,
        "criteria": [
            {
                "key": f"c{number}",
                "kind": random.choice(KINDS),
                "weight": random.randint(1, 5),
                "needs": [
                    f"c{need}" for need in random.sample(range(number), random.randint(0, min(2, number)))
                ],
                "outcomes": random.randint(1, 4),
            }
            for number in range(random.randint(1, 7))
        ],
    }


def _marks(random: Random, task: dict[str, Any], *, words: tuple[str, ...]) -> dict[str, Any]:
    marks: dict[str, Any] = {}
    for criterion in task["criteria"]:
        how = random.random()
        if how < 0.05 and "error" in words:
            continue
        if how < 0.4:
            marks[criterion["key"]] = random.choice(words)
        else:
            marks[criterion["key"]] = [random.choice(words) for _ in range(criterion["outcomes"])]
    return marks
