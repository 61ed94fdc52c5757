"""Say how a code agent's command ended: by itself, at a limit, cancelled, or not even begun."""

from __future__ import annotations

import errno
import signal
from collections.abc import Sequence

from benchmark.rules.vocabulary import ExitReason
from runs.adapters.sandboxes import Ending, EndReport, StartFailed
from runs.adapters.sandboxes.limit_words import of_limit
from runs.errors import StageError
from runs.ports import AgentTurn, Containment, LimitHit, LimitKind

_REASONS = {LimitKind.MEMORY: ExitReason.OUT_OF_MEMORY, LimitKind.CPU: ExitReason.TIMEOUT}


def turn_of(report: EndReport, hits: Sequence[LimitHit], *, wall_clock: float) -> AgentTurn:
    """Return how a turn ended; raises StageError where the bench or the machine is at fault."""
    if report.ending is Ending.KEEPER_DIED:
        raise StageError(
            "Something killed the process that holds the code agent; "
            "all that the agent had started was ended. Retry the trial."
        )
    if report.machine_out_of_memory:
        raise StageError(
            "This machine ran out of memory, and not because of the code agent; free some, then retry."
        )
    code = report.exit_code
    met = of_limit(hits)
    if met is not None:
        reason = _REASONS.get(hits[0].kind, ExitReason.CRASHED)
        detail = f"The command {met}."
    elif report.ending is Ending.DEADLINE:
        reason = ExitReason.TIMEOUT
        detail = f"The command met its limit of {wall_clock:g} s and was ended."
    elif report.ending is not Ending.FINISHED:
        reason = ExitReason.CANCELLED
        detail = f"The command was ended after {report.seconds:.0f} s because the run was cancelled."
    elif code == 0:
        reason = ExitReason.FINISHED
        detail = f"The command ended by itself after {report.seconds:.0f} s."
    else:
        reason = ExitReason.CRASHED
        detail = f"The command ended {_how(code)} after {report.seconds:.0f} s."
    if report.ending is Ending.FINISHED and report.left_behind:
        detail += f" {report.left_behind} that it had left running were ended."
    return AgentTurn(exit_reason=reason, detail=detail, exit_code=code)


def containment_of(level: str, report: EndReport, hits: tuple[LimitHit, ...]) -> Containment:
    """Return how the agent was held at this level of isolation."""
    return Containment(
        level=level,
        stage="agent",
        processes_left=report.survivors,
        ports_left=report.ports_left,
        seconds_to_end=report.seconds_to_end,
        limits_hit=hits,
    )


def _how(code: int | None) -> str:
    if code is None or code >= 0:
        return f"with exit code {code}"
    try:
        return f"by the signal {signal.Signals(-code).name}"
    except ValueError:
        return f"by the signal {-code}"


def cannot_start(word: str, refused: StartFailed) -> str:
    """Return one sentence about a command that could not be started, with the way out."""
    match refused.errno:
        case errno.ENOENT:
            return f"The command {word!r} was not found; install it, or give its full path."
        case errno.E2BIG:
            return (
                "The request is too long for an argument of a command; "
                "use {request_file} instead of {request}, or standard input."
            )
        case _:
            return f"The command {word!r} could not be started. {refused}"
