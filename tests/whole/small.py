"""A pack of one small page: quick to judge, or slow at its last criterion so that a test can step in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests import packs

QUICK: list[dict[str, Any]] = [{"expect_visible": "h1"}]
SLOW = [{"wait": 6_000}, *QUICK]
SLOWER = [{"wait": 10_000}, {"wait": 10_000}, *QUICK]
ABSENT: list[dict[str, Any]] = [{"expect_visible": "#not-there"}]

HEAD = """\
schema = "proofroom/pack/1"
key = "KEY"
version = "1"
title = "A small page"
protocol = "asuka"
tasks = ["page"]

[settings]
max_rounds = 1
"""


def pack(root: Path, *, key: str, scripts: dict[str, list[dict[str, Any]]]) -> Path:
    """A pack with one task, one criterion a script in a chain, and a recorded page."""
    criteria = [
        {
            "key": name,
            "kind": "presence",
            "needs": [list(scripts)[number - 1]] if number else [],
            "outcomes": [{"text": f"{name} holds.", "script": script}],
        }
        for number, (name, script) in enumerate(scripts.items())
    ]
    return packs.folder(
        root / key,
        {
            "benchmark.toml": HEAD.replace("KEY", key).encode(),
            "tasks/page/task.toml": b'title = "Page"\n',
            "tasks/page/request.md": b"Please build a page with a heading.\n",
            "tasks/page/rubric.json": json.dumps({"criteria": criteria}).encode(),
            "candidates/ours/page/round_1/index.html": b"<!doctype html><title>Page</title><h1>Page</h1>",
        },
    )
