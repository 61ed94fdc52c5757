"""The settings of an Asuka run and the values that the rules read from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from benchmark.rules.protocol import SettingSpec
from benchmark.rules.vocabulary import Mode


class RequestText(StrEnum):
    """Which text of the task opens the dialogue with the code agent."""

    QUERY = "query"
    PRD = "prd"


@dataclass(frozen=True, slots=True, kw_only=True)
class AsukaSettings:
    """The settings of one run, complete."""

    threshold: float
    mode: Mode
    max_rounds: int
    request: RequestText

    @property
    def rounds_at_most(self) -> int:
        """How many rounds a task may take: one on the clarified PRD. (Asuka-Bench, section 4.2)"""
        return 1 if self.request is RequestText.PRD else self.max_rounds


THRESHOLD = SettingSpec(
    name="threshold",
    type=float,
    default=0.5,
    minimum=0,
    maximum=1,
    help="Share of passed outcomes from which a criterion satisfies those that need it; 1 is strict.",
)
MODE = SettingSpec(
    name="mode",
    type=str,
    default=Mode.DAG.value,
    choices=tuple(mode.value for mode in Mode),
    help="dag skips criteria behind unsatisfied prerequisites; flat judges every criterion.",
)
MAX_ROUNDS = SettingSpec(
    name="max_rounds",
    type=int,
    default=3,
    minimum=1,
    maximum=10,
    help="Rounds after which a task stops even though criteria do not pass.",
)
REQUEST = SettingSpec(
    name="request",
    type=str,
    default=RequestText.QUERY.value,
    choices=tuple(text.value for text in RequestText),
    help="query gives the vague request and feedback; prd gives the clarified text, in one round.",
)
SETTINGS = (THRESHOLD, MODE, MAX_ROUNDS, REQUEST)


def settings_from(given: Mapping[str, Any]) -> AsukaSettings:
    """Return the settings with defaults for those that are not given; others are left alone.

    Raises BadSetting for a value that a setting does not take.
    """
    value = {spec.name: spec.value_of(given.get(spec.name, spec.default)) for spec in SETTINGS}
    return AsukaSettings(
        threshold=float(value["threshold"]),
        mode=Mode(str(value["mode"])),
        max_rounds=int(value["max_rounds"]),
        request=RequestText(str(value["request"])),
    )
