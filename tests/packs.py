"""Write small benchmark packs to disk for tests: name what matters, the rest is supplied."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

HEAD = """\
schema = "proofroom/pack/1"
key = "mini"
version = "1"
title = "Mini"
protocol = "asuka"
tasks = ["shop"]

[settings]
threshold = 0.5
mode = "dag"
"""

RUBRIC: dict[str, Any] = {
    "criteria": [
        {"key": "c0", "title": "Layout", "kind": "presence", "weight": 2, "outcomes": [{"text": "A list."}]},
        {
            "key": "c1",
            "kind": "functionality",
            "needs": ["c0"],
            "outcomes": [
                {"text": "A total.", "script": [{"click": "button"}, {"expect_visible": "#total"}]},
                {"text": "No error."},
            ],
        },
    ]
}


def files(**changed: str | bytes | None) -> dict[str, bytes]:
    """The files of a pack that is right, with some changed, added or (None) left out."""
    texts: dict[str, str | bytes | None] = {
        "benchmark.toml": HEAD,
        "tasks/shop/task.toml": 'title = "Shop"\n\n[facts]\ncategory = "shop"\n',
        "tasks/shop/request.md": "Please build a shop.\n",
        "tasks/shop/prd.md": "The shop has a cart.\n",
        "tasks/shop/rubric.json": json.dumps(RUBRIC, indent=2),
        "tasks/shop/data/items.csv": "name,price\nlamp,3\n",
        "candidates/ours/shop/round_1/index.html": "<h1>Shop</h1>",
        "candidates/ours/shop/round_2/index.html": "<h1>Shop 2</h1>",
        **changed,
    }
    return {
        path: text.encode() if isinstance(text, str) else text
        for path, text in texts.items()
        if text is not None
    }


def rubric(*criteria: dict[str, Any]) -> str:
    """A rubric with the given criteria; each gets a kind and an outcome unless it has its own."""
    return json.dumps(
        {
            "criteria": [
                {"kind": "presence", "outcomes": [{"text": "There."}], **criterion} for criterion in criteria
            ]
        },
        indent=2,
    )


def folder(root: Path, contents: dict[str, bytes] | None = None) -> Path:
    """A pack as a folder."""
    for path, content in (files() if contents is None else contents).items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return root


def zipped(target: Path, contents: dict[str, bytes] | None = None, *, inside: str = "") -> Path:
    """A pack as a zip, possibly of a folder with the name `inside`."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in (files() if contents is None else contents).items():
            archive.writestr(inside + path, content)
    return target
