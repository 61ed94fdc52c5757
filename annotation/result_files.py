"""A person's marks as result files, in the schema that the judge's have."""

from __future__ import annotations

import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any

from annotation.export_sight import Sight
from annotation.exporting import AT_ONCE, ExportedSet, Said
from annotation.problem_words import problem_words
from benchmark.models import ExpectedOutcome
from benchmark.rules.marks import criterion_mark
from benchmark.rules.vocabulary import Mark
from runs.exporting import Source, SourceKind, document_of, result_path, result_text, safe_name
from runs.models import Verdict

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip can say: when it was packed is not content
_SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """One result file: where it lies, and its document."""

    path: str
    document: dict[str, Any]


def result_files(
    sets: Iterable[ExportedSet], *, sight: Sight, by_rater: bool, is_opaque: bool = False
) -> Iterator[ResultFile]:
    """Yield a result file for each set that somebody has; a free one says nothing and has none.

    Sets of several people on one round would lie on each other, so `by_rater` puts a folder of the
    rater's name above. `is_opaque` calls raters rater-1, rater-2 in the order of their first set.
    What the judge skipped is said only to who may see the judge's marks.
    """
    numbers: dict[str, str] = {}
    sizes: dict[int, Counter[int]] = {}
    taken: Counter[str] = Counter()
    for some in batched(sets, AT_ONCE):
        skipped = _skipped(some) if sight is Sight.ALL else {}
        _count_outcomes(some, sizes)
        for exported in some:
            rater = exported.rater
            if not rater:
                continue
            if is_opaque:
                rater = numbers.setdefault(rater, f"rater-{len(numbers) + 1}")
            document = _document(
                exported,
                rater=rater,
                sizes=sizes[exported.round.trial.task_id],
                skipped=skipped.get(exported.round.pk, {}),
            )
            path = result_path(exported.round)
            path = f"{safe_name(rater)}/{path}" if by_rater else path
            taken[path.casefold()] += 1
            # Somebody may have had a round twice, a set that was taken back and a later one; and two
            # names may differ only in what no path can hold.
            again = taken[path.casefold()]
            yield ResultFile(path=path if again == 1 else f"again-{again}/{path}", document=document)


def zip_parts(files: Iterable[ResultFile]) -> Iterator[bytes]:
    """Yield a zip of the files piece by piece, so that memory holds one file at a time."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            info = zipfile.ZipInfo(file.path, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, result_text(file.document))
            yield sink.take()
    yield sink.take()


class _Sink:
    """What a zip is written to: bytes that are taken away as they come."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, part: bytes) -> int:
        self._parts.append(bytes(part))
        return len(part)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """There is nothing to close."""

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


def _document(
    exported: ExportedSet, *, rater: str, sizes: Counter[int], skipped: dict[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    outcomes: dict[str, list[dict[str, Any]]] = {}
    expected: dict[str, int] = {}
    order: dict[str, int] = {}
    for said in exported.said:
        outcome = said.annotation.item.outcome
        if outcome is None:
            continue
        key = outcome.criterion.key
        order[key] = outcome.criterion.position
        expected[key] = sizes[outcome.criterion_id]
        outcomes.setdefault(key, []).append({"index": outcome.index, "text": outcome.text, **_mark(said)})
    criteria = [
        (
            order[key],
            {
                "key": key,
                "mark": _criterion_mark(given, expected=expected[key]),
                "outcomes": sorted(given, key=lambda outcome: int(outcome["index"])),
            },
        )
        for key, given in outcomes.items()
    ]
    criteria += [
        (given[0]["position"], _skipped_criterion(key, given))
        for key, given in skipped.items()
        if key not in outcomes
    ]
    document = document_of(
        exported.run,
        exported.round,
        source=Source(kind=SourceKind.PERSON, name=rater),
        marked_at=_marked_at(exported),
        criteria=[criterion for _, criterion in sorted(criteria, key=lambda placed: placed[0])],
    )
    ratings = [
        {"scale": said.annotation.item.scale, "score": said.annotation.score, **_mark(said)}
        for said in exported.said
        if said.annotation.item.scale
    ]
    return {**document, "ratings": ratings} if ratings else document


def _mark(said: Said) -> dict[str, Any]:
    annotation = said.annotation
    kept = [picture for picture in said.pictures if picture.removed_at is None]
    return {
        "mark": annotation.mark or None,
        "rationale": "",
        "note": said.note,
        "environment_problem": problem_words(annotation.problem, annotation.problem_text),
        "evidence": [
            {
                "kind": "screenshot",
                "name": f"picture-{number}.{_SUFFIXES.get(picture.media_type, 'bin')}",
                "sha256": picture.digest,
            }
            for number, picture in enumerate(kept, start=1)
        ],
    }


def _criterion_mark(given: Sequence[dict[str, Any]], *, expected: int) -> str | None:
    """The mark of a criterion; None while outcomes of it are unmarked or not in the set.

    One that fails decides it, whatever the others are.
    """
    marks = [Mark(outcome["mark"]) for outcome in given if outcome["mark"] is not None]
    if len(marks) == expected:
        return criterion_mark(marks).value
    return Mark.FAIL.value if Mark.FAIL in marks else None


def _marked_at(exported: ExportedSet) -> datetime | None:
    saved = [said.annotation.saved_at for said in exported.said if said.annotation.saved_at is not None]
    return exported.assignment.submitted_at or max(saved, default=None)


def _skipped(sets: Sequence[ExportedSet]) -> dict[int, dict[str, list[dict[str, Any]]]]:
    """Round → criterion key → its outcomes, where the judge skipped it."""
    rows = Verdict.objects.filter(
        judging__round__in={exported.round.pk for exported in sets},
        judging__is_primary=True,
        mark=Mark.SKIPPED,
    ).order_by("outcome__criterion__position", "outcome__index")
    found: dict[int, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for round_id, key, position, index, text, rationale in rows.values_list(
        "judging__round_id",
        "outcome__criterion__key",
        "outcome__criterion__position",
        "outcome__index",
        "outcome__text",
        "rationale",
    ):
        outcome = {"position": position, "index": index, "text": text, "rationale": rationale}
        found[round_id][key].append(outcome)
    return found


def _skipped_criterion(key: str, given: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "key": key,
        "mark": Mark.SKIPPED.value,
        "outcomes": [
            {
                "index": outcome["index"],
                "text": outcome["text"],
                "mark": Mark.SKIPPED.value,
                "rationale": outcome["rationale"],
                "note": None,
                "environment_problem": None,
                "evidence": [],
            }
            for outcome in given
        ],
    }


def _count_outcomes(sets: Sequence[ExportedSet], sizes: dict[int, Counter[int]]) -> None:
    """Add task → criterion → how many outcomes it has, for tasks that are not counted yet."""
    new = {exported.round.trial.task_id for exported in sets} - sizes.keys()
    if not new:
        return
    sizes.update({task: Counter() for task in new})
    rows = ExpectedOutcome.objects.filter(criterion__task__in=new).order_by()
    for task, criterion in rows.values_list("criterion__task_id", "criterion_id"):
        sizes[task][criterion] += 1
