"""What `proofroom import PATH --as KIND` can read: declared by the applications, found by looking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.apps import apps
from django.utils.module_loading import module_has_submodule

MODULE = "import_kinds"
"""A module of this name in an application holds its KINDS."""


class ImportMisused(ValueError):
    """An option of an import is wrong; the message is one sentence that names the value and the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOption:
    """An option of one kind; without a metavar it is a flag."""

    name: str
    help: str
    metavar: str | None = None

    @property
    def flag(self) -> str:
        """The option as it is typed."""
        return f"--{self.name.replace('_', '-')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportAnswer:
    """What the command answers: the document with --json, else the text."""

    document: Mapping[str, Any]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportKind:
    """Something other than a benchmark that files hold.

    `read` takes the path and the options by name. It raises ImportRefused with every problem of the
    files, or ImportMisused; either way nothing was imported.
    """

    name: str
    words: str
    options: tuple[ImportOption, ...]
    read: Callable[[Path, Mapping[str, Any]], ImportAnswer]


@cache
def all_kinds() -> Mapping[str, ImportKind]:
    """Return the kinds of all installed applications by name."""
    kinds: dict[str, ImportKind] = {}
    for config in apps.get_app_configs():
        if config.module is not None and module_has_submodule(config.module, MODULE):
            declared = import_module(f"{config.name}.{MODULE}").KINDS
            kinds.update({kind.name: kind for kind in declared})
    return MappingProxyType(kinds)


def all_options() -> Mapping[str, ImportOption]:
    """Return the options of all kinds by name; kinds that share one describe it alike."""
    return {option.name: option for kind in all_kinds().values() for option in kind.options}
