"""One trial as the metrics see it: its effective marks, round by round, and its own numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.protocols.asuka.dialogue import wants_another_round
from benchmark.protocols.asuka.metrics import CUMULATIVE, judged_metric, kind_metric, state_metric
from benchmark.protocols.asuka.settings import AsukaSettings
from benchmark.rules import rates
from benchmark.rules.graph import in_dependency_order
from benchmark.rules.intervals import Ratio
from benchmark.rules.marks import effective_states
from benchmark.rules.rates import RoundStates
from benchmark.rules.records import CriterionSpec, RoundRecord, TrialRecord
from benchmark.rules.vocabulary import Mark, Mode, StageName

_RATES = dict(
    zip(
        CUMULATIVE,
        (rates.pass_rate, rates.outcome_rate, rates.completion, rates.executed_rate),
        strict=True,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTrial:
    """The effective marks of one trial.

    `simulated` holds, for a flat evaluation, the same marks with skipping at a threshold.
    """

    task: str
    repeat: int
    criteria: tuple[CriterionSpec, ...]
    rounds: tuple[RoundStates, ...]
    simulated: Mapping[float, tuple[RoundStates, ...]]

    @property
    def has_judged_mark(self) -> bool:
        """Whether anything was judged in any round; if not, the bench failed, not the candidate."""
        return any(
            mark.is_judged for states in self.rounds for state in states.values() for mark in state.outcomes
        )

    def state_at(self, number: int) -> RoundStates:
        """Return a round's effective marks; a trial that stopped carries its last round forward."""
        return self.rounds[min(number, len(self.rounds)) - 1] if self.rounds else {}

    def shares_at(self, number: int) -> dict[str, float | None]:
        """Return every share that is averaged over tasks, at the end of a round."""
        so_far = rates.progress(self.criteria, self.rounds[:number])
        now = rates.progress(self.criteria, [self.state_at(number)] if self.rounds else [])
        known = rates.known_criteria(self.criteria, so_far)
        shares: dict[str, float | None] = {}
        for name, rate in _RATES.items():
            shares[name] = rate(self.criteria, so_far)
            shares[state_metric(name)] = rate(self.criteria, now)
            shares[judged_metric(name)] = rate(known, so_far)
        for kind in dict.fromkeys(criterion.kind for criterion in self.criteria):
            of_kind = [criterion for criterion in self.criteria if criterion.kind == kind]
            shares[kind_metric(kind)] = rates.pass_rate(of_kind, so_far)
        return shares

    def pass_rate_at(self, number: int) -> float | None:
        """Return the cumulative pass rate at the end of a round."""
        return rates.pass_rate(self.criteria, rates.progress(self.criteria, self.rounds[:number]))

    def simulated_pass_rate_at(self, number: int, *, threshold: float) -> float | None:
        """Return the cumulative pass rate with skipping simulated in each round on its own."""
        so_far = rates.progress(self.criteria, self.simulated[threshold][:number])
        return rates.pass_rate(self.criteria, so_far)

    def criterion_fixes_at(self, number: int) -> Ratio:
        """Return criteria fixed in a round over those that failed in the one before."""
        return rates.criterion_fixes(self.state_at(number - 1), self.state_at(number))

    def outcome_fixes_at(self, number: int) -> Ratio:
        """Return outcomes fixed in a round over those that failed in the one before."""
        return rates.outcome_fixes(self.state_at(number - 1), self.state_at(number))

    def regressions_at(self, number: int, *, mark: Mark) -> int:
        """Return how many criteria passed in an earlier round and have `mark` in this one."""
        return rates.regressions(self.rounds[: number - 1], self.state_at(number), mark=mark)

    def marked_at(self, number: int, *, mark: Mark) -> int:
        """Return how many criteria have `mark` in a round."""
        return sum(state.mark is mark for state in self.state_at(number).values())


def judged_trial(record: TrialRecord, *, settings: AsukaSettings) -> JudgedTrial:
    """Return the trial with the effective marks of each of its judged rounds."""
    ordered = in_dependency_order(record.task.criteria)
    judged = _judged_rounds(record)

    def states(*, threshold: float, mode: Mode) -> tuple[RoundStates, ...]:
        return tuple(
            effective_states(ordered, round_.marks, threshold=threshold, mode=mode) for round_ in judged
        )

    thresholds = {settings.threshold, 1.0} if settings.mode is Mode.FLAT else set()
    return JudgedTrial(
        task=record.task.key,
        repeat=record.repeat,
        criteria=record.task.criteria,
        rounds=states(threshold=settings.threshold, mode=settings.mode),
        simulated={at: states(threshold=at, mode=Mode.DAG) for at in thresholds},
    )


def is_settled(record: TrialRecord) -> bool:
    """Return whether no mark of the trial is still to come: it ended, or its last round is judged."""
    if record.state.has_ended:
        return True
    if not record.rounds or StageName.JUDGE not in record.rounds[-1].completed:
        return False
    return not wants_another_round(record)


def _judged_rounds(record: TrialRecord) -> Sequence[RoundRecord]:
    """Return the rounds up to the last one that a judge looked at.

    A round that was opened and cancelled before judging says nothing, so the one before is carried.
    """
    judged = [
        round_.number for round_ in record.rounds if round_.marks or StageName.JUDGE in round_.completed
    ]
    return record.rounds[: max(judged, default=0)]
