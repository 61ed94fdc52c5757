"""The launch form: fields drawn from what protocol, agents and judges declare, read back from a post."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.models import Benchmark
from benchmark.protocols import protocol
from benchmark.rules.protocol import SettingSpec
from runs.adapters.code_agents import all_code_agents
from runs.adapters.judges import all_judges

DEFAULT_AGENT = "replay"
DEFAULT_JUDGE = "scripted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One setting as a control. `choices` makes it a selection."""

    name: str
    label: str
    help: str
    value: str
    kind: str
    choices: tuple[str, ...] = ()
    minimum: str = ""
    maximum: str = ""
    step: str = ""
    taken: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A code agent or a judge with its settings."""

    name: str
    title: str
    is_chosen: bool
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchForm:
    """What was filled in. Values are texts as they came; `problems` are sentences by field."""

    benchmark: Benchmark
    values: Mapping[str, str]
    tasks: tuple[str, ...] | None
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def agent(self) -> str:
        return self.values.get("agent", DEFAULT_AGENT)

    @property
    def judge(self) -> str:
        return self.values.get("judge", DEFAULT_JUDGE)

    @property
    def name(self) -> str:
        return self.values.get("name", "").strip()

    @property
    def repeats(self) -> int:
        """The number asked for; 0, which is refused with a sentence, where it is no number."""
        raw = self.values.get("repeats", "1").strip()
        return int(raw) if raw.isdecimal() and len(raw) < 6 else 0

    def settings(self) -> dict[str, str]:
        return self._given("set")

    def agent_settings(self) -> dict[str, str]:
        return self._given(f"agent.{self.agent}")

    def judge_settings(self) -> dict[str, str]:
        return self._given(f"judge.{self.judge}")

    def protocol_fields(self) -> list[Field]:
        """The protocol's settings; the benchmark's own defaults go before the protocol's."""
        recipe = protocol(self.benchmark.protocol)
        defaults = self.benchmark.settings
        return [
            self._field("set", spec, default=defaults.get(spec.name, spec.default))
            for spec in recipe.settings
        ]

    def agents(self, *, candidates: Sequence[str]) -> list[Option]:
        """Every code agent; the replay agent chooses among the recorded candidates."""
        return [
            Option(
                name=kind.name,
                title=kind.title,
                is_chosen=kind.name == self.agent,
                fields=tuple(
                    self._field(
                        f"agent.{kind.name}",
                        spec,
                        default=spec.default,
                        choices=tuple(candidates)
                        if (kind.name, spec.name) == ("replay", "candidate")
                        else (),
                    )
                    for spec in kind.settings
                ),
            )
            for kind in all_code_agents().values()
        ]

    def judges(self) -> list[Option]:
        return [
            Option(
                name=kind.name,
                title=kind.title,
                is_chosen=kind.name == self.judge,
                fields=tuple(
                    self._field(f"judge.{kind.name}", spec, default=spec.default) for spec in kind.settings
                ),
            )
            for kind in all_judges().values()
        ]

    def _given(self, prefix: str) -> dict[str, str]:
        """What was filled in under a prefix; an emptied field means the default."""
        start = f"{prefix}."
        return {
            name.removeprefix(start): value.strip()
            for name, value in self.values.items()
            if name.startswith(start) and value.strip()
        }

    def _field(self, prefix: str, spec: SettingSpec, *, default: Any, choices: tuple[str, ...] = ()) -> Field:
        name = f"{prefix}.{spec.name}"
        is_number = spec.type in (int, float)
        return Field(
            name=name,
            label=spec.name.replace("_", " ").capitalize(),
            help=spec.help,
            value=self.values.get(name, _plain(default)),
            kind="number" if is_number else "text",
            choices=choices or spec.choices,
            minimum="" if spec.minimum is None else _plain(spec.minimum),
            maximum="" if spec.maximum is None else _plain(spec.maximum),
            step="1" if spec.type is int else "any" if is_number else "",
            taken=spec.taken if is_number else "",
            problem=self._problem(prefix, spec.name),
        )

    def _problem(self, prefix: str, name: str) -> str:
        """The sentence about this setting: services name the setting that is at fault."""
        group, _, owner = prefix.partition(".")
        if owner and owner != {"agent": self.agent, "judge": self.judge}.get(group):
            return ""
        sentence = self.problems.get({"set": "settings"}.get(group, f"{group}_settings"), "")
        return sentence if repr(name) in sentence else ""

    def rest(self, group: str) -> str:
        """The sentence of a group that names none of its fields, so that no problem goes unseen."""
        sentence = self.problems.get(group, "")
        fields: list[Field] = []
        if group == "settings":
            fields = self.protocol_fields()
        elif group == "agent_settings":
            fields = [
                each for option in self.agents(candidates=()) if option.is_chosen for each in option.fields
            ]
        elif group == "judge_settings":
            fields = [each for option in self.judges() if option.is_chosen for each in option.fields]
        return "" if any(each.problem for each in fields) else sentence


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
