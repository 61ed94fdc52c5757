"""Marks that a judge gave elsewhere become judgings beside the primary ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.marked_files import NamedEvidence
from annotation.matching import Matched
from annotation.raters import Given, given_by_name
from benchmark.packs.problems import Problems
from benchmark.protocols import protocol
from benchmark.rules.marks import criterion_mark
from benchmark.rules.vocabulary import Mark, Role
from people import audit
from runs.exporting import SourceKind
from runs.models import Evidence, Judging, Run, Verdict

PREFIX = "import:"
_NAME = 64
_REASON = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedVerdicts:
    """What an import of verdicts came to; judgings that were there already are counted apart."""

    judges: tuple[str, ...]
    judgings: int
    already: int
    verdicts: int
    not_marked: int
    evidence_left_out: int


def import_verdicts(found: Matched, run: Run, *, judge: str | None) -> ImportedVerdicts:
    """Store a judging for each round, none of them primary; all or nothing, and the same one once.

    Raises ImportRefused.
    """
    given = given_by_name(found, kind=SourceKind.JUDGE, name=judge)
    _refuse_marks(given, run)
    judgings = already = verdicts = left_out = 0
    with transaction.atomic():
        # One import at a time, so that the same files are not stored twice.
        Run.objects.select_for_update().get(pk=run.pk)
        known = _evidence(given)
        for each in given:
            stored = _store(each, known)
            judgings += stored.is_new
            already += not stored.is_new
            verdicts += stored.verdicts
            left_out += stored.evidence_left_out
        names = tuple(sorted({judge_name(each.name) for each in given}))
        if judgings:
            audit.note(None, "import", f"run:{run.pk}", kind="verdicts", judges=list(names), rounds=judgings)
    return ImportedVerdicts(
        judges=names,
        judgings=judgings,
        already=already,
        verdicts=verdicts,
        not_marked=sum(mark.said.mark is None for each in given for mark in each.marks),
        evidence_left_out=left_out,
    )


def judge_name(name: str) -> str:
    """What an imported judge is called: it cannot be taken for one that ran here."""
    return (name if name.startswith(PREFIX) else PREFIX + name)[:_NAME]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    is_new: bool
    verdicts: int = 0
    evidence_left_out: int = 0


def _refuse_marks(given: Iterable[Given], run: Run) -> None:
    """Refuse marks that this protocol's judges do not give, and criteria that are skipped in part."""
    problems = Problems()
    allowed = {*protocol(run.protocol).allowed_marks, Mark.SKIPPED, Mark.ERROR}
    for each in given:
        by_criterion: dict[str, list[Mark]] = {}
        for mark in each.marks:
            if mark.said.mark is None:
                continue
            by_criterion.setdefault(mark.criterion, []).append(mark.said.mark)
            if mark.said.mark not in allowed:
                words = f"{mark.said.mark} is no mark of a judge in the protocol {run.protocol}."
                problems.add(each.files[0].name, words, line=mark.line)
        for key, marks in by_criterion.items():
            try:
                criterion_mark(marks)
            except ValueError:
                words = f"criterion {key} is skipped in part; it is skipped as a whole or not."
                problems.add(each.files[0].name, words)
    problems.refuse_if_any()


def _store(given: Given, known: dict[str, Evidence]) -> _Stored:
    marked = [(mark, mark.said.mark) for mark in given.marks if mark.said.mark is not None]
    judge, content = judge_name(given.name), given.content_hash
    if Judging.objects.filter(round=given.round, judge=judge, settings_hash=content).exists():
        return _Stored(is_new=False)
    first = given.files[0]
    judging = Judging.objects.create(
        round=given.round,
        judge=judge,
        settings={
            "imported": True,
            "files": [file.name for file in given.files],
            "content": content,
            "benchmark_hash": first.benchmark_hash,
        },
        settings_hash=content,
        finished_at=first.marked_at or timezone.now(),
    )
    verdicts = Verdict.objects.bulk_create(
        Verdict(
            judging=judging,
            outcome_id=mark.outcome,
            role=Role.PRIMARY,
            mark=word.value,
            reason=(mark.said.problem or "")[:_REASON] if word is Mark.ERROR else "",
            rationale=mark.said.rationale,
            raw=mark.said.raw,
            parser=mark.parser,
        )
        for mark, word in marked
    )
    named = [
        (verdict, position, piece)
        for verdict, (mark, _) in zip(verdicts, marked, strict=True)
        for position, piece in enumerate(mark.said.evidence)
    ]
    _attach([each for each in named if each[2].digest in known], known)
    return _Stored(
        is_new=True,
        verdicts=len(verdicts),
        evidence_left_out=sum(piece.digest not in known for _, _, piece in named),
    )


def _attach(named: Iterable[tuple[Verdict, int, NamedEvidence]], known: Mapping[str, Evidence]) -> None:
    """Add what a file names beside its verdict, in the file's order: the bytes are here already."""
    Evidence.objects.bulk_create(
        Evidence(
            verdict=verdict,
            kind=known[piece.digest].kind,
            name=piece.name,
            media_type=known[piece.digest].media_type,
            digest=piece.digest,
            size=known[piece.digest].size,
            position=position,
        )
        for verdict, position, piece in named
    )


def _evidence(given: Sequence[Given]) -> dict[str, Evidence]:
    """Evidence that is here already by its digest: a file names it, and does not hold it."""
    digests = {piece.digest for each in given for mark in each.marks for piece in mark.said.evidence}
    return {piece.digest: piece for piece in Evidence.objects.filter(digest__in=digests).order_by("-pk")}
