"""Say in one sentence why an application does not answer."""

from __future__ import annotations

import re

from runs.adapters.deployers.answering import NoAnswer, Silence
from runs.adapters.deployers.steps import OUT_OF_MEMORY, StepEnd
from runs.adapters.sandboxes import Ending, EndReport
from runs.adapters.sandboxes.limit_words import of_limit
from runs.adapters.sandboxes.listening import is_taken
from runs.errors import StageError

_TAKEN = re.compile(
    r"EADDRINUSE|address already in use|port \d+ is (?:already )?in use|Errno 98|Errno 48", re.IGNORECASE
)
_PORT_NUMBER = re.compile(r"(?:port|:)\D{0,3}(\d{2,5})\b", re.IGNORECASE)


def why_silent(answer: NoAnswer, *, path: str, seconds: float, taken: int | None) -> str:
    """Return one sentence about an application that does not answer; raises StageError for the bench."""
    if taken is not None and is_taken(taken):
        # Another candidate's or this machine's: elsewhere the same application would have started.
        raise StageError(
            f"The application insists on port {taken}, which another program on this machine uses "
            "(the application of another trial, perhaps); retry when that port is free."
        )
    match answer.why:
        case Silence.ENDED:
            return _ended(answer.ended)
        case Silence.NEVER_LISTENED:
            return f"The application opened no port within {seconds:g} s."
        case Silence.NO_ANSWER:
            ports = ", ".join(str(port) for port in answer.ports)
            if answer.status is not None:
                return f"The application answered {answer.status} at {path} for {seconds:g} s."
            return f"The application listens on port {ports} but did not answer within {seconds:g} s."


def port_taken(answer: NoAnswer, log: str, *, given: int) -> int | None:
    """Return the port that was taken by somebody else, when that is why the application does not answer."""
    if not _TAKEN.search(log):
        return None
    lines = [line for line in log.splitlines() if _TAKEN.search(line)]
    nearby = "\n".join(lines) + "\n" + log[-4000:]
    for number in _PORT_NUMBER.findall(nearby):
        port = int(number)
        if port != given and port not in answer.ports and 0 < port < 65536 and is_taken(port):
            return port
    return given if is_taken(given) or str(given) in nearby else None


def in_words(code: int | None) -> str:
    """Return how a command ended, in words."""
    return f"with exit code {code}" if code is None or code >= 0 else f"by signal {-code}"


def how_it_failed(end: StepEnd) -> str:
    """Return how a command of an install failed, as the end of a sentence."""
    if end.ending is Ending.DEADLINE:
        return "by taking too long"
    if met := of_limit(end.limits_hit):
        return f"because it {met}"
    return in_words(end.exit_code) if end.ending is Ending.FINISHED else f"({end.ending})"


def machines_fault(report: EndReport | None) -> str:
    """Return one sentence where the machine ended an application, and nothing where it ended itself."""
    if report is None:
        return ""
    if report.ending is Ending.KEEPER_DIED:
        return "Something killed the process that holds the application; retry the trial."
    return OUT_OF_MEMORY if report.machine_out_of_memory else ""


def _ended(report: EndReport | None) -> str:
    if fault := machines_fault(report):
        raise StageError(fault)
    if report is not None and report.ending is Ending.OUTPUT_LIMIT:
        return "The application wrote more output than is allowed and was ended before it answered."
    if report is not None and (met := of_limit(report.limits_hit)):
        return f"The application {met} before it answered."
    code = None if report is None else report.exit_code
    return f"The application ended {in_words(code)} before it answered; the log says why."
