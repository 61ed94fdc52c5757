"""The containment report of a round: what was seen when its foreign commands ended, kept once a use."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.db import transaction

from benchmark.display import counted, duration, file_size, whole
from benchmark.rules.vocabulary import StageName
from runs.models import ContainmentRow, Round, Trial
from runs.ports import ContainedNote, Containment, LimitHit, LimitKind

MOST_LEFT = 100
"""Ports and paths kept of one use: what leaves more behind is told from what leaves some, no further."""

_NAMES = {
    LimitKind.CPU: "processor time",
    LimitKind.MEMORY: "memory",
    LimitKind.PROCESSES: "processes",
    LimitKind.FILE_SIZE: "size of a file",
    LimitKind.DISK: "disk",
    LimitKind.OUTPUT: "output",
    LimitKind.WALL_CLOCK: "wall clock",
}
_LONGEST_PATH = 500
_LARGEST = 1e18


def merged(one: Containment, other: Containment) -> Containment:
    """Return the worse of two reports on the same use, fact by fact.

    A report merged with itself is itself, and the order does not matter: a stage that a crash lets run
    again adds what is new and doubles nothing.
    """
    hits: dict[LimitKind, LimitHit] = {}
    for hit in (*one.limits_hit, *other.limits_hit):
        known = hits.get(hit.kind)
        if known is None or (hit.seen, hit.limit) > (known.seen, known.limit):
            hits[hit.kind] = hit
    return replace(
        one,
        processes_left=max(one.processes_left, other.processes_left),
        ports_left=tuple(sorted({*one.ports_left, *other.ports_left})[:MOST_LEFT]),
        files_left=tuple(sorted({*one.files_left, *other.files_left})[:MOST_LEFT]),
        seconds_to_end=max(one.seconds_to_end, other.seconds_to_end),
        limits_hit=tuple(hits[kind] for kind in sorted(hits)),
    )


def report_of(row: ContainmentRow) -> Containment:
    """A stored report as a record; what its JSON holds beside the known form is passed over."""
    return Containment(
        level=row.level,
        stage=row.use,
        processes_left=row.processes_left,
        ports_left=tuple(row.ports_left),
        files_left=tuple(row.files_left),
        seconds_to_end=row.seconds_to_end,
        limits_hit=hits_of(row.limits_hit),
    )


def as_json(row: ContainmentRow) -> dict[str, Any]:
    """A stored report as commands, API and files tell it."""
    return {
        "stage": row.stage,
        "use": row.use,
        "level": row.level,
        "processes_left": row.processes_left,
        "ports_left": list(row.ports_left),
        "files_left": list(row.files_left),
        "seconds_to_end": row.seconds_to_end,
        "limits_hit": list(row.limits_hit),
    }


def hits_of(stored: Iterable[Mapping[str, Any]]) -> tuple[LimitHit, ...]:
    """The limits in a report's JSON; a kind that is not known here is passed over."""
    known = {kind.value for kind in LimitKind}
    return tuple(
        LimitHit(kind=LimitKind(hit["kind"]), limit=float(hit["limit"]), seen=float(hit["seen"]))
        for hit in stored
        if hit.get("kind") in known
    )


def hit_words(hit: LimitHit) -> str:
    """A limit with its figures: `memory: 1.2 GiB seen, 1.0 GiB allowed`."""
    match hit.kind:
        case LimitKind.CPU | LimitKind.WALL_CLOCK:
            seen, allowed = duration(hit.seen), duration(hit.limit)
        case LimitKind.PROCESSES:
            seen, allowed = whole(hit.seen), whole(hit.limit)
        case _:
            seen, allowed = file_size(int(hit.seen)), file_size(int(hit.limit))
    return f"{_NAMES[hit.kind]}: {seen} seen, {allowed} allowed"


def left_words(row: ContainmentRow) -> list[str]:
    """What outlived its command, piece by piece; empty where nothing did."""
    return [
        *([counted(row.processes_left, "process", "processes")] if row.processes_left else []),
        *(f"port {port}" for port in row.ports_left),
        *(str(path) for path in row.files_left),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    round_id: int
    stage: StageName
    use: str
    level: str


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Takes reports from any thread while a trial is worked on, and writes them from the worker's own."""

    trial: Trial
    _waiting: dict[_Place, Containment] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def noting(self, round_: Round, stage: StageName) -> ContainedNote:
        """A note for the commands that a stage of a round starts; it may be called when that stage is over."""
        return partial(self._note, round_.pk, stage)

    def write(self) -> None:
        """Write what has come in since.

        Without a look at the claim: these are facts about processes of this machine, also where the trial
        was cancelled or taken over meanwhile, and merging takes them in any order.
        """
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        with transaction.atomic():
            # Two workers may write for one trial after a lost claim: one after the other.
            Trial.objects.select_for_update(no_key=True).filter(pk=self.trial.pk).values_list("pk").first()
            for place, report in waiting.items():
                _save(place, report)

    def _note(self, round_id: int, stage: StageName, report: Containment) -> None:
        report = _storable(report)
        place = _Place(round_id=round_id, stage=stage, use=report.stage, level=report.level)
        with self._lock:
            known = self._waiting.get(place)
            self._waiting[place] = merged(report, report if known is None else known)


def _save(place: _Place, report: Containment) -> None:
    key: dict[str, Any] = {
        "round_id": place.round_id,
        "stage": place.stage,
        "use": place.use,
        "level": place.level,
    }
    row = ContainmentRow.objects.filter(**key).first()
    if row is not None:
        report = merged(report, report_of(row))
    facts: dict[str, Any] = {
        "processes_left": report.processes_left,
        "ports_left": list(report.ports_left),
        "files_left": list(report.files_left),
        "seconds_to_end": report.seconds_to_end,
        "limits_hit": [
            {"kind": hit.kind.value, "limit": hit.limit, "seen": hit.seen} for hit in report.limits_hit
        ],
    }
    ContainmentRow.objects.update_or_create(**key, defaults=facts)


def _storable(report: Containment) -> Containment:
    """The report as every database takes it: a hostile command chose the names in it."""
    return replace(
        report,
        files_left=tuple(_text(path) for path in report.files_left),
        seconds_to_end=_finite(report.seconds_to_end),
        limits_hit=tuple(
            replace(hit, limit=_finite(hit.limit), seen=_finite(hit.seen)) for hit in report.limits_hit
        ),
    )


def _text(path: str) -> str:
    return path.replace("\0", "").encode("utf-8", "backslashreplace").decode()[:_LONGEST_PATH]


def _finite(number: float) -> float:
    return min(max(number, 0.0), _LARGEST) if math.isfinite(number) else _LARGEST
