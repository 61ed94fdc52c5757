"""What a scripted judging is set to; the same values make two judgings comparable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from benchmark.rules.scripts import MOST_STEPS


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedSettings:
    """Limits of one judging; times are in seconds.

    `step_timeout` is how long an expectation is retried and an element looked for, `page_timeout` how
    long a page may take to load, `time_limit` how long a session may last, and `retries` how often a
    criterion is tried again when the browser (not the candidate) fails.
    """

    step_timeout: float = 3.0
    page_timeout: float = 15.0
    time_limit: float = 3600.0
    concurrency: int = 3
    max_steps: int = MOST_STEPS
    retries: int = 3
    trace: bool = False

    def __post_init__(self) -> None:
        for name, low, high in _BOUNDS:
            value = getattr(self, name)
            if not _is_number(value) or not low <= value <= high:
                raise ValueError(f"The judge's setting {name} is {value!r}; allowed are {low} to {high}.")
        for name in ("concurrency", "max_steps", "retries"):
            if getattr(self, name) != round(getattr(self, name)):
                raise ValueError(f"The judge's setting {name} is {getattr(self, name)!r}, no whole number.")
        if self.trace not in (True, False):
            raise ValueError(f"The judge's setting trace is {self.trace!r}; allowed are true and false.")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Build settings from names and values; raises ValueError that names an unknown one."""
        known = [each.name for each in fields(cls)]
        unknown = [name for name in values if name not in known]
        if unknown:
            raise ValueError(f"Unknown setting {unknown[0]!r} of the judge; known are {', '.join(known)}.")
        return cls(**values)

    def as_mapping(self) -> dict[str, Any]:
        """Return every setting by its name."""
        return asdict(self)


_BOUNDS = (
    ("step_timeout", 0.1, 30),
    ("page_timeout", 0.5, 120),
    ("time_limit", 1, 86_400),
    ("concurrency", 1, 16),
    ("max_steps", 1, 10_000),
    ("retries", 0, 10),
)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
