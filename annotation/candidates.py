"""Read what a campaign may draw from: rounds, their outcomes and the judge's final marks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.sampling import Candidate
from benchmark.models import ExpectedOutcome
from benchmark.rules.vocabulary import Mark, Role, RoundState, TrialState
from runs.models import Round, Trial, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Candidates in the order of their places.

    `rounds` has one for each chosen round, `outcomes` one for each outcome of those; `known_rounds` and
    `known_outcomes` are of rounds that only calibration needs, from which nothing is drawn.
    """

    rounds: tuple[Candidate, ...]
    outcomes: tuple[Candidate, ...]
    known_rounds: tuple[Candidate, ...]
    known_outcomes: tuple[Candidate, ...]
    unfinished_trials: int
    trials_without_round: int


def find(
    runs: Collection[int],
    *,
    tasks: Collection[str] = (),
    numbers: Collection[int] = (),
    known: Collection[int] = (),
) -> Found:
    """Return what may be drawn: each finished trial's final closed round, or closed rounds by number.

    A trial that is still at work has no final round; it is counted. Six queries, whatever the size.
    """
    trials = Trial.objects.filter(run__in=runs)
    if tasks:
        trials = trials.filter(task__key__in=tasks)
    states = {pk: TrialState(state) for pk, state in trials.values_list("pk", "state")}
    closed = _closed_rounds(states)
    if numbers:
        chosen = [row for row in closed if row.number in numbers]
        unfinished: set[int] = set()
    else:
        unfinished = {pk for pk, state in states.items() if not state.has_ended}
        final = {row.trial: row for row in sorted(closed, key=lambda row: row.number)}
        chosen = [row for row in final.values() if row.trial not in unfinished]
    ids = {row.pk for row in chosen}
    extra = _rounds(Round.objects.filter(pk__in=set(known) - ids))
    return Found(
        rounds=_round_candidates(chosen),
        outcomes=_outcome_candidates(chosen),
        known_rounds=_round_candidates(extra),
        known_outcomes=_outcome_candidates(extra),
        unfinished_trials=len(unfinished),
        trials_without_round=len(states) - len(unfinished | {row.trial for row in chosen}),
    )


class _RoundRow(NamedTuple):
    pk: int
    number: int
    trial: int
    repeat: int
    run: int
    label: str
    agent: str
    task: int
    key: str
    benchmark: str
    version: str

    @property
    def agent_name(self) -> str:
        return self.label or self.agent

    @property
    def project(self) -> str:
        return f"{self.benchmark} v{self.version} / {self.key}"

    @property
    def place(self) -> tuple[str | int, ...]:
        return (self.project, self.agent_name, self.run, self.repeat, self.number)


def _closed_rounds(trials: Collection[int]) -> list[_RoundRow]:
    return _rounds(Round.objects.filter(trial__in=list(trials), state=RoundState.CLOSED))


def _rounds(rows: QuerySet[Round]) -> list[_RoundRow]:
    found = rows.order_by().values_list(
        "pk",
        "number",
        "trial_id",
        "trial__repeat",
        "trial__run_id",
        "trial__run__code_agent_label",
        "trial__run__code_agent",
        "trial__task_id",
        "trial__task__key",
        "trial__task__benchmark__key",
        "trial__task__benchmark__version",
    )
    return [_RoundRow(*row) for row in found]


def _round_candidates(rows: Iterable[_RoundRow]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(round=row.pk, trial=row.trial, project=row.project, agent=row.agent_name, place=row.place)
        for row in sorted(rows, key=lambda row: row.place)
    )


def _outcome_candidates(rows: Collection[_RoundRow]) -> tuple[Candidate, ...]:
    marks = final_marks([row.pk for row in rows])
    outcomes = _outcomes({row.task for row in rows})
    return tuple(
        Candidate(
            round=row.pk,
            trial=row.trial,
            project=row.project,
            agent=row.agent_name,
            place=(*row.place, outcome.position, outcome.number),
            outcome=outcome.pk,
            kind=outcome.kind,
            mark=marks.get((row.pk, outcome.pk)),
        )
        for row in sorted(rows, key=lambda row: row.place)
        for outcome in outcomes[row.task]
    )


class _OutcomeRow(NamedTuple):
    pk: int
    task: int
    position: int
    number: int
    kind: str


def _outcomes(tasks: Collection[int]) -> dict[int, list[_OutcomeRow]]:
    by_task: dict[int, list[_OutcomeRow]] = defaultdict(list)
    rows = ExpectedOutcome.objects.filter(criterion__task__in=tasks).order_by("criterion__position", "index")
    for row in rows.values_list(
        "pk", "criterion__task_id", "criterion__position", "index", "criterion__kind"
    ):
        outcome = _OutcomeRow(*row)
        by_task[outcome.task].append(outcome)
    return by_task


def final_marks(rounds: Collection[int]) -> dict[tuple[int, int], Mark]:
    """Return the final mark of the primary judging: (round, outcome) → mark; the refuter's where there is one."""
    rows = Verdict.objects.filter(judging__round__in=rounds, judging__is_primary=True).order_by()
    marks: dict[tuple[int, int], Mark] = {}
    refuted: set[tuple[int, int]] = set()
    for round_, outcome, role, mark in rows.values_list("judging__round_id", "outcome_id", "role", "mark"):
        place = (round_, outcome)
        if role == Role.REFUTED:
            refuted.add(place)
        elif place in refuted:
            continue
        marks[place] = Mark(mark)
    return marks
