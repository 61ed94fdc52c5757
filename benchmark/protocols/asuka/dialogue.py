"""What the code agent is told, in which round, and when the dialogue ends."""

from __future__ import annotations

from benchmark.protocols.asuka.settings import RequestText, settings_from
from benchmark.rules.graph import in_dependency_order
from benchmark.rules.marks import CriterionState, effective_states
from benchmark.rules.records import CriterionSpec, TrialRecord
from benchmark.rules.vocabulary import Mark, StageName


def request_for(record: TrialRecord) -> str:
    """Return the request of the round that is to be briefed: the query (or PRD), then feedback.

    That is the first round whose brief is not complete, else the one after the last. A round that left
    nothing to say (errors only) repeats the opening request. Raises ValueError for a missing PRD.
    (Asuka-Bench, section 3.1)
    """
    feedback = ""
    for round_ in record.rounds:
        if StageName.BRIEF not in round_.completed:
            break
        feedback = round_.feedback
    return feedback or _opening_request(record)


def wants_another_round(record: TrialRecord) -> bool:
    """Return whether a criterion does not pass in the last round and a round is left.

    (Asuka-Bench, section 3.1: until all criteria are satisfied or the rounds are used up.)
    """
    if len(record.rounds) >= settings_from(record.settings).rounds_at_most:
        return False
    states = _last_states(record)
    return states is None or any(state.mark is not Mark.PASS for state in states.values())


def criteria_for_feedback(record: TrialRecord) -> tuple[CriterionSpec, ...]:
    """Return the criteria of the last round that were executed and did not fully pass.

    Skipped ones never appear, nor those that could not be judged. (Asuka-Bench, section 3.2)
    """
    states = _last_states(record) or {}
    return tuple(
        criterion
        for criterion in record.task.criteria
        if criterion.key in states
        and states[criterion.key].is_executed
        and states[criterion.key].mark is not Mark.PASS
    )


def _opening_request(record: TrialRecord) -> str:
    if settings_from(record.settings).request is RequestText.QUERY:
        return record.task.request
    if not record.task.prd.strip():
        raise ValueError(
            f"Task {record.task.key!r} has no PRD to give; set `request` to 'query' or add a prd.md."
        )
    return record.task.prd


def _last_states(record: TrialRecord) -> dict[str, CriterionState] | None:
    if not record.rounds:
        return None
    settings = settings_from(record.settings)
    return effective_states(
        in_dependency_order(record.task.criteria),
        record.rounds[-1].marks,
        threshold=settings.threshold,
        mode=settings.mode,
    )
