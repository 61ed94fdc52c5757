"""What a result file says, ours or bare lists of what passed and failed: plain values, nothing looked up yet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from benchmark.packs.located import Located, Place
from benchmark.packs.problems import Repair
from benchmark.rules.vocabulary import Mark
from runs.exporting import SourceKind

_ROUND = re.compile(r"round_(\d{1,4})")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEvidence:
    """A piece of evidence that a file names: its bytes are not in it."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMark:
    """One mark of a file. Without index and text it is meant for the whole criterion.

    `mark` is None where the file says that nobody marked it.
    """

    place: Place
    criterion: str
    index: int | None = None
    text: str | None = None
    mark: Mark | None
    rationale: str = ""
    note: str | None = None
    problem: str | None = None
    evidence: tuple[NamedEvidence, ...] = ()
    raw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedFile:
    """One result file. What it does not say is None; `folders` are the names above it, nearest first."""

    located: Located
    folders: tuple[str, ...]
    parser: str
    task: str | None = None
    trial: str | None = None
    round: int | None = None
    snapshot: str = ""
    benchmark_hash: str = ""
    source_kind: SourceKind | None = None
    source_name: str = ""
    marked_at: datetime | None = None
    ratings: int = 0
    marks: tuple[FileMark, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @property
    def name(self) -> str:
        return self.located.file


def round_in_path(file: MarkedFile) -> int | None:
    """The round that the nearest folder names (`round_3`), or None."""
    found = _ROUND.fullmatch(file.folders[0]) if file.folders else None
    return int(found[1]) if found else None
