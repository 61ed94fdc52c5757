"""Keep what an outcome left behind: a picture, what was done, and what the page said."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import FloatRect

from runs.adapters.judges.scripted.readings import cleaned
from runs.adapters.judges.scripted.visit import Visit
from runs.ports import EvidenceKind

LARGEST_PICTURE = 2_000_000
LARGEST_DOM = 60_000
LARGEST_TRACE = 20_000_000
_SECONDS = 5.0

type Piece = dict[str, str]
"""One file in the scratch folder: its kind, name, media type and path, as the parent is told."""


async def kept_evidence(
    visit: Visit, folder: Path, *, actions: Mapping[str, Any], with_dom: bool, is_reachable: bool
) -> list[Piece]:
    """Write an outcome's evidence into a folder and return what was written.

    `is_reachable` is False when the page no longer answers: then nothing is asked of it.
    """
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    pieces = []
    box = await _end_box(visit) if is_reachable else None
    if is_reachable:
        picture = await _picture(visit, folder)
        pieces.extend([picture] if picture else [])
    pieces.append(_json(folder, EvidenceKind.ACTIONS, {**actions, "box": box, **_window(visit)}))
    pieces.append(_json(folder, EvidenceKind.CONSOLE, visit.logs.console.as_json()))
    pieces.append(_json(folder, EvidenceKind.NETWORK, visit.logs.network_json()))
    if with_dom and is_reachable and (tree := await _tree(visit)):
        path = folder / "dom.txt"
        path.write_text(tree, encoding="utf-8")
        pieces.append(_piece(EvidenceKind.DOM, path, "text/plain"))
    return pieces


def rounded(box: FloatRect) -> dict[str, float]:
    """Return a box with one decimal, as JSON."""
    return {
        "x": round(box["x"], 1),
        "y": round(box["y"], 1),
        "width": round(box["width"], 1),
        "height": round(box["height"], 1),
    }


def trace_piece(path: Path) -> Piece | None:
    """Return a written trace as a piece, None when there is none or it is too large to keep."""
    if not path.is_file() or path.stat().st_size > LARGEST_TRACE:
        return None
    return _piece(EvidenceKind.TRACE, path, "application/zip")


async def _picture(visit: Visit, folder: Path) -> Piece | None:
    for kind, media_type in (("png", "image/png"), ("jpeg", "image/jpeg")):
        path = folder / f"screenshot.{kind}"
        options: dict[str, Any] = {"quality": 70} if kind == "jpeg" else {}
        try:
            picture = await asyncio.wait_for(
                visit.page.screenshot(
                    type="png" if kind == "png" else "jpeg",
                    animations="disabled",
                    scale="css",
                    timeout=_SECONDS * 1000,
                    **options,
                ),
                _SECONDS + 1,
            )
        except (PlaywrightError, TimeoutError):
            return None
        if len(picture) <= LARGEST_PICTURE or kind == "jpeg":
            path.write_bytes(picture)
            return _piece(EvidenceKind.SCREENSHOT, path, media_type)
    return None


async def _end_box(visit: Visit) -> dict[str, float] | None:
    """Return where the element touched last is in the final picture."""
    if visit.touched is None:
        return None
    with suppress(PlaywrightError, TimeoutError):
        box = await asyncio.wait_for(visit.touched.bounding_box(timeout=500), 1)
        if box is not None:
            return rounded(box)
    return None


def _window(visit: Visit) -> dict[str, Any]:
    size = visit.page.viewport_size
    return {
        "window": dict(size) if size else None,
        "address": cleaned(visit.page.url.removeprefix(visit.fence.origin))[:1000],
        "dialogs": [
            {"kind": dialog.kind, "message": dialog.message[:500], "accepted": dialog.accepted}
            for dialog in visit.dialogs
        ],
    }


async def _tree(visit: Visit) -> str:
    with suppress(PlaywrightError, TimeoutError):
        tree = await asyncio.wait_for(
            visit.page.locator("body").aria_snapshot(timeout=_SECONDS * 1000), _SECONDS + 1
        )
        tree = cleaned(tree)
        if len(tree) > LARGEST_DOM:
            return f"{tree[:LARGEST_DOM]}\n... {len(tree) - LARGEST_DOM} more characters were cut."
        return tree
    return ""


def _json(folder: Path, kind: EvidenceKind, value: Any) -> Piece:
    path = folder / f"{kind.value}.json"
    path.write_text(cleaned(json.dumps(value, ensure_ascii=True, default=str)), encoding="utf-8")
    return _piece(kind, path, "application/json")


def _piece(kind: EvidenceKind, path: Path, media_type: str) -> Piece:
    return {"kind": kind.value, "name": path.name, "media_type": media_type, "path": str(path)}
