"""The stages of a round: one small module each, all with `run(context)`, all safe to repeat."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from benchmark.rules.vocabulary import StageName
from runs.context import StageContext


class Stage(Protocol):
    """A module of this package."""

    def run(self, context: StageContext) -> None:
        """Do what is missing. Raises StageError for trouble of the bench."""
        ...


def stage(name: StageName) -> Stage:
    """The stage of that name; raises LookupError when no module here carries it."""
    try:
        return cast("Stage", import_module(f"{__name__}.{name.value}"))
    except ModuleNotFoundError:
        raise LookupError(f"The stage {name.value!r} is not built yet.") from None
