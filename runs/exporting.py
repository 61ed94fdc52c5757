"""Result files: one trial and round a file, in the one schema that judges and people share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from django.db.models import Max

from benchmark.rules.marks import criterion_mark
from benchmark.rules.vocabulary import Mark, Role
from benchmark.whole_files import whole_file
from runs.containments import as_json
from runs.models import ContainmentRow, Judging, Round, Run, Verdict

SCHEMA = "proofroom/results/1"
FILE_NAME = "eval_step3_results.json"
TRIAL_NAME = re.compile(r"trial-([0-9]{1,18})")
_UNSAFE = re.compile(r"^\.+|[^A-Za-z0-9._-]")


class SourceKind(StrEnum):
    """Who gave the marks of a result file."""

    JUDGE = "judge"
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Who gave the marks of a result file, by name."""

    kind: SourceKind
    name: str


def write_results(run: Run, folder: Path, *, judge: str | None = None) -> int:
    """Write `<task>/<trial>/round_<r>/eval_step3_results.json` for every judged round; return how many.

    The marks are those of the primary judgings, or of the newest ones of `judge`. A round is read at
    a time, so memory does not grow with the run. Raises OSError.
    """
    written = 0
    for judging in _judgings(run, judge=judge):
        write_result(folder / result_path(judging.round), result_document(run, judging))
        written += 1
    return written


def write_result(target: Path, document: dict[str, Any]) -> None:
    """Write one result file, whole or not at all, and the folders above it. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as out:
        out.write(result_text(document).encode())


def result_text(document: dict[str, Any]) -> str:
    """A result file's document as its text."""
    return json.dumps(document, ensure_ascii=False, indent=1)


def result_path(round_: Round) -> str:
    """Where a round's result file lies below the folder of one source; expects trial and task read."""
    return f"{safe_name(round_.trial.task.key)}/{opaque_trial(round_)}/round_{round_.number}/{FILE_NAME}"


def safe_name(name: str) -> str:
    """A name as one part of a path that leads nowhere else."""
    return _UNSAFE.sub("_", name)


def opaque_trial(round_: Round) -> str:
    """A trial's name in files that people see blind: never the code agent's."""
    return f"trial-{round_.trial_id}"


def result_document(run: Run, judging: Judging) -> dict[str, Any]:
    """The marks of one judging in the result file's schema, and how the candidate was held."""
    marks = document_of(
        run,
        judging.round,
        source=Source(kind=SourceKind.JUDGE, name=judging.judge),
        marked_at=judging.finished_at or judging.started_at,
        criteria=_criteria(judging),
    )
    held = ContainmentRow.objects.filter(round=judging.round).order_by("pk")
    return marks | {
        "sandbox": run.sandbox,
        "cautions": run.cautions,
        "containment": [as_json(row) for row in held],
    }


def document_of(
    run: Run,
    round_: Round,
    *,
    source: Source,
    marked_at: datetime | None,
    criteria: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """The marks of one source on one round in the result file's schema.

    A criterion whose mark is None is not decided and stands in none of the lists.
    """
    by_mark: dict[str, list[str]] = {mark.value: [] for mark in Mark}
    for criterion in criteria:
        if criterion["mark"] is not None:
            by_mark[criterion["mark"]].append(criterion["key"])
    return {
        "schema": SCHEMA,
        "protocol": run.protocol,
        "benchmark": {
            "key": run.benchmark.key,
            "version": run.benchmark.version,
            "hash": run.benchmark_hash,
        },
        "task": round_.trial.task.key,
        "trial": opaque_trial(round_),
        "snapshot": round_.snapshot,
        "round": round_.number,
        "source": {"kind": source.kind.value, "name": source.name},
        "marked_at": None if marked_at is None else marked_at.isoformat(),
        **by_mark,
        "criteria": list(criteria),
    }


def _judgings(run: Run, *, judge: str | None) -> Iterator[Judging]:
    rows = Judging.objects.filter(round__trial__run=run)
    if judge is None:
        rows = rows.filter(is_primary=True)
    else:
        newest = rows.filter(judge=judge).order_by().values("round").annotate(newest=Max("pk"))
        rows = rows.filter(pk__in=newest.values("newest"))
    return (
        rows.select_related("round__trial__task")
        .order_by("round__trial__task__position", "round__trial_id", "round__number")
        .iterator()
    )


def _criteria(judging: Judging) -> list[dict[str, Any]]:
    verdicts = (
        Verdict.objects.filter(judging=judging, role=Role.PRIMARY)
        .select_related("outcome__criterion")
        .prefetch_related("evidence")
        .order_by("outcome__criterion__position", "outcome__index")
    )
    outcomes: dict[str, list[dict[str, Any]]] = {}
    for verdict in verdicts:
        outcomes.setdefault(verdict.outcome.criterion.key, []).append(
            {
                "index": verdict.outcome.index,
                "text": verdict.outcome.text,
                "mark": verdict.mark,
                "rationale": verdict.rationale,
                # A machine reviews nothing, so it has no note: null, not an empty one.
                "note": None,
                "environment_problem": verdict.reason if verdict.mark == Mark.ERROR else None,
                "evidence": [
                    {"kind": piece.kind, "name": piece.name, "sha256": piece.digest}
                    for piece in verdict.evidence.all()
                ],
            }
        )
    return [
        {
            "key": key,
            "mark": criterion_mark([Mark(outcome["mark"]) for outcome in given]).value,
            "outcomes": given,
        }
        for key, given in outcomes.items()
    ]
