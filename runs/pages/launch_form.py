"""The launch form as plain values: what was given, what each setting takes, and what was wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.http import QueryDict

from benchmark.display import plain_value
from benchmark.rules.protocol import BadSetting, SettingSpec

PREFIXES = {"settings": "set.", "agent_settings": "agent.", "judge_settings": "judge."}
MOST_TASK_BOXES = 400
"""A benchmark with more tasks names them in a text field: a form of thousands of boxes helps nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A form as it was filled in; `tasks` is None where all are meant."""

    benchmark: str
    of: str
    agent: str
    judge: str
    name: str
    repeats: str
    sandbox: str
    tasks: tuple[str, ...] | None
    settings: Mapping[str, str]
    agent_settings: Mapping[str, str]
    judge_settings: Mapping[str, str]

    @classmethod
    def from_values(cls, values: QueryDict) -> Self:
        """Read a form, or an address that fills some of it in."""
        groups = {group: _with_prefix(values, prefix) for group, prefix in PREFIXES.items()}
        if "candidate" in values:
            groups["agent_settings"]["candidate"] = str(values.get("candidate", ""))
        folder = groups["agent_settings"].pop("folder", "").strip()
        if folder:
            groups["agent_settings"]["candidate"] = folder
        return cls(
            benchmark=str(values.get("benchmark", "")),
            of=str(values.get("of", "")),
            agent=str(values.get("agent", "")),
            judge=str(values.get("judge", "")),
            name=str(values.get("name", "")).strip(),
            repeats=str(values.get("repeats", "1")).strip(),
            sandbox=str(values.get("sandbox", "")),
            tasks=_tasks(values),
            **groups,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One setting as a control of the form."""

    name: str
    ident: str
    label: str
    help: str
    value: str
    taken: str
    choices: tuple[str, ...] = ()
    is_number: bool = False
    minimum: str = ""
    maximum: str = ""
    step: str = ""
    problem: str = ""
    folder: str | None = None


def fields_of(
    specs: Sequence[SettingSpec],
    *,
    group: str,
    given: Mapping[str, str],
    defaults: Mapping[str, Any],
    problems: Mapping[str, str],
) -> list[Field]:
    """A control for each setting; `problems` are by setting name."""
    return [
        Field(
            name=f"{PREFIXES[group]}{spec.name}",
            ident=f"{group}-{spec.name}".replace("_", "-"),
            label=spec.name.replace("_", " ").capitalize(),
            help=spec.help,
            value=given.get(spec.name, plain_value(defaults.get(spec.name, spec.default))),
            taken=f"Takes {spec.taken}." if spec.type is not str else "",
            choices=spec.choices,
            is_number=spec.type is not str,
            minimum=plain_value(spec.minimum) if spec.minimum is not None else "",
            maximum=plain_value(spec.maximum) if spec.maximum is not None else "",
            step="1" if spec.type is int else "any",
            problem=problems.get(spec.name, ""),
        )
        for spec in specs
    ]


def setting_problems(specs: Sequence[SettingSpec], given: Mapping[str, str]) -> dict[str, str]:
    """A sentence for each setting whose value is not taken, so that it stands under its own field."""
    problems: dict[str, str] = {}
    for spec in specs:
        if spec.name in given:
            try:
                spec.value_of(given[spec.name])
            except BadSetting as bad:
                problems[spec.name] = str(bad)
    return problems


def _with_prefix(values: QueryDict, prefix: str) -> dict[str, str]:
    return {
        key.removeprefix(prefix): str(values.get(key)).strip() for key in values if key.startswith(prefix)
    }


def _tasks(values: QueryDict) -> tuple[str, ...] | None:
    if values.get("choose") == "all":
        return None
    if values.get("choose") == "none":
        return ()
    if "task_keys" in values:
        keys = str(values.get("task_keys", "")).replace(",", " ").split()
        return tuple(keys) or None
    if "chosen" in values or "task" in values:
        return tuple(str(key) for key in values.getlist("task"))
    return None
