"""What a protocol declares: stages, settings, metrics, tables and charts, as one frozen value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.rules.records import CriterionSpec, Scores, TrialRecord
from benchmark.rules.vocabulary import ChartKind, Mark, StageName, TableRows, Unit


class BadSetting(ValueError):
    """A setting that the protocol does not have, or a value that it does not take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSpec:
    """One setting of a run: its type, its default and the values it takes."""

    name: str
    type: type[int | float | str]
    default: int | float | str
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    def value_of(self, given: object) -> int | float | str:
        """Return `given` (also as text, from a form or a command line) as a value of this setting.

        Raises BadSetting with a sentence that names the value and the values that are taken.
        """
        value = self._typed(given)
        if self.choices and value not in self.choices:
            raise self._refusal(given)
        if isinstance(value, str):
            return value
        # Written so that a NaN, which compares false with everything, is refused as well.
        if self.minimum is not None and not value >= self.minimum:
            raise self._refusal(given)
        if self.maximum is not None and not value <= self.maximum:
            raise self._refusal(given)
        return value

    @property
    def taken(self) -> str:
        """The values that are taken, in words."""
        if self.choices:
            return " or ".join(repr(choice) for choice in self.choices)
        noun = {int: "a whole number", float: "a number", str: "a text"}[self.type]
        if self.minimum is not None and self.maximum is not None:
            return f"{noun} from {self.minimum:g} to {self.maximum:g}"
        return noun

    def _typed(self, given: object) -> int | float | str:
        if isinstance(given, bool) or not isinstance(given, int | float | str):
            raise self._refusal(given)
        if self.type is str:
            if not isinstance(given, str):
                raise self._refusal(given)
            return str(given)
        try:
            number = float(given)
            if self.type is int and number != int(number):
                raise self._refusal(given)
        except (ValueError, OverflowError):
            raise self._refusal(given) from None
        return int(number) if self.type is int else number

    def _refusal(self, given: object) -> BadSetting:
        return BadSetting(f"Setting {self.name!r} is {given!r:.80}; it takes {self.taken}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """One metric: the paper's word for it, ours, and a plain definition for tooltips and tables."""

    name: str
    label: str
    our_words: str
    definition: str
    unit: Unit = Unit.SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """A table of a results page: which metrics, in which order, by what."""

    name: str
    title: str
    rows: TableRows
    metrics: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSpec:
    """A chart of a results page: which metrics, drawn how."""

    name: str
    title: str
    kind: ChartKind
    metrics: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One paper's recipe. Pages, tables and commands are drawn from what is declared here.

    * `request_for(record)` is the text that the code agent is given in the round to be briefed.
    * `wants_another_round(record)` answers after a judged round (and before the first one).
    * `criteria_for_feedback(record)` are those of the last round that its feedback speaks of.
    * `score(trials, settings)` takes all trials of one run.
    * `read_marks(document)` turns a marks file into trials; raises BadMarks with one sentence.
    * `decisions(settings)` are the sentences a result page shows beside its numbers.
    """

    name: str
    title: str
    stages: tuple[StageName, ...]
    kinds: tuple[str, ...]
    allowed_marks: tuple[Mark, ...]
    settings: tuple[SettingSpec, ...]
    weights: tuple[int, int]
    request_for: Callable[[TrialRecord], str]
    wants_another_round: Callable[[TrialRecord], bool]
    criteria_for_feedback: Callable[[TrialRecord], tuple[CriterionSpec, ...]]
    score: Callable[[Sequence[TrialRecord], Mapping[str, Any]], Scores]
    read_marks: Callable[[Mapping[str, Any]], Sequence[TrialRecord]]
    metric_specs: tuple[MetricSpec, ...]
    tables: tuple[TableSpec, ...]
    charts: tuple[ChartSpec, ...]
    decisions: Callable[[Mapping[str, Any]], tuple[str, ...]]

    def complete_settings(self, given: Mapping[str, Any]) -> dict[str, int | float | str]:
        """Return every setting of the protocol, the given ones checked and the rest by default.

        Raises BadSetting with a sentence that names the setting and what is taken.
        """
        specs = {spec.name: spec for spec in self.settings}
        for name in given:
            if name not in specs:
                known = ", ".join(specs)
                raise BadSetting(f"Protocol {self.name!r} has no setting {name!r}; it has {known}.")
        return {
            name: spec.value_of(given[name]) if name in given else spec.default
            for name, spec in specs.items()
        }

    def metric(self, name: str) -> MetricSpec:
        """Return the declared metric; raises LookupError for a name that is not declared."""
        for spec in self.metric_specs:
            if spec.name == name:
                return spec
        raise LookupError(f"Protocol {self.name!r} has no metric {name!r}.")
