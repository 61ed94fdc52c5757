"""An environment problem as one text of a result file, and read back from it."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.vocabulary import EnvironmentProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemSaid:
    """An environment problem with what the person wrote about it."""

    problem: EnvironmentProblem
    text: str = ""


def problem_words(problem: str, text: str) -> str | None:
    """Return the problem's word, then what the person wrote; None where there is no problem."""
    if not problem:
        return None
    return f"{problem}: {text}" if text else problem


def problem_said(words: str) -> ProblemSaid:
    """Return what `problem_words` made a text of; a reason in other words is `other`."""
    word, _, text = words.partition(": ")
    try:
        return ProblemSaid(problem=EnvironmentProblem(word), text=text)
    except ValueError:
        return ProblemSaid(problem=EnvironmentProblem.OTHER, text=words)
