"""The written side of judging: which marks are saved, and how a verdict is saved once."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmark import blobs
from benchmark.models import ExpectedOutcome
from benchmark.rules.vocabulary import Mark, Role, StageName
from runs.models import Evidence, Judging, Round, Verdict
from runs.ports import CriterionVerdict, EvidenceFile, Judge, OutcomeVerdict

NO_SCRIPT = "no_script"
"""Reason of an error that only a script, or another judge, can mend."""

PARENT = "parent"
"""Reason of an error that follows from the error of a prerequisite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvidence:
    """A piece of evidence whose bytes are in the blob store already."""

    file: EvidenceFile
    digest: str


def primary_judging(round_: Round, judge: Judge) -> Judging:
    """The round's primary judging, begun if there is none."""
    settings = dict(judge.settings)
    judging, _ = Judging.objects.get_or_create(
        round=round_,
        is_primary=True,
        defaults={
            "judge": judge.name,
            "judge_version": judge.version,
            "settings": settings,
            "settings_hash": settings_hash(settings),
        },
    )
    return judging


def settings_hash(settings: Mapping[str, object]) -> str:
    """Equal settings give equal hashes, whatever their order."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def outcome_ids(task_id: int) -> dict[str, list[int]]:
    """Criterion key → ids of its expected outcomes in order."""
    ids: dict[str, list[int]] = defaultdict(list)
    rows = ExpectedOutcome.objects.filter(criterion__task=task_id).order_by("criterion__position", "index")
    for key, pk in rows.values_list("criterion__key", "pk"):
        ids[key].append(pk)
    return dict(ids)


def saved_marks(judging: Judging) -> dict[str, dict[int, Mark]]:
    """Criterion key → outcome index → mark, as far as it is saved."""
    marks: dict[str, dict[int, Mark]] = defaultdict(dict)
    rows = Verdict.objects.filter(judging=judging, role=Role.PRIMARY).order_by()
    for key, index, mark in rows.values_list("outcome__criterion__key", "outcome__index", "mark"):
        marks[key][index] = Mark(mark)
    return dict(marks)


def store_evidence(verdict: CriterionVerdict) -> dict[int, list[StoredEvidence]]:
    """Put the bytes of a verdict's evidence into the blob store, before any lock is taken."""
    return {
        outcome.index: [
            StoredEvidence(file=file, digest=blobs.save_bytes(file.content)) for file in outcome.evidence
        ]
        for outcome in verdict.outcomes
    }


def save_verdict(
    judging: Judging,
    outcomes: Iterable[OutcomeVerdict],
    *,
    ids: list[int],
    evidence: Mapping[int, list[StoredEvidence]],
) -> None:
    """Save verdicts with their evidence; call inside the transaction that checks the claim."""
    earlier: dict[int, list[dict[str, object]]] = defaultdict(list)
    for entry in judging.set_aside:
        earlier[entry["outcome"]].append(entry)
    for outcome in outcomes:
        pk = ids[outcome.index]
        verdict = Verdict.objects.create(
            judging=judging,
            outcome_id=pk,
            mark=outcome.mark.value,
            reason=outcome.reason,
            rationale=outcome.rationale,
            raw=outcome.raw,
            parser=outcome.parser,
            seconds=outcome.seconds,
            attempt=1 + len(earlier[pk]),
            earlier=earlier[pk],
        )
        Evidence.objects.bulk_create(
            Evidence(
                verdict=verdict,
                kind=piece.file.kind,
                name=piece.file.name,
                media_type=piece.file.media_type,
                digest=piece.digest,
                size=len(piece.file.content),
                position=position,
            )
            for position, piece in enumerate(evidence.get(outcome.index, []))
        )


def set_errors_aside(judging: Judging) -> int:
    """Take out what a retry is to judge again and return how many errors that were.

    Errors that no repetition can mend stay. Skipped marks go too: they follow from the others and
    cost nothing to find again. What is taken out is remembered on the judging.
    """
    errors = judging.verdicts.filter(mark=Mark.ERROR).exclude(reason=NO_SCRIPT)
    entries = [
        {
            "outcome": verdict.outcome_id,
            "reason": verdict.reason,
            "rationale": verdict.rationale,
            "at": verdict.created_at.isoformat(),
        }
        for verdict in errors.order_by("created_at", "pk")
    ]
    # What only waits for an outcome without a script cannot change either.
    if all(entry["reason"] == PARENT for entry in entries):
        return 0
    judging.set_aside = [*judging.set_aside, *entries]
    judging.save(update_fields=["set_aside"])
    errors.delete()
    judging.verdicts.filter(mark=Mark.SKIPPED).delete()
    judging.round.reopen([StageName.JUDGE, StageName.SCORE])
    return len(entries)
