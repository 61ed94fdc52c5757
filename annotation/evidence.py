"""What the judge recorded of an outcome, as far as an annotator may see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

from annotation.models import Annotation
from annotation.seats import Seat
from annotation.vocabulary import Centre
from benchmark import blobs
from benchmark.rules.vocabulary import Role
from runs.models import Evidence, Verdict
from runs.pages.evidence import Log, StepLine, outcome_evidence
from runs.ports import EvidenceKind

MOST_PIECES = 200
LONGEST_TEXT = 60_000
LARGEST_TEXT = 8 << 20

# What shows the candidate and not the judge's opinion of it. A log is there only where a candidate
# did not start: then it is all that there is to look at.
_WHILE_BLIND = (EvidenceKind.SCREENSHOT, EvidenceKind.DOM, EvidenceKind.LOG)
_TEXT_TITLES = {EvidenceKind.DOM: "Text of the page", EvidenceKind.LOG: "What the application wrote"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One picture or text under a neutral name; `number` is its place, from 1."""

    number: int
    title: str
    is_picture: bool
    is_missing: bool = False
    text: str = ""
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSaid:
    """What only eyes that are not blind may see: the judge's mark, its words and its steps."""

    mark: str
    rationale: str
    steps: tuple[StepLine, ...]
    logs: tuple[Log, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Everything shown for one outcome, in the order of recording."""

    pieces: tuple[Piece, ...]
    said: tuple[JudgeSaid, ...] = field(default=())

    @property
    def is_empty(self) -> bool:
        return not self.pieces and not self.said


def recorded(seat: Seat, annotation: Annotation) -> Recorded:
    """Read what was recorded for an annotation's outcome, or for all outcomes where a trial is rated."""
    verdicts = _verdicts(annotation)
    numbers = count(1)
    titles: dict[str, int] = {}
    pieces = [_piece(seat, row, next(numbers), titles) for row in _shown_rows(seat, verdicts)]
    said = () if seat.is_blind else tuple(_said(verdict) for verdict in verdicts)
    return Recorded(pieces=tuple(pieces), said=said)


def text_for(seat: Seat, row: Evidence) -> str | None:
    """Return a text as these eyes may read it; None for what is no text, or may be read as it is."""
    if not seat.hidden_names.names or not _is_text(row) or not blobs.is_stored(row.digest):
        return None
    return seat.hidden_names.taken_out_of(
        blobs.read_blob(row.digest, at_most=LARGEST_TEXT).decode("utf-8", "replace")
    )


def numbered(seat: Seat, annotation: Annotation, number: int) -> Evidence | None:
    """Return the piece of that number, None where there is none for these eyes."""
    rows = _shown_rows(seat, _verdicts(annotation))
    return rows[number - 1] if 0 < number <= len(rows) else None


def _verdicts(annotation: Annotation) -> list[Verdict]:
    found = Verdict.objects.filter(judging__round=annotation.item.round_id, judging__is_primary=True)
    if annotation.item.outcome_id is not None:
        found = found.filter(outcome=annotation.item.outcome_id)
    in_order = found.order_by("outcome__criterion__position", "outcome__index").prefetch_related("evidence")
    return sorted(in_order, key=lambda verdict: verdict.role != Role.PRIMARY)


def _shown_rows(seat: Seat, verdicts: Iterable[Verdict]) -> list[Evidence]:
    kinds: tuple[str, ...] = _WHILE_BLIND
    if seat.assignment.campaign.centre == Centre.FILES:
        # A task without a page: what went in and came out is text.
        kinds = (EvidenceKind.DOM, EvidenceKind.LOG)
    rows = [row for verdict in verdicts for row in verdict.evidence.all() if row.kind in kinds]
    return [row for row in rows if row.kind == EvidenceKind.SCREENSHOT or _is_text(row)][:MOST_PIECES]


def _is_text(row: Evidence) -> bool:
    return row.media_type.split(";", maxsplit=1)[0].strip().lower() == "text/plain"


def _piece(seat: Seat, row: Evidence, number: int, titles: dict[str, int]) -> Piece:
    is_picture = row.kind == EvidenceKind.SCREENSHOT
    words = "Picture" if is_picture else _TEXT_TITLES[EvidenceKind(row.kind)]
    titles[words] = titles.get(words, 0) + 1
    title = f"{words} {titles[words]}" if is_picture or titles[words] > 1 else words
    is_missing = not blobs.is_stored(row.digest)
    if is_picture or is_missing:
        return Piece(number=number, title=title, is_picture=is_picture, is_missing=is_missing)
    whole = blobs.read_blob(row.digest, at_most=LONGEST_TEXT * 4).decode("utf-8", "replace")
    text = seat.hidden_names.taken_out_of(whole)
    return Piece(
        number=number,
        title=title,
        is_picture=False,
        text=text[:LONGEST_TEXT],
        cut=max(0, len(text) - LONGEST_TEXT),
    )


def _said(verdict: Verdict) -> JudgeSaid:
    read = outcome_evidence(list(verdict.evidence.all()))
    return JudgeSaid(mark=verdict.mark, rationale=verdict.rationale, steps=read.steps, logs=read.logs)
