"""What can be wished for a deployment, and the plan that comes out of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from benchmark.packs.deploy import FIELDS
from runs.errors import StageError
from runs.ports import DeploymentKind

PYTHON = "{python}"
NPM = "{npm}"
PORT = "{port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to get a candidate running.

    `install` None means the usual install of the kind, () means none. A word may hold `{port}`, `{npm}`
    or `{python}`. Without `start` the folder `root` is served as it is.
    """

    kind: DeploymentKind
    install: tuple[str, ...] | None = ()
    builds: tuple[tuple[str, ...], ...] = ()
    start: tuple[str, ...] = ()
    health: str = "/"
    root: str = ""
    index: str = "index.html"
    fallback: str | None = None
    start_timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The task's own deploy table, checked."""

    kind: DeploymentKind | None
    install: tuple[str, ...] | None
    build: tuple[str, ...] | None
    start: tuple[str, ...]
    health: str
    root: str
    spa: bool
    start_timeout: float | None

    @staticmethod
    def read(deploy: Mapping[str, Any]) -> Wish:
        """Return the wish; raises StageError that names the entry and what it may be."""
        unknown = sorted(set(deploy) - set(FIELDS))
        if unknown:
            raise StageError(
                f"The task's deploy table has {unknown[0]!r}; it may have {', '.join(sorted(FIELDS))}."
            )
        kind = deploy.get("kind")
        if kind is not None and kind not in set(DeploymentKind):
            kinds = ", ".join(DeploymentKind)
            raise StageError(f"The task's deploy kind is {kind!r}; it must be one of {kinds}.")
        health = deploy.get("health", "/")
        if not isinstance(health, str) or not health.startswith("/"):
            raise StageError(f"The task's deploy health is {health!r}; it must be a path such as /health.")
        root = deploy.get("root", "")
        if not isinstance(root, str) or root.startswith("/") or ".." in root.split("/"):
            raise StageError(f"The task's deploy root is {root!r}; it must be a folder of the candidate.")
        spa, seconds = deploy.get("spa", False), deploy.get("start_timeout")
        if not isinstance(spa, bool):
            raise StageError(f"The task's deploy spa is {spa!r}; it must be true or false.")
        if seconds is not None and (
            isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0
        ):
            raise StageError(
                f"The task's deploy start_timeout is {seconds!r}; it must be a number of seconds."
            )
        return Wish(
            kind=None if kind is None else DeploymentKind(kind),
            install=_words(deploy, "install"),
            build=_words(deploy, "build"),
            start=_words(deploy, "start") or (),
            health=health,
            root=root,
            spa=spa,
            start_timeout=seconds,
        )

    def applied_to(self, plan: Plan) -> Plan:
        """Return the plan with what is wished in place of what was found."""
        return replace(
            plan,
            install=plan.install if self.install is None else self.install,
            builds=plan.builds if self.build is None else tuple(filter(None, [self.build])),
            start=self.start or plan.start,
            health=self.health,
            fallback=plan.index if self.spa else None,
            start_timeout=self.start_timeout,
        )


def _words(deploy: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    given = deploy.get(key)
    if given is None:
        return None
    if isinstance(given, str):
        try:
            return tuple(shlex.split(given))
        except ValueError as error:
            raise StageError(f"The task's deploy {key} is {given!r}; it cannot be split: {error}.") from None
    if isinstance(given, list | tuple) and all(isinstance(word, str) for word in given):
        return tuple(given)
    raise StageError(f"The task's deploy {key} is {given!r}; it must be a command line.")
