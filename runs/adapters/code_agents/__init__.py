"""The code agents: one module each, found by looking, registered nowhere.

A module of this folder declares NAME, TITLE (a few words for a form), SETTINGS (a tuple of SettingSpec) and
`build(settings, kit)`, which returns a `runs.ports.CodeAgent` or raises BadSetting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType

from benchmark.rules.protocol import BadSetting, SettingSpec
from runs.adapters.sandboxes import Sandbox
from runs.ports import CodeAgent

type WorkspaceFor = Callable[[str, int], Path | None]
"""Answers the recorded workspace of (task key, round number), or None where there is none."""

type Settings = Mapping[str, int | float | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKit:
    """What the toolbox hands to whichever agent is built."""

    sandbox: Sandbox
    scratch: Path
    workspace_for: WorkspaceFor


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKind:
    """One way of working, before its settings are known."""

    name: str
    title: str
    settings: tuple[SettingSpec, ...]
    build: Callable[[Settings, AgentKit], CodeAgent]

    def with_settings(self, given: Mapping[str, object], kit: AgentKit) -> CodeAgent:
        """Build the agent, defaults filled in; raises BadSetting that names the setting."""
        return self.build(self.complete(given), kit)

    def complete(self, given: Mapping[str, object]) -> Settings:
        """Return a value for every setting; raises BadSetting for an unknown one or a bad value."""
        known = {spec.name: spec for spec in self.settings}
        for name in given:
            if name not in known:
                names = ", ".join(known) or "none"
                raise BadSetting(f"The code agent {self.name!r} has no setting {name!r}; it has: {names}.")
        return {name: spec.value_of(given.get(name, spec.default)) for name, spec in known.items()}


@cache
def all_code_agents() -> Mapping[str, AgentKind]:
    """Return every kind of code agent by name; raises TypeError for a module that declares none."""
    modules = sorted(module.name for module in iter_modules(__path__))
    kinds = [_declared_by(module) for module in modules]
    return MappingProxyType({kind.name: kind for kind in kinds})


def code_agent(name: str) -> AgentKind:
    """Return the kind of that name; raises LookupError that names the known ones."""
    try:
        return all_code_agents()[name]
    except KeyError:
        known = ", ".join(all_code_agents())
        raise LookupError(f"Unknown code agent {name!r}; known are: {known}.") from None


def _declared_by(name: str) -> AgentKind:
    module = import_module(f"{__name__}.{name}")
    try:
        return AgentKind(name=module.NAME, title=module.TITLE, settings=module.SETTINGS, build=module.build)
    except AttributeError as missing:
        raise TypeError(f"The code agent module {name!r} lacks a declaration: {missing}.") from None
