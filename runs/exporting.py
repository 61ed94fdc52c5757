"""Result files: one trial and round a file, in the one schema that judges and people share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark.rules.marks import criterion_mark
from benchmark.rules.vocabulary import Mark, Role
from runs.models import Judging, Round, Run, Verdict

SCHEMA = "proofroom/results/1"
FILE_NAME = "eval_step3_results.json"
_UNSAFE = re.compile(r"^\.+|[^A-Za-z0-9._-]")


def write_results(run: Run, folder: Path) -> int:
    """Write `<task>/<trial>/round_<r>/eval_step3_results.json` for every judged round; return how many.

    A round is read at a time, so memory does not grow with the run. Raises OSError.
    """
    written = 0
    for judging in _judgings(run):
        round_ = judging.round
        target = (
            folder / _UNSAFE.sub("_", round_.trial.task.key) / opaque_trial(round_) / f"round_{round_.number}"
        )
        target.mkdir(parents=True, exist_ok=True)
        document = result_document(run, judging)
        part = target / f".{FILE_NAME}.part"
        part.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
        part.replace(target / FILE_NAME)
        written += 1
    return written


def opaque_trial(round_: Round) -> str:
    """A trial's name in files that people see blind: never the code agent's."""
    return f"trial-{round_.trial_id}"


def result_document(run: Run, judging: Judging) -> dict[str, Any]:
    """The marks of one judging in the result file's schema."""
    round_ = judging.round
    criteria = _criteria(judging)
    by_mark: dict[str, list[str]] = {mark.value: [] for mark in Mark}
    for criterion in criteria:
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
        "source": {"kind": "judge", "name": judging.judge},
        "marked_at": (judging.finished_at or judging.started_at).isoformat(),
        **by_mark,
        "criteria": criteria,
    }


def _judgings(run: Run) -> Iterator[Judging]:
    return (
        Judging.objects.filter(round__trial__run=run, is_primary=True)
        .select_related("round__trial__task")
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
