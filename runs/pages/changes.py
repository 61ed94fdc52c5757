"""What changed between two rounds: criteria by change, and the feedback that may have caused it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmark.display import Look, mark_of_outcomes
from benchmark.rules.vocabulary import Mark

type Marks = Mapping[str, Sequence[Mark]]


class Change(StrEnum):
    """How a criterion's mark moved from one round to a later one."""

    FIXED = "fixed"
    REGRESSED = "regressed"
    REACHED = "newly reachable"
    UNREACHED = "no longer reachable"
    FAILING = "still failing"
    UNCHANGED = "unchanged"


_EXPLAINED = {
    Change.FIXED: "failed, now passes",
    Change.REGRESSED: "passed, now fails",
    Change.REACHED: "were skipped",
    Change.UNREACHED: "are skipped now",
    Change.FAILING: "failed, fails again",
    Change.UNCHANGED: "",
}
_LOOKS = {
    Change.FIXED: Look.PASS,
    Change.REGRESSED: Look.FAIL,
    Change.REACHED: Look.RUNNING,
    Change.UNREACHED: Look.SKIPPED,
    Change.FAILING: None,
    Change.UNCHANGED: None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCriterion:
    """One criterion with its look before and after."""

    key: str
    label: str
    before: Look
    after: Look
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeGroup:
    """All criteria that moved the same way."""

    change: Change
    criteria: tuple[ChangedCriterion, ...]

    @property
    def explained(self) -> str:
        return _EXPLAINED[self.change]

    @property
    def look(self) -> Look | None:
        return _LOOKS[self.change]

    @property
    def count(self) -> int:
        return len(self.criteria)


def change_groups(criteria: Sequence[tuple[str, str]], before: Marks, after: Marks) -> list[ChangeGroup]:
    """Group (key, label) pairs by how their marks moved, most interesting first, none left out."""
    groups: dict[Change, list[ChangedCriterion]] = {change: [] for change in Change}
    for key, label in criteria:
        first, second = mark_of_outcomes(before.get(key, ())), mark_of_outcomes(after.get(key, ()))
        change = _change(first, second)
        groups[change].append(
            ChangedCriterion(key=key, label=label, before=first, after=second, change=change)
        )
    return [ChangeGroup(change=change, criteria=tuple(found)) for change, found in groups.items() if found]


def _change(first: Look, second: Look) -> Change:
    failing = (Look.FAIL, Look.PARTIAL)
    if first in failing and second is Look.PASS:
        return Change.FIXED
    if first is Look.PASS and second in failing:
        return Change.REGRESSED
    if first is Look.SKIPPED and second in (Look.PASS, *failing):
        return Change.REACHED
    if second is Look.SKIPPED and first in (Look.PASS, *failing):
        return Change.UNREACHED
    if first in failing and second in failing:
        return Change.FAILING
    return Change.UNCHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackPiece:
    """A stretch of feedback; `is_likely` where it seems to speak of the criterion."""

    text: str
    is_likely: bool


_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|$)\s*")
_WORD = re.compile(r"[^\W\d_]{4,}")
_COMMON = frozenset(
    [
        "that",
        "this",
        "with",
        "from",
        "have",
        "when",
        "what",
        "which",
        "their",
        "there",
        "should",
        "would",
        "could",
        "into",
        "only",
        "also",
        "then",
        "than",
        "they",
        "page",
        "pages",
        "shows",
        "shown",
        "show",
        "must",
        "each",
        "after",
        "before",
        "still",
        "does",
        "here",
        "were",
        "been",
        "being",
        "expected",
    ]
)


def marked_feedback(feedback: str, *, about: Sequence[str]) -> list[FeedbackPiece]:
    """Cut feedback into sentences and mark the one that shares most words with `about`.

    Nobody ties a sentence to a criterion, so this is a guess by words and the page calls it likely.
    With fewer than two words in common nothing is marked.
    """
    wanted = {_stem(word) for text in about for word in _words(text)}
    sentences = _SENTENCE.findall(feedback)
    shared = [len({_stem(word) for word in _words(sentence)} & wanted) for sentence in sentences]
    best = max(shared, default=0)
    return [
        FeedbackPiece(text=sentence, is_likely=best >= 2 and count == best)
        for sentence, count in zip(sentences, shared, strict=True)
    ]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _COMMON]


def _stem(word: str) -> str:
    return word.removesuffix("s")
