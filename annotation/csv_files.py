"""Every annotation as a row of CSV: columns and their order are a promise (docs/annotate.md)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

from annotation.export_sight import Sight
from annotation.exporting import ExportedSet, Said
from annotation.times import moment
from benchmark.rules.vocabulary import Mark
from runs.exporting import opaque_trial
from runs.reporting.as_csv import neutral

BOM = "\ufeff"
COLUMNS = (
    "campaign",
    "assignment",
    "assignment_state",
    "annotation",
    "annotator_id",
    "annotator",
    "benchmark",
    "rubric_version",
    "rubric_hash",
    "task",
    "trial",
    "round",
    "snapshot",
    "criterion",
    "criterion_kind",
    "outcome_index",
    "outcome",
    "scale",
    "reviewed",
    "mark",
    "score",
    "environment_problem",
    "environment_problem_text",
    "note",
    "pictures",
    "guideline_version",
    "revisions",
    "active_seconds",
    "saved_at",
    "submitted_at",
    "known_mark",
    "known_score",
    "judge_mark",
    "adjudicated_mark",
    "adjudicated_score",
    "adjudicated_note",
    "adjudicated_by",
    "adjudicated_at",
    "run",
    "code_agent",
    "blind",
    "looked_at",
    "candidate",
)
_FOR_LEADS = COLUMNS.index("blind") - COLUMNS.index("known_mark")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?%?")


def csv_parts(sets: Iterable[ExportedSet], *, sight: Sight, with_bom: bool = False) -> Iterator[bytes]:
    """Yield the table piece by piece, a set at a time; what a reader may not see is empty."""
    yield ((BOM if with_bom else "") + _lines([COLUMNS])).encode()
    for exported in sets:
        if exported.said:
            yield _lines(_row(exported, said, sight=sight) for said in exported.said).encode()


def cell(text: str | None) -> str:
    """A text that a spreadsheet does not run as a formula; one that is a plain number stays as it is."""
    if text is None:
        return ""
    return text if _NUMBER.fullmatch(text) else neutral(text)


def _lines(rows: Iterable[Iterable[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _row(exported: ExportedSet, said: Said, *, sight: Sight) -> list[object]:
    assignment, annotation = exported.assignment, said.annotation
    item, benchmark = annotation.item, exported.run.benchmark
    outcome = item.outcome
    row: list[object] = [
        assignment.campaign_id,
        assignment.pk,
        assignment.state,
        annotation.pk,
        assignment.annotator_id or "",
        cell(exported.rater),
        cell(benchmark.key),
        cell(benchmark.version),
        exported.run.benchmark_hash,
        cell(exported.round.trial.task.key),
        opaque_trial(exported.round),
        exported.round.number,
        exported.round.snapshot,
        "" if outcome is None else cell(outcome.criterion.key),
        "" if outcome is None else cell(outcome.criterion.kind),
        "" if outcome is None else outcome.index,
        "" if outcome is None else cell(outcome.text),
        cell(item.scale),
        # Apart from the note, whose emptiness says only that there was nothing to say.
        "no" if said.note is None else "yes",
        annotation.mark,
        _number(annotation.score),
        annotation.problem,
        cell(annotation.problem_text),
        cell(said.note),
        sum(picture.removed_at is None for picture in said.pictures),
        "" if annotation.guideline is None else annotation.guideline.version,
        annotation.version,
        repr(annotation.active_ms / 1000),
        moment(annotation.saved_at) or "",
        moment(assignment.submitted_at) or "",
    ]
    hidden = _for_leads(exported, said) if sight is Sight.ALL else [""] * _FOR_LEADS
    is_blind = "yes" if exported.is_blind(said) else "no"
    return [*row, *hidden, is_blind, exported.looked_at or "", cell(assignment.alias)]


def _for_leads(exported: ExportedSet, said: Said) -> list[object]:
    item, settled = said.annotation.item, said.adjudication
    adjudicated: list[object] = [""] * 5
    if settled is not None:
        adjudicated = [
            settled.mark,
            _number(settled.score),
            cell(settled.note),
            "" if settled.by is None else cell(settled.by.get_username()),
            moment(settled.created_at) or "",
        ]
    return [
        item.known_mark,
        _number(item.known_score),
        Mark(item.judge_mark).value if item.judge_mark else "",
        *adjudicated,
        exported.run.pk,
        cell(exported.run.agent_label),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)
