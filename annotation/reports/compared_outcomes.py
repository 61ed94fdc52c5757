"""The outcomes behind a cell, a group or a direction: who said what, with the judge's words and pictures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from django.db.models import Exists, OuterRef

from annotation.models import Adjudication, Annotation, Item
from annotation.pairing import marks_on
from annotation.reports.campaign_findings import By, Comparison
from annotation.reports.campaign_ratings import judge_names
from annotation.vocabulary import AssignmentState
from runs.models import Evidence, Verdict
from runs.ports import EvidenceKind

ROWS_A_PAGE = 10
PICTURES_A_ROW = 2


class Show(StrEnum):
    """Which outcomes are listed."""

    DIFFERENT = "different"
    TOO_KIND = "too-kind"
    TOO_STRICT = "too-strict"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """What a list of outcomes is narrowed to; empty words narrow nothing. `people` and `judge` name a cell."""

    show: Show = Show.DIFFERENT
    people: str = ""
    judge: str = ""
    by: By = By.AGENT
    group: str = ""
    after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """One outcome: its item, the mark of people as one and of the judge, the notes of both, and pictures."""

    item: Item
    people: str
    judge: str
    annotations: tuple[Annotation, ...]
    verdict: Verdict | None
    pictures: tuple[Evidence, ...]
    is_settled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomePage:
    """A page of outcomes; `following` is the key after which the next page begins, 0 on the last one."""

    rows: tuple[OutcomeRow, ...]
    total: int
    following: int


def counts_by_show(compared: Comparison) -> Mapping[Show, int]:
    """Return how many outcomes each list has."""
    people, judge = compared.ratings.codes.T
    return {
        Show.DIFFERENT: int((people != judge).sum()),
        Show.TOO_KIND: int((judge > people).sum()),
        Show.TOO_STRICT: int((judge < people).sum()),
        Show.ALL: len(people),
    }


def outcome_page(
    compared: Comparison, narrowed: Narrowed, *, original: Mapping[int, tuple[str, str]]
) -> OutcomePage:
    """Return a page of outcomes in order of their keys; `original` are the marks of people and judge by item."""
    items = np.asarray(compared.items, dtype=np.int64)
    chosen = np.sort(items[_mask(compared, narrowed)])
    from_here = chosen[chosen > narrowed.after][: ROWS_A_PAGE + 1].tolist()
    shown = from_here[:ROWS_A_PAGE]
    return OutcomePage(
        rows=_rows(shown, compared.judge, original),
        total=len(chosen),
        following=shown[-1] if len(from_here) > len(shown) else 0,
    )


def _mask(compared: Comparison, narrowed: Narrowed) -> np.ndarray:
    people, judge = compared.ratings.codes.T
    labels = compared.ratings.labels
    if narrowed.people in labels and narrowed.judge in labels:
        mask = (people == labels.index(narrowed.people)) & (judge == labels.index(narrowed.judge))
    elif narrowed.show is Show.TOO_KIND:
        mask = judge > people
    elif narrowed.show is Show.TOO_STRICT:
        mask = judge < people
    elif narrowed.show is Show.ALL:
        mask = np.ones(len(people), dtype=bool)
    else:
        mask = people != judge
    if narrowed.group:
        mask = mask & (np.asarray(compared.names(narrowed.by), dtype=str) == narrowed.group)
    return np.asarray(mask)


def _rows(keys: Sequence[int], judge: str, original: Mapping[int, tuple[str, str]]) -> tuple[OutcomeRow, ...]:
    adjudicated = Exists(Adjudication.objects.filter(item=OuterRef("pk")))
    items = list(
        Item.objects.filter(pk__in=keys)
        .select_related("outcome__criterion", "round__trial__task", "round__trial__run")
        .annotate(is_settled=adjudicated)
        .order_by("pk")
    )
    marks = marks_on(items)
    verdicts = _verdicts(items, judge)
    pictures: dict[int, list[Evidence]] = defaultdict(list)
    shots = Evidence.objects.filter(
        verdict__in=[verdict.pk for verdict in verdicts.values()], kind=EvidenceKind.SCREENSHOT
    )
    for shot in shots.order_by("verdict", "position"):
        pictures[shot.verdict_id].append(shot)
    rows = []
    for item in items:
        verdict = verdicts.get((item.round_id, item.outcome_id))
        people, said = original[item.pk]
        rows.append(
            OutcomeRow(
                item=item,
                people=people,
                judge=said,
                annotations=tuple(
                    each
                    for each in marks[item.pk]
                    if each.assignment.state == AssignmentState.SUBMITTED and not each.problem
                ),
                verdict=verdict,
                pictures=tuple(pictures[verdict.pk][:PICTURES_A_ROW]) if verdict else (),
                is_settled=item.is_settled,
            )
        )
    return tuple(rows)


def _verdicts(items: Sequence[Item], judge: str) -> dict[tuple[int, int | None], Verdict]:
    """What the judge said of each item: of a judge's and a refuter's verdict the later one."""
    names = judge_names({item.round_id for item in items})
    judgings = [pk for pk, name in names.items() if name == judge]
    found = Verdict.objects.filter(
        judging__in=judgings, outcome__in=[item.outcome_id for item in items if item.outcome_id]
    )
    rows = found.select_related("judging").order_by("role", "pk")
    return {(row.judging.round_id, row.outcome_id): row for row in rows}
