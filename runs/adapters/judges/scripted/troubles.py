"""The ways in which a step can end badly, told apart by whose fault it is."""

from __future__ import annotations

from typing import Any


class StepFailed(Exception):
    """The candidate does not do what the step says; the message is a sentence for a person.

    `reading` is what was read instead, for the action log.
    """

    def __init__(self, message: str, *, reading: Any = None) -> None:
        super().__init__(message)
        self.reading = reading


class PageHung(StepFailed):
    """The page no longer answers although the browser does: an endless loop of the candidate."""


class PageCrashed(Exception):
    """The page's process is gone; whose fault that is shows when it is tried again."""


class ScriptProblem(Exception):
    """The script itself cannot be performed: the pack's fault, so nothing is said of the candidate."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class NoBrowser(Exception):
    """No browser can be launched by this process (any more): only a new process can help."""


class BenchTrouble(Exception):
    """The browser or its driver failed; the criterion is tried again. `reason` is a machine word."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
