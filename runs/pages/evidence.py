"""What a judge kept of an outcome, read for a page: the picture, where it looked, and the logs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark import blobs
from benchmark.display import counted, duration
from runs.models import Evidence
from runs.ports import EvidenceKind

LARGEST_LOG = 400_000
MOST_LINES = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedBox:
    """Where the judge looked, in pixels of the picture; `label` says what it read there."""

    x: float
    y: float
    width: float
    height: float
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A screenshot with the element that was touched last. Missing bytes keep their hash."""

    evidence: Evidence
    is_missing: bool
    width: int
    height: int
    box: TouchedBox | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """One step that the judge took."""

    words: str
    time: str
    is_ok: bool
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line of a console or a network log."""

    text: str
    is_trouble: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A log as lines; `note` says what was cut or held back."""

    title: str
    lines: tuple[LogLine, ...]
    note: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeEvidence:
    """Everything that a page shows of one outcome's evidence."""

    pictures: tuple[Picture, ...] = ()
    steps: tuple[StepLine, ...] = ()
    logs: tuple[Log, ...] = ()
    others: tuple[Evidence, ...] = ()
    address: str = ""


def outcome_evidence(pieces: Sequence[Evidence]) -> OutcomeEvidence:
    """Read one outcome's pieces. Damaged or missing files become a line that says so."""
    actions: Mapping[str, Any] = {}
    logs: list[Log] = []
    others: list[Evidence] = []
    shots: list[Evidence] = []
    for piece in pieces:
        match piece.kind:
            case EvidenceKind.SCREENSHOT:
                shots.append(piece)
            case EvidenceKind.ACTIONS:
                actions = _document(piece)
                others.append(piece)
            case EvidenceKind.CONSOLE | EvidenceKind.NETWORK | EvidenceKind.LOG:
                logs.append(_log(piece))
            case _:
                others.append(piece)
    return OutcomeEvidence(
        pictures=tuple(_picture(shot, actions) for shot in shots),
        steps=tuple(_step(entry) for entry in _entries(actions, "steps")),
        logs=tuple(logs),
        others=tuple(others),
        address=str(actions.get("address", "")),
    )


def _picture(shot: Evidence, actions: Mapping[str, Any]) -> Picture:
    window = actions.get("window")
    window = window if isinstance(window, Mapping) else {}
    return Picture(
        evidence=shot,
        is_missing=not blobs.is_stored(shot.digest),
        width=int(window.get("width") or 1280),
        height=int(window.get("height") or 800),
        box=_touched(actions),
    )


def _touched(actions: Mapping[str, Any]) -> TouchedBox | None:
    box = actions.get("box")
    if not isinstance(box, Mapping):
        return None
    try:
        x, y, width, height = (float(box[side]) for side in ("x", "y", "width", "height"))
    except (KeyError, TypeError, ValueError):
        return None
    readings = [entry.get("reading") for entry in _entries(actions, "steps")]
    read = next((each for each in reversed(readings) if each not in (None, "", [])), None)
    return TouchedBox(
        x=x - 3, y=y - 3, width=width + 6, height=height + 6, label="" if read is None else _short(read)
    )


def _step(entry: Mapping[str, Any]) -> StepLine:
    words = str(entry.get("note") or entry.get("words") or entry.get("action") or "a step")
    milliseconds = entry.get("ms")
    return StepLine(
        words=words[:1].upper() + words[1:],
        time=duration(float(milliseconds) / 1000) if isinstance(milliseconds, int | float) else "",
        is_ok=entry.get("ok") is True,
        problem=str(entry.get("problem") or ""),
    )


def _log(piece: Evidence) -> Log:
    if piece.media_type != "application/json":
        lines = tuple(LogLine(text=line, is_trouble=False) for line in _text(piece).splitlines()[:MOST_LINES])
        return Log(title=piece.get_kind_display().capitalize(), lines=lines, note="", evidence=piece)
    document = _document(piece)
    entries = _entries(document, "entries")
    say = _network_line if piece.kind == EvidenceKind.NETWORK else _console_line
    notes = [str(document["unreadable"])] if "unreadable" in document else []
    if (cut := int(document.get("cut") or 0)) > 0:
        notes.append(
            f"{counted(cut, 'entry', 'entries')} came after the limit and {'was' if cut == 1 else 'were'} counted only."
        )
    if (blocked := int(document.get("blocked") or 0)) > 0:
        notes.append(
            f"{counted(blocked, 'request')} to other hosts {'was' if blocked == 1 else 'were'} held back."
        )
    if len(entries) > MOST_LINES:
        notes.append(f"{len(entries) - MOST_LINES} more lines are in the file.")
    return Log(
        title=piece.get_kind_display().capitalize(),
        lines=tuple(say(entry) for entry in entries[:MOST_LINES]),
        note=" ".join(notes),
        evidence=piece,
    )


def _console_line(entry: Mapping[str, Any]) -> LogLine:
    kind = str(entry.get("type", ""))
    return LogLine(text=f"{kind}: {entry.get('text', '')}", is_trouble=kind in ("error", "uncaught"))


def _network_line(entry: Mapping[str, Any]) -> LogLine:
    status = entry.get("status")
    failure = str(entry.get("failure") or "")
    text = f"{status or failure or 'no answer'} {entry.get('method', '')} {entry.get('url', '')}"
    return LogLine(text=text, is_trouble=bool(failure) or (isinstance(status, int) and status >= 400))


def _entries(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = document.get(name)
    return [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []


def _document(piece: Evidence) -> Mapping[str, Any]:
    text = _text(piece)
    try:
        document = json.loads(text)
    except ValueError:
        return {"unreadable": "This file cannot be read as it was meant; the file itself can be downloaded."}
    return document if isinstance(document, dict) else {}


def _text(piece: Evidence) -> str:
    try:
        return blobs.read_blob(piece.digest, at_most=LARGEST_LOG).decode("utf-8", "replace")
    except blobs.BlobMissing:
        return f"The file is missing. Its hash is on record: sha256 {piece.digest}"


def _short(reading: Any) -> str:
    text = reading if isinstance(reading, str) else json.dumps(reading, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
