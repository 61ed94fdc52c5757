"""Write feedback without a model: what was tried, what was expected, what was seen, in a user's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmark.rules.records import CriterionSpec, RoundRecord, TaskSpec
from benchmark.rules.vocabulary import Mark

MOST_SENTENCES = 6
"""Sentences about one criterion; a user who found more would say so and stop counting."""

LONGEST_SENTENCE = 400

_OPENING = "I tried the application. These things do not work for me yet:"
_CLOSING = "Please change the application so that they work, and keep what already works as it is."
_UNSAID = "This does not work as I would expect."


class TemplateFeedback:
    """Feedback built from titles and rationales alone: the same round always gives the same text.

    Keys, selectors and the hidden wording of outcomes are never part of it.
    """

    name = "template"

    def write(self, task: TaskSpec, judged: RoundRecord, failed: Sequence[CriterionSpec]) -> str:
        """Write one numbered point for each criterion in `failed`, in the task's order; "" for none."""
        order = {criterion.key: position for position, criterion in enumerate(task.criteria)}
        points = [
            _point(criterion, judged)
            for criterion in sorted(failed, key=lambda each: order.get(each.key, len(order)))
            if _has_failed(criterion, judged)
        ]
        if not points:
            return ""
        numbered = "\n".join(f"{number}. {point}" for number, point in enumerate(_merged(points), start=1))
        return f"{_OPENING}\n\n{numbered}\n\n{_CLOSING}\n"


def as_a_user_says(rationale: str) -> str:
    """Return a judge's rationale in the first person: "I expected 3 rows, but saw 2."."""
    text = " ".join(rationale.split())
    if len(text) > LONGEST_SENTENCE:
        text = f"{text[: LONGEST_SENTENCE - 3].rstrip()}..."
    text = re.sub(r"(^|: )(?:E|e)xpected ", r"\1I expected ", text, count=1)
    text = re.sub(r"(^|: )(?:C|c)ould not ", r"\1I could not ", text, count=1)
    if "I expected " in text:
        text = re.sub(r", saw ", ", but saw ", text, count=1)
    return text


def _has_failed(criterion: CriterionSpec, judged: RoundRecord) -> bool:
    return any(mark in {Mark.FAIL, Mark.PARTIAL} for mark in judged.marks.get(criterion.key, ()))


def _point(criterion: CriterionSpec, judged: RoundRecord) -> tuple[str, str]:
    """Return a criterion's title and what is to be said of it."""
    marks = judged.marks[criterion.key]
    rationales = judged.rationales.get(criterion.key, ())
    sentences: list[str] = []
    for position, mark in enumerate(marks):
        if mark not in {Mark.FAIL, Mark.PARTIAL}:
            continue
        told = rationales[position] if position < len(rationales) else ""
        sentence = as_a_user_says(told) if told.strip() else _UNSAID
        if sentence not in sentences:
            sentences.append(sentence)
    if len(sentences) > MOST_SENTENCES:
        more = len(sentences) - MOST_SENTENCES
        sentences[MOST_SENTENCES:] = [f"There {'is' if more == 1 else 'are'} {more} more of this kind."]
    return " ".join(criterion.title.split()), " ".join(sentences)


def _merged(points: Sequence[tuple[str, str]]) -> list[str]:
    """Return points as text; what is to be said of several criteria alike is said once."""
    titles: dict[str, list[str]] = {}
    for title, text in points:
        known = titles.setdefault(text, [])
        if title and title not in known:
            known.append(title)
    return [f"{', '.join(known)}: {text}" if known else text for text, known in titles.items()]
