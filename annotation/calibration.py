"""Whether people drift: the share of calibration items that each marked right, early and late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

SCORE_TOLERANCE = 0.1
"""A rating counts as right within this share of its scale's length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One person's mark or rating on an item whose right answer is known."""

    annotator: int
    saved_at: datetime
    is_right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How many calibration items a person marked right, in the first and in the second half of them."""

    early_right: int
    early_n: int
    late_right: int
    late_n: int

    @property
    def early_share(self) -> float | None:
        """None where nothing was marked."""
        return self.early_right / self.early_n if self.early_n else None

    @property
    def late_share(self) -> float | None:
        """None where fewer than two were marked: then there is no later half."""
        return self.late_right / self.late_n if self.late_n else None

    @property
    def change(self) -> float | None:
        """Late minus early; None where either is undefined."""
        if self.early_share is None or self.late_share is None:
            return None
        return self.late_share - self.early_share


def drift_by_annotator(answers: Iterable[Answer]) -> Mapping[int, Drift]:
    """Return each person's drift; of an odd number of answers the middle one is early."""
    by_person: dict[int, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_person[answer.annotator].append(answer)
    return {
        person: _drift(sorted(given, key=lambda each: each.saved_at)) for person, given in by_person.items()
    }


def is_right_score(score: float, *, known: float, minimum: float, maximum: float) -> bool:
    """Tell whether a rating is near enough to the known one for its scale."""
    return abs(score - known) <= SCORE_TOLERANCE * (maximum - minimum) + 1e-9


def _drift(given: list[Answer]) -> Drift:
    half = (len(given) + 1) // 2
    early, late = given[:half], given[half:]
    return Drift(
        early_right=sum(answer.is_right for answer in early),
        early_n=len(early),
        late_right=sum(answer.is_right for answer in late),
        late_n=len(late),
    )
