"""What blindness hides of a set, as data: the agent, the judge's marks and what others said."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from annotation.models import DECIDED, Annotation, Assignment, Item
from annotation.vocabulary import AssignmentState
from benchmark.rules.vocabulary import Role
from runs.models import Run, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenMark:
    """What blindness hides of one item: the judge's mark and rationale, and what others said."""

    item: int
    criterion: str
    text: str
    judge_mark: str
    rationale: str
    peers: tuple[PeerMark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerMark:
    """What another person said about the same item."""

    annotator: str
    mark: str
    score: float | None
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenFacts:
    """What blindness hides of a set."""

    run: int
    agent: str
    judge: str
    marks: tuple[HiddenMark, ...]


def hidden_by(assignment: Assignment) -> HiddenFacts:
    """Return what blindness hides of a set; for a person to whom it was revealed."""
    run = Run.objects.get(trials__rounds=assignment.round_id)
    items = list(
        Item.objects.filter(annotations__assignment=assignment)
        .select_related("outcome__criterion")
        .order_by("position")
    )
    verdicts = {
        verdict.outcome_id: verdict
        for verdict in Verdict.objects.filter(
            judging__round=assignment.round_id, judging__is_primary=True, role=Role.PRIMARY
        )
    }
    peers: dict[int, list[PeerMark]] = defaultdict(list)
    said = (
        Annotation.objects.filter(DECIDED, item__in=items)
        .exclude(assignment=assignment)
        .exclude(assignment__state=AssignmentState.EXPIRED)
        .select_related("assignment__annotator")
        .order_by("assignment")
    )
    for each in said:
        peers[each.item_id].append(
            PeerMark(annotator=each.assignment.rater_name, mark=each.mark, score=each.score, note=each.note)
        )
    return HiddenFacts(
        run=run.pk,
        agent=run.agent_label,
        judge=run.judge,
        marks=tuple(
            HiddenMark(
                item=item.pk,
                criterion=item.outcome.criterion.key if item.outcome else "",
                text=item.outcome.text if item.outcome else item.scale,
                judge_mark=item.judge_mark,
                rationale=verdicts[item.outcome_id].rationale if item.outcome_id in verdicts else "",
                peers=tuple(peers[item.pk]),
            )
            for item in items
        ),
    )
