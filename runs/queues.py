"""What a step of a trial needs of a worker, and so the queue that it waits in."""

from __future__ import annotations

from enum import StrEnum

from benchmark.rules.vocabulary import StageName


class Queue(StrEnum):
    """Where rings wait; a worker takes those it is told to, such as `celery worker -Q judge,light`."""

    AGENT = "agent"
    """Code agents: long, and the only ones that need a model's endpoint or an agent's program."""
    JUDGE = "judge"
    """Browsers."""
    PREVIEW = "preview"
    """Candidates that are built and started: Node, processors and a disk."""
    LIGHT = "light"
    """The rest: texts and numbers, seconds each."""


EVERY = frozenset(Queue)

_NEEDS = {
    StageName.CODE: Queue.AGENT,
    StageName.DEPLOY: Queue.PREVIEW,
    StageName.JUDGE: Queue.JUDGE,
    StageName.REFUTE: Queue.JUDGE,
}


def queue_of(stage: str) -> Queue:
    """The queue of a stage; that of a trial which has not begun, whose stage is empty, is `light`.

    Whoever begins such a trial learns what it needs and hands it over where that is something else.
    """
    return _NEEDS.get(StageName(stage), Queue.LIGHT) if stage else Queue.LIGHT


def stages_of(queues: frozenset[Queue]) -> list[str]:
    """The stages whose steps wait in any of the queues, as trials keep them."""
    return [stage for stage in ("", *(name.value for name in StageName)) if queue_of(stage) in queues]
