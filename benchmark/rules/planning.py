"""What a trial needs next, decided from its record alone."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.rules.protocol import Protocol
from benchmark.rules.records import RoundRecord, TrialRecord
from benchmark.rules.vocabulary import StageName


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stage of one round."""

    round: int
    stage: StageName


def next_step(protocol: Protocol, record: TrialRecord) -> Step | None:
    """Return the first stage that is not complete, in a new round where the protocol wants one.

    None means that nothing is left to do. Feedback is written only after a round that another one
    follows, and scores are stored only after the last one.
    """
    if record.state.has_ended:
        return None

    for round_ in record.rounds:
        for stage in _stages_of(round_, protocol=protocol, record=record):
            if stage not in round_.completed:
                return Step(round=round_.number, stage=stage)

    if protocol.wants_another_round(record):
        return Step(round=len(record.rounds) + 1, stage=protocol.stages[0])
    return None


def _stages_of(round_: RoundRecord, *, protocol: Protocol, record: TrialRecord) -> tuple[StageName, ...]:
    is_last = round_.number == len(record.rounds)
    before_the_end = tuple(
        stage for stage in protocol.stages if stage not in (StageName.FEEDBACK, StageName.SCORE)
    )
    # Whether another round is wanted depends on marks, so it is not asked before they are complete.
    if is_last and not round_.completed >= set(before_the_end):
        return before_the_end
    another_follows = not is_last or protocol.wants_another_round(record)
    left_out = StageName.SCORE if another_follows else StageName.FEEDBACK
    return tuple(stage for stage in protocol.stages if stage is not left_out)
