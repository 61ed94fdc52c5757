"""Two rounds of a trial beside each other: the chain from a mark to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmark.display import Look, mark_of_outcomes
from runs.history import MarksByRound
from runs.models import Round
from runs.pages.changes import ChangeGroup, FeedbackPiece, change_groups, marked_feedback
from runs.pages.diffs import WorkspaceDiff, workspace_diff
from runs.pages.round_evidence import JudgedOutcome, outcomes_of
from runs.pages.run_rows import OutlinedCriterion


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One outcome in one round."""

    round: Round
    judged: JudgedOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The same outcome in both rounds."""

    number: int
    text: str
    sides: tuple[Side, Side]

    @property
    def has_changed(self) -> bool:
        return self.sides[0].judged.look is not self.sides[1].judged.look


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that the comparison of two rounds shows, for one criterion."""

    first: Round
    second: Round
    groups: tuple[ChangeGroup, ...]
    criterion: OutlinedCriterion
    before: Look
    after: Look
    pairs: tuple[Pair, ...]
    feedback: tuple[FeedbackPiece, ...]
    diff: WorkspaceDiff

    @property
    def label(self) -> str:
        return self.criterion.title or self.criterion.key

    @property
    def is_tied(self) -> bool:
        """Whether a sentence of the feedback seems to speak of the criterion."""
        return any(piece.is_likely for piece in self.feedback)


def judged_rounds(rounds: Sequence[Round], marks: MarksByRound) -> list[Round]:
    """Rounds that have a mark: only these can be compared."""
    return [round_ for round_ in rounds if marks.get(round_.number)]


def pairs_of_rounds(rounds: Sequence[Round]) -> list[tuple[int, int]]:
    """Numbers of neighbouring rounds, and of the first with the last."""
    numbers = [round_.number for round_ in rounds]
    pairs = list(pairwise(numbers))
    return [*pairs, (numbers[0], numbers[-1])] if len(numbers) > 2 else pairs


def chosen_pair(
    judged: Sequence[Round], *, first: Round | None, second: Round | None, current: Round | None
) -> tuple[Round, Round] | None:
    """The rounds to compare: those asked for, else the current one with the one before it."""
    if len(judged) < 2:
        return None
    if second not in judged or second is None:
        at = judged.index(current) if current in judged else len(judged) - 1
        second = judged[max(at, 1)]
    if first is None or first not in judged or first.number >= second.number:
        earlier = [round_ for round_ in judged if round_.number < second.number]
        if not earlier:
            return judged[0], judged[1]
        first = earlier[-1]
    return first, second


def comparison_of(
    first: Round,
    second: Round,
    *,
    marks: MarksByRound,
    outline: Sequence[OutlinedCriterion],
    task_id: int,
    wanted: str,
) -> Comparison:
    """Compare two rounds; without a criterion asked for, the most telling change is shown."""
    before, after = marks.get(first.number, {}), marks.get(second.number, {})
    groups = change_groups([(c.key, c.title or c.key) for c in outline], before, after)
    by_key = {criterion.key: criterion for criterion in outline}
    criterion = by_key.get(wanted) or by_key[groups[0].criteria[0].key]
    was = outcomes_of(first, task_id=task_id, criterion=criterion.key)
    now = outcomes_of(second, task_id=task_id, criterion=criterion.key)
    about = [criterion.title, *(each.outcome.text for each in was)]
    about += [each.verdict.rationale for each in was if each.verdict is not None]
    pairs = [
        Pair(
            number=one.number,
            text=one.outcome.text,
            sides=(Side(round=first, judged=one), Side(round=second, judged=other)),
        )
        for one, other in zip(was, now, strict=True)
    ]
    return Comparison(
        first=first,
        second=second,
        groups=tuple(groups),
        criterion=criterion,
        before=mark_of_outcomes(before.get(criterion.key, ())),
        after=mark_of_outcomes(after.get(criterion.key, ())),
        pairs=tuple(sorted(pairs, key=lambda pair: not pair.has_changed)),
        feedback=tuple(marked_feedback(first.feedback, about=about)),
        diff=workspace_diff(first.snapshot, second.snapshot, about=about),
    )
