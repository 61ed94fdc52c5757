"""Marks that people gave elsewhere become a closed campaign with a set for each rater and round."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from annotation.candidates import final_marks
from annotation.matching import Matched, OutcomeMark
from annotation.models import Annotation, Assignment, Campaign, Item, Picture, Revision
from annotation.problem_words import problem_said
from annotation.raters import Given, given_by_name
from annotation.vocabulary import AssignmentState, CampaignState, Change, Distribution, MarkSet
from benchmark.packs.problems import ImportRefused, Problem, Problems
from benchmark.rules.vocabulary import Mark
from people import audit
from people.models import AuditEntry
from runs.exporting import SourceKind
from runs.models import Run

ACT = "import"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLabels:
    """What an import of labels came to."""

    campaign: Campaign
    is_new: bool
    raters: tuple[str, ...]
    sets: int
    marks: int
    not_reviewed: int
    skipped: int
    pictures_left_out: int


def import_labels(found: Matched, run: Run, *, rater: str | None) -> ImportedLabels:
    """Store the marks of people as a closed campaign of the run; all or nothing, and the same once.

    What the judge skipped says nothing of a person and is counted alone. Raises ImportRefused.
    """
    given = given_by_name(found, kind=SourceKind.PERSON, name=rater)
    _refuse_contradictions(given)
    skipped = sum(mark.said.mark is Mark.SKIPPED for each in given for mark in each.marks)
    counted = ImportedLabels(
        campaign=Campaign(),
        is_new=True,
        raters=tuple(sorted({each.name for each in given})),
        sets=len(given),
        marks=sum(_is_marked(mark) for each in given for mark in each.marks),
        not_reviewed=sum(mark.said.mark is None for each in given for mark in each.marks),
        skipped=skipped,
        pictures_left_out=0,
    )
    if not counted.marks:
        raise ImportRefused([Problem(file="", text=_nothing_marked(found))])
    content = _content(given, run)
    with transaction.atomic():
        # One import at a time, so that the same files are not stored twice.
        Run.objects.select_for_update().get(pk=run.pk)
        if (there := _already(content, run)) is not None:
            return replace(counted, campaign=there, is_new=False)
        campaign = _campaign(run, given, counted.raters)
        left_out = _store(campaign, given)
        audit.note(
            None, ACT, f"run:{run.pk}", kind="labels", campaign=campaign.pk, content=content,
            raters=list(counted.raters), marks=counted.marks,
        )  # fmt: skip
    return replace(counted, campaign=campaign, pictures_left_out=left_out)


def _nothing_marked(found: Matched) -> str:
    rated = sum(each.file.ratings > 0 for each in found.files)
    if not rated:
        return "The files hold no mark of a person."
    files = "1 file holds" if rated == 1 else f"{rated} files hold"
    return (
        f"{files} ratings on scales and no marks: ratings are not read from result files yet, only marks are."
    )


def _refuse_contradictions(given: Sequence[Given]) -> None:
    problems = Problems()
    for each in given:
        for mark in each.marks:
            if mark.said.problem is not None and mark.said.mark is not Mark.ERROR:
                words = (
                    f"criterion {mark.criterion}, outcome {mark.position[1]} has an environment problem and "
                    f"the mark {mark.said.mark or 'none'}; with a problem the mark is error."
                )
                problems.add(each.files[0].name, words, line=mark.line)
    problems.refuse_if_any()


def _is_marked(mark: OutcomeMark) -> bool:
    return mark.said.mark not in (None, Mark.SKIPPED)


def _content(given: Sequence[Given], run: Run) -> str:
    """Equal for the same marks of the same people, in whatever files they came."""
    parts = sorted(each.content_hash for each in given)
    return hashlib.sha256("\n".join([str(run.pk), *parts]).encode()).hexdigest()


def _already(content: str, run: Run) -> Campaign | None:
    """Return the campaign that an earlier import of the same marks made, unless it was removed."""
    entries = AuditEntry.objects.filter(act=ACT, subject=f"run:{run.pk}", details__content=content)
    ids = [entry.details["campaign"] for entry in entries]
    return Campaign.objects.filter(pk__in=ids, is_imported=True).first()


def _campaign(run: Run, given: Sequence[Given], raters: Sequence[str]) -> Campaign:
    words = {mark.said.mark for each in given for mark in each.marks}
    people: dict[int, int] = defaultdict(int)
    for each in given:
        people[each.round.pk] += 1
    now = timezone.now()
    campaign = Campaign.objects.create(
        name=f"Labels of run {run.pk} by {', '.join(raters)}"[:200],
        state=CampaignState.CLOSED,
        is_imported=True,
        # Nobody here can vouch for it, so such marks are never reported as blind ones.
        is_blind=False,
        mark_set=MarkSet.THREE if Mark.PARTIAL in words else MarkSet.BINARY,
        only_executed=False,
        overlap=max(people.values()),
        distribution=Distribution.PLANNED,
        opened_at=now,
        closed_at=now,
    )
    campaign.runs.add(run)
    return campaign


def _store(campaign: Campaign, given: Sequence[Given]) -> int:
    """Store items, sets and marks; return how many pictures the files name that are not here."""
    items = _items(campaign, given)
    by_round: dict[int, list[Given]] = defaultdict(list)
    for each in sorted(given, key=lambda each: (each.round.pk, each.name)):
        by_round[each.round.pk].append(each)
    trials = sorted({each.round.trial_id for each in given})
    aliases = {trial: f"Candidate {number}" for number, trial in enumerate(trials, start=1)}
    pictures = _pictures(given)
    left_out = 0
    for of_round in by_round.values():
        for copy, each in enumerate(of_round, start=1):
            at = each.files[0].marked_at or timezone.now()
            assignment = Assignment.objects.create(
                campaign=campaign,
                round=each.round,
                copy=copy,
                alias=aliases[each.round.trial_id],
                rater=each.name,
                state=AssignmentState.SUBMITTED,
                taken_at=at,
                submitted_at=at,
            )
            left_out += _store_marks(assignment, each, items, at=at, pictures=pictures)
    return left_out


def _items(campaign: Campaign, given: Sequence[Given]) -> dict[tuple[int, int], Item]:
    """Round and outcome → item, in the order of the rubric within each round."""
    copies: dict[tuple[int, int], int] = defaultdict(int)
    positions: dict[int, tuple[int, int]] = {}
    for each in given:
        for mark in each.marks:
            if mark.said.mark is not Mark.SKIPPED:
                copies[each.round.pk, mark.outcome] += 1
                positions[mark.outcome] = mark.position
    judged = final_marks({round_ for round_, _ in copies})
    numbers: dict[int, int] = defaultdict(int)
    rows = []
    for round_, outcome in sorted(copies, key=lambda place: (place[0], positions[place[1]])):
        said = judged.get((round_, outcome))
        rows.append(
            Item(
                campaign=campaign,
                round_id=round_,
                outcome_id=outcome,
                position=numbers[round_],
                copies=copies[round_, outcome],
                judge_mark=said.value if said else "",
            )
        )
        numbers[round_] += 1
    stored = Item.objects.bulk_create(rows, batch_size=500)
    return {(item.round_id, item.outcome_id): item for item in stored if item.outcome_id is not None}


def _store_marks(
    assignment: Assignment,
    given: Given,
    items: dict[tuple[int, int], Item],
    *,
    at: datetime,
    pictures: dict[str, Picture],
) -> int:
    marks = [mark for mark in given.marks if mark.said.mark is not Mark.SKIPPED]
    annotations = Annotation.objects.bulk_create(
        (
            Annotation(
                assignment=assignment,
                item=items[given.round.pk, mark.outcome],
                version=int(_is_marked(mark)),
                saved_at=at if _is_marked(mark) else None,
                **_values(mark),
            )
            for mark in marks
        ),
        batch_size=500,
    )
    marked = [
        (mark, annotation) for mark, annotation in zip(marks, annotations, strict=True) if _is_marked(mark)
    ]
    Revision.objects.bulk_create(
        (
            Revision(
                annotation=annotation,
                assignment=assignment,
                sequence=sequence,
                version=1,
                operation=uuid4(),
                change=Change.PROBLEM if annotation.problem else Change.MARK,
                made_at=at,
                saved_at=at,
                **_values(mark),
            )
            for sequence, (mark, annotation) in enumerate(marked, start=1)
        ),
        batch_size=500,
    )
    Assignment.objects.filter(pk=assignment.pk).update(sequence=len(marked))
    return _store_pictures(marked, pictures)


def _values(mark: OutcomeMark) -> dict[str, str | None]:
    """What an annotation and its revision hold of a mark of a file."""
    said = mark.said
    if said.mark is None:
        return {"note": said.note}
    problem = problem_said(said.problem or "") if said.mark is Mark.ERROR else None
    return {
        "mark": said.mark.value,
        "problem": problem.problem.value if problem else "",
        "problem_text": problem.text if problem else "",
        # Files of other tools have a rationale at most; a mark without any word has nothing to say.
        "note": said.rationale if said.note is None else said.note,
    }


def _store_pictures(marked: Sequence[tuple[OutcomeMark, Annotation]], pictures: dict[str, Picture]) -> int:
    rows = []
    left_out = 0
    for mark, annotation in marked:
        for piece in mark.said.evidence:
            known = pictures.get(piece.digest)
            if known is None:
                left_out += 1
                continue
            rows.append(
                Picture(
                    annotation=annotation,
                    operation=uuid4(),
                    source=known.source,
                    digest=known.digest,
                    media_type=known.media_type,
                    size=known.size,
                    width=known.width,
                    height=known.height,
                )
            )
    Picture.objects.bulk_create(rows, batch_size=500)
    return left_out


def _pictures(given: Sequence[Given]) -> dict[str, Picture]:
    """Pictures that are here already by their digest: a file names them, and does not hold them."""
    digests = {piece.digest for each in given for mark in each.marks for piece in mark.said.evidence}
    return {picture.digest: picture for picture in Picture.objects.filter(digest__in=digests)}
