"""Everything that is wrong with a file that was to be imported: file, line and a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong. `line` is None where a whole file, or no file, is meant."""

    file: str
    line: int | None = None
    text: str

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{place}: {self.text}" if place else self.text

    def as_json(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One thing that the reader of a published set had to mend or to make up."""

    name: str
    file: str
    line: int | None = None
    text: str

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{self.name}: {place}: {self.text}"

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "file": self.file, "line": self.line, "text": self.text}


@dataclass(slots=True)
class Problems:
    """Collects problems, so that all of them are reported at once."""

    found: list[Problem] = field(default_factory=list)

    def add(self, file: str, text: str, *, line: int | None = None) -> None:
        self.found.append(Problem(file=file, line=line, text=text))

    def refuse_if_any(self) -> None:
        """Raise ImportRefused when there is a problem."""
        if self.found:
            raise ImportRefused(self.found)


class ImportRefused(ValueError):
    """Nothing was imported; `problems` says why, by file and line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = tuple(sorted(problems, key=lambda p: (p.file, p.line or 0)))
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """One problem in a line, or their number and a line for each."""
        if len(self.problems) == 1:
            return f"Nothing was imported. {self.problems[0]}"
        lines = "\n".join(str(problem) for problem in self.problems)
        return f"Nothing was imported: {len(self.problems)} problems.\n{lines}"
