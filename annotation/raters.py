"""Whose marks a file holds, and that no mark is given twice by one name."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.marked_files import MarkedFile
from annotation.matching import Matched, OutcomeMark, RoundMarks
from benchmark.packs.problems import Problems, Repair
from runs.exporting import SourceKind
from runs.models import Round

LONGEST = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What one rater or judge said of one round, from one file or from several."""

    name: str
    round: Round
    files: tuple[MarkedFile, ...]
    marks: tuple[OutcomeMark, ...]

    @property
    def content_hash(self) -> str:
        """Equal for the same marks on the same outcomes of the same round, in whatever files."""
        said = [
            [
                mark.outcome,
                mark.said.mark,
                mark.said.note,
                mark.said.problem,
                mark.said.rationale,
            ]
            for mark in self.marks
        ]
        document = [self.round.pk, self.name, sorted(said, key=lambda each: int(str(each[0])))]
        return hashlib.sha256(json.dumps(document).encode()).hexdigest()


def given_by_name(found: Matched, *, kind: SourceKind, name: str | None) -> list[Given]:
    """Return the marks by rater (or judge) and round.

    `name` overrides what the files say. Raises ImportRefused: for files of nobody, for files of the
    other kind, and for outcomes that are marked twice under one name.
    """
    problems = Problems()
    chosen = None if name is None else _visible_name(name)
    by_place: dict[tuple[str, int], list[RoundMarks]] = defaultdict(list)
    for each in found.files:
        who = chosen or _named_in(each.file, kind, problems, found)
        by_place[who, each.round.pk].append(each)
    problems.refuse_if_any()
    given = [
        Given(
            name=who,
            round=parts[0].round,
            files=tuple(part.file for part in parts),
            marks=tuple(_once(parts, who, problems)),
        )
        for (who, _), parts in by_place.items()
    ]
    problems.refuse_if_any()
    return given


def _named_in(file: MarkedFile, kind: SourceKind, problems: Problems, found: Matched) -> str:
    """Return the name that a file gives, or "" after a problem was added."""
    if file.source_kind is not None and file.source_kind is not kind:
        way = (
            "import it with --as verdicts, or say who marked with --rater NAME."
            if kind is SourceKind.PERSON
            else "import it with --as labels, or say which judge it was with --judge NAME."
        )
        who = "a judge's" if kind is SourceKind.PERSON else "a person's"
        file.located.problem(problems, ("source", "kind"), f"the file holds {who} marks; {way}")
        return ""
    name = _visible_name(file.source_name)
    if not name:
        option = "--rater NAME" if kind is SourceKind.PERSON else "--judge NAME"
        file.located.problem(
            problems, ("source",), f"the file does not say who marked; say it with {option}."
        )
    elif name != file.source_name:
        line = file.located.line_of(("source", "name"))
        text = f"the name {file.source_name!r} is read as {name!r}: blank space does not make another person."
        found.repairs.append(Repair(name="rater_name", file=file.name, line=line, text=text))
    return name


def _visible_name(name: str) -> str:
    visible = "".join(
        character
        for character in unicodedata.normalize("NFC", name)
        # Zero-width characters and the like: they make two names that nobody can tell apart.
        if unicodedata.category(character) not in ("Cf", "Cc") or character.isspace()
    )
    return " ".join(visible.split())[:LONGEST].strip()


def _once(parts: Sequence[RoundMarks], who: str, problems: Problems) -> list[OutcomeMark]:
    seen: dict[int, tuple[str, int | None]] = {}
    marks = []
    for part in parts:
        for mark in part.marks:
            earlier = seen.get(mark.outcome)
            if earlier is not None:
                file, line = earlier
                place = f"{file}, line {line}" if line else file
                problems.add(
                    part.file.name,
                    f"criterion {mark.criterion}, outcome {mark.position[1]} is marked twice by {who}, "
                    f"first in {place}; leave one of them.",
                    line=mark.line,
                )
                continue
            seen[mark.outcome] = (part.file.name, mark.line)
            marks.append(mark)
    return sorted(marks, key=lambda mark: mark.position)
