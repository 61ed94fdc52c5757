"""Whose turn it is among previews that wait: who has least comes first, and nobody is overtaken for ever."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MOST_OVERTAKEN = 5
"""So many later ones may go first; then the turn is that of arrival."""


@dataclass(slots=True, kw_only=True)
class Turn:
    """One that waits.

    `others` is how many its owner had, running or waiting, when it came: somebody's first goes before
    anybody's second. `arrival` rises; `overtaken` counts the later ones that went first.
    """

    others: int = 0
    arrival: int = 0
    overtaken: int = 0

    def key(self) -> tuple[int, int]:
        """Sort by this."""
        return (-1 if self.overtaken >= MOST_OVERTAKEN else self.others, self.arrival)


def go(chosen: Turn, *, before: Iterable[Turn]) -> None:
    """Note that one goes before others that wait on."""
    for other in before:
        other.overtaken += other.arrival < chosen.arrival
