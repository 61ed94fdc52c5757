"""Kinds of adapters that are found by looking into a folder, and registered nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Any

from benchmark.rules.protocol import BadSetting, SettingSpec

type Settings = Mapping[str, int | float | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind[Kit, Adapter]:
    """One way of doing a job, before its settings are known.

    `family` is what the adapters of the folder are called in sentences.
    """

    family: str
    name: str
    title: str
    settings: tuple[SettingSpec, ...]
    build: Callable[[Settings, Kit], Adapter]

    def with_settings(self, given: Mapping[str, object], kit: Kit) -> Adapter:
        """Build the adapter, defaults filled in; raises BadSetting that names the setting."""
        return self.build(self.complete(given), kit)

    def complete(self, given: Mapping[str, object]) -> Settings:
        """Return a value for every setting; raises BadSetting for an unknown one or a bad value."""
        known = {spec.name: spec for spec in self.settings}
        for name in given:
            if name not in known:
                names = ", ".join(known) or "none"
                raise BadSetting(f"The {self.family} {self.name!r} has no setting {name!r}; it has: {names}.")
        return {name: spec.value_of(given.get(name, spec.default)) for name, spec in known.items()}


def kinds_in(package: ModuleType, *, family: str) -> Mapping[str, Kind[Any, Any]]:
    """Return the kinds that the modules of a package declare, by name.

    A module declares NAME, TITLE (a few words for a form), SETTINGS (a tuple of SettingSpec) and
    `build(settings, kit)`. Raises TypeError for a module that lacks one of them.
    """
    names = sorted(module.name for module in iter_modules(package.__path__))
    kinds = [_declared_by(f"{package.__name__}.{name}", family=family) for name in names]
    return MappingProxyType({kind.name: kind for kind in kinds})


def _declared_by(path: str, *, family: str) -> Kind[Any, Any]:
    module = import_module(path)
    try:
        return Kind(
            family=family,
            name=module.NAME,
            title=module.TITLE,
            settings=module.SETTINGS,
            build=module.build,
        )
    except AttributeError as missing:
        raise TypeError(f"The {family} module {path!r} lacks a declaration: {missing}.") from None
