"""Wait until a started application answers over HTTP, wherever it listens."""

from __future__ import annotations

import http.client
import threading
import time
from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlsplit

from runs.adapters.deployers.steps import Steps
from runs.adapters.sandboxes import EndReport, KeptCommand
from runs.adapters.sandboxes.listening import Listener, can_be_known

_TICK = 0.1
_ANSWER_SECONDS = 30.0
_OWN_PORT_SECONDS = 1.5


class Silence(Enum):
    """Why an application does not answer."""

    ENDED = "ended"
    NEVER_LISTENED = "never_listened"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A listener that answers HTTP with this status."""

    listener: Listener
    address: str
    status: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """No answer within the time; `ended` when the command is over, `status` of the last refusal."""

    why: Silence
    ended: EndReport | None = None
    ports: tuple[int, ...] = ()
    status: int | None = None


def first_answer(
    kept: KeptCommand, steps: Steps, *, port: int, path: str, seconds: float
) -> Answer | NoAnswer:
    """Ask `port`, or else whichever port the process tree opens, until one answers; raises Cancelled."""
    began = time.monotonic()
    asked: dict[Listener, _Question] = {}
    seen: set[int] = set()
    status: int | None = None
    while time.monotonic() - began < seconds:
        steps.stop_if_cancelled()
        ended = kept.poll()
        if ended is not None:
            return NoAnswer(why=Silence.ENDED, ended=ended, ports=tuple(sorted(seen)), status=status)
        for listener in _worth_asking(kept, port=port, waited=time.monotonic() - began):
            seen.add(listener.port)
            question = asked.get(listener)
            if question is None or (question.is_over and question.age > 0.3):
                asked[listener] = _Question(_address(kept, listener), path)
        for listener, question in asked.items():
            if question.status is not None:
                status = question.status
                if question.status < 500:
                    return Answer(listener=listener, address=question.address, status=question.status)
        time.sleep(_TICK)
    why = Silence.NO_ANSWER if seen else Silence.NEVER_LISTENED
    return NoAnswer(why=why, ports=tuple(sorted(seen)), status=status)


def _worth_asking(kept: KeptCommand, *, port: int, waited: float) -> tuple[Listener, ...]:
    if not can_be_known():
        return (Listener(port=port),)
    # Only sockets of the candidate's own tree: a stranger on the same port must not be judged.
    found = kept.listeners()
    given = tuple(listener for listener in found if listener.port == port)
    if given or waited < _OWN_PORT_SECONDS:
        return given
    return found


def _address(kept: KeptCommand, listener: Listener) -> str:
    try:
        return kept.address_of(listener)
    except OSError:
        return ""  # It ended meanwhile, or no way could be opened yet: it is asked again.


class _Question:
    """One request in a thread of its own, so that a slow first answer can be waited for."""

    def __init__(self, address: str, path: str) -> None:
        self.status: int | None = None
        self.address = address
        self._path = path
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._ask, name="health", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    @property
    def age(self) -> float:
        return time.monotonic() - self._began

    def _ask(self) -> None:
        if not self.address:
            return
        place = urlsplit(self.address)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_ANSWER_SECONDS)
        try:
            connection.request("GET", self._path, headers={"Accept": "text/html,*/*"})
            self.status = connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return  # Not yet, or no HTTP: it is asked again.
        finally:
            connection.close()
