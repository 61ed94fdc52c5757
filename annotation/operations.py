"""What an annotator's operation says and what it makes of an annotation: plain values, no rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import Any
from uuid import UUID

from annotation.texts import storable
from annotation.vocabulary import Change, EnvironmentProblem
from benchmark.rules.vocabulary import Mark

LONGEST_NOTE = 20_000
LONGEST_PROBLEM = 2_000
HIGHEST_ID = 2**63 - 1


class OperationRefused(ValueError):
    """Raised with a sentence that says why an operation is not saved and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """How an annotation stands; a note of None means that it was not reviewed."""

    mark: Mark | None = None
    score: float | None = None
    problem: EnvironmentProblem | None = None
    problem_text: str = ""
    note: str | None = None

    def __post_init__(self) -> None:
        if (self.problem is not None) != (self.mark is Mark.ERROR):
            raise OperationRefused(
                "An environment problem and the mark error go together; give one with its reason."
            )
        if self.problem is not None and self.score is not None:
            raise OperationRefused("An environment problem has no score: take one of them away.")

    @property
    def is_decided(self) -> bool:
        """Whether a mark, a rating or an environment problem was given."""
        return self.mark is not None or self.score is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What may be said of one item: marks, or a number between two bounds."""

    marks: tuple[Mark, ...] = ()
    minimum: float = 0
    maximum: float = 0
    is_rating: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One change as a client named it, with what it gives; checked against its item by `outcome_of`."""

    operation: UUID
    annotation: int
    change: Change
    base: int
    made_at: datetime
    undoes: UUID | None = None
    given: Mapping[str, Any] = field(default_factory=dict)


def read_operation(raw: Any) -> Operation:
    """Return an operation from a document. Raises OperationRefused."""
    if not isinstance(raw, dict):
        raise OperationRefused(
            "An operation is an object with operation, annotation, change, base and made_at."
        )
    change = _word(Change, raw.get("change"), "change")
    undoes = _uuid(raw.get("undoes"), "undoes") if change is Change.UNDO else None
    return Operation(
        operation=_uuid(raw.get("operation"), "operation"),
        annotation=_whole(raw.get("annotation"), "annotation"),
        change=change,
        base=_whole(raw.get("base"), "base"),
        made_at=_moment(raw.get("made_at")),
        undoes=undoes,
        given=raw,
    )


def outcome_of(operation: Operation, before: Values, *, asked: Asked) -> Values:
    """Return what an annotation becomes by an operation. Raises OperationRefused."""
    given = operation.given
    match operation.change:
        case Change.MARK:
            mark = _mark(given.get("mark"), asked)
            return replace(before, mark=mark, problem=None, problem_text="", note=before.note or "")
        case Change.SCORE:
            score = _score(given.get("score"), asked)
            return Values(score=score, note=before.note or "")
        case Change.PROBLEM:
            problem = _word(EnvironmentProblem, given.get("problem"), "problem")
            text = _problem_text(given.get("problem_text"), problem)
            return Values(mark=Mark.ERROR, problem=problem, problem_text=text, note=before.note)
        case Change.NOTE:
            note = _note(given.get("note"))
            # A blank note alone is no sign that somebody reviewed the item; a mark is.
            return replace(before, note=note if note or before.is_decided else None)
        case Change.CLEAR:
            return Values(note=before.note or None)
        case Change.UNDO:
            return _earlier(given, asked)


def _earlier(given: Mapping[str, Any], asked: Asked) -> Values:
    raw = given.get("mark")
    problem = _word(EnvironmentProblem, given["problem"], "problem") if given.get("problem") else None
    mark = Mark.ERROR if problem is not None else _mark(raw, asked) if raw else None
    score = None if given.get("score") is None else _score(given["score"], asked)
    text = _problem_text(given.get("problem_text"), problem) if problem is not None else ""
    note = None if given.get("note") is None else _note(given["note"])
    return Values(mark=mark, score=score, problem=problem, problem_text=text, note=note)


def _mark(raw: Any, asked: Asked) -> Mark:
    if asked.is_rating:
        raise OperationRefused("This campaign asks for ratings here, not for marks.")
    if not isinstance(raw, str) or raw not in asked.marks:
        known = ", ".join(asked.marks)
        raise OperationRefused(f"{_shown(raw)} is not a mark of this campaign; give one of {known}.")
    return Mark(raw)


def _score(raw: Any, asked: Asked) -> float:
    if not asked.is_rating:
        raise OperationRefused("This campaign asks for marks here, not for ratings.")
    within = f"a number from {asked.minimum:g} to {asked.maximum:g}"
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise OperationRefused(f"{_shown(raw)} is not a rating; give {within}.")
    # Compared before it becomes a float: a whole number may be too large for one.
    if not isfinite(raw) if isinstance(raw, float) else False:
        raise OperationRefused(f"{_shown(raw)} is not a rating; give {within}.")
    if not asked.minimum <= raw <= asked.maximum:
        raise OperationRefused(f"{_shown(raw)} is outside the scale; give {within}.")
    return float(raw)


def _note(raw: Any) -> str:
    if not isinstance(raw, str):
        raise OperationRefused("A note is text; send an empty one to say nothing.")
    return _bounded(raw, LONGEST_NOTE, "note")


def _problem_text(raw: Any, problem: EnvironmentProblem) -> str:
    text = _bounded(raw if isinstance(raw, str) else "", LONGEST_PROBLEM, "reason").strip()
    if problem is EnvironmentProblem.OTHER and not text:
        raise OperationRefused("Say what the environment problem was: the reason 'other' needs a sentence.")
    return text


def _bounded(text: str, longest: int, name: str) -> str:
    if len(text) > longest:
        raise OperationRefused(f"This {name} has {len(text)} characters; the most is {longest}. Shorten it.")
    return storable(text)


def _word[W: StrEnum](words: type[W], raw: Any, name: str) -> W:
    try:
        return words(raw)
    except ValueError:
        raise OperationRefused(f"{_shown(raw)} is not a {name}; known are {', '.join(words)}.") from None


def _uuid(raw: Any, name: str) -> UUID:
    try:
        return UUID(raw)
    except (ValueError, TypeError, AttributeError):
        raise OperationRefused(f"{_shown(raw)} is no UUID; `{name}` needs one.") from None


def _whole(raw: Any, name: str) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw <= HIGHEST_ID:
        raise OperationRefused(f"{_shown(raw)} is no whole number; `{name}` needs one.")
    return raw


def _moment(raw: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(raw)
    except (ValueError, TypeError):
        moment = None
    # Far years overflow when they are turned into another time zone.
    if moment is None or moment.tzinfo is None or not 1900 <= moment.year <= 2200:
        raise OperationRefused(
            f"{_shown(raw)} is no time with its zone; `made_at` is like 2026-01-31T12:00:00Z."
        )
    return moment


def _shown(raw: Any) -> str:
    text = storable(repr(raw))
    return text if len(text) <= 60 else f"{text[:59]}…"
