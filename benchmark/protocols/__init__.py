"""The protocols: one folder each, found by looking, registered nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType

from benchmark.rules.protocol import Protocol


@cache
def all_protocols() -> Mapping[str, Protocol]:
    """Return every protocol by name, in the order of their names.

    Raises TypeError for a folder whose PROTOCOL is missing or goes by another name.
    """
    names = sorted(module.name for module in iter_modules(__path__) if module.ispkg)
    return MappingProxyType({name: _declared_by(name) for name in names})


def protocol(name: str) -> Protocol:
    """Return the protocol of that name; raises LookupError that names the known ones."""
    try:
        return all_protocols()[name]
    except KeyError:
        known = ", ".join(all_protocols()) or "none"
        raise LookupError(f"Unknown protocol {name!r}; known are: {known}.") from None


def samples() -> tuple[Path, ...]:
    """Return the sample packs of all protocols, those of a protocol in the order of their names."""
    return tuple(
        pack.parent
        for name in all_protocols()
        for folder in __path__
        for pack in sorted(Path(folder, name, "sample").glob("*/benchmark.toml"))
    )


def _declared_by(folder: str) -> Protocol:
    declared = getattr(import_module(f"{__name__}.{folder}"), "PROTOCOL", None)
    if not isinstance(declared, Protocol):
        raise TypeError(f"The protocol folder {folder!r} declares no PROTOCOL in its __init__.")
    if declared.name != folder:
        raise TypeError(f"The protocol folder {folder!r} declares the name {declared.name!r}.")
    return declared
