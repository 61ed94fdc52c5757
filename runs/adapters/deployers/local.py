"""Build and serve a candidate on this machine, as a process tree that surely ends."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from runs.adapters.deployers.deployment import USUAL_TIMES, Deployment, Limits
from runs.adapters.deployers.recognition import NotRecognised, plan_for
from runs.adapters.deployers.steps import Notes, Steps
from runs.adapters.sandboxes import (
    USUAL_LIMITS,
    Sandbox,
)
from runs.adapters.sandboxes import Limits as BoxLimits
from runs.adapters.sandboxes.folders import copy_into, own_folder, remove_folder
from runs.errors import StageError
from runs.ports import CancelCheck, ContainedNote, RunningApp, not_noted

_NAMED_FILES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalDeployer:
    """Works in a copy of the folder, below `scratch`; package caches live in `cache` and are shared."""

    sandbox: Sandbox
    scratch: Path
    cache: Path
    limits: Limits = USUAL_TIMES
    use: BoxLimits = USUAL_LIMITS
    """How much each command of a deployment may use; held at every level."""

    @contextmanager
    def serve(
        self,
        folder: Path,
        *,
        deploy: Mapping[str, Any],
        is_cancelled: CancelCheck,
        contained: ContainedNote = not_noted,
    ) -> Iterator[RunningApp]:
        """Serve until the context ends, then end the whole process tree and remove the copy.

        `contained` is told of every command when the context ends. Raises CandidateBroken (with its
        report), StageError (the bench) or Cancelled.
        """
        notes = Notes(log_bytes=self.limits.log_bytes)
        place = self._new_place()
        try:
            with self._served(
                folder, place=place, notes=notes, deploy=deploy, is_cancelled=is_cancelled
            ) as app:
                yield app
        finally:
            left = _removed(place)
            for held in notes.contained:
                contained(replace(held, files_left=left if held is notes.contained[-1] else ()))

    @contextmanager
    def _served(
        self,
        folder: Path,
        *,
        place: Path,
        notes: Notes,
        deploy: Mapping[str, Any],
        is_cancelled: CancelCheck,
    ) -> Iterator[RunningApp]:
        app = place / "app"
        try:
            copied = copy_into(app, folder)
        except OSError as error:
            raise _copy_trouble(error) from error
        if copied.left_out:
            notes.say(f"left out, because they lead outside: {', '.join(copied.left_out[:10])}")
        try:
            plan = plan_for(app, deploy)
        except NotRecognised as nothing:
            raise notes.broken(str(nothing)) from None
        notes.kind = plan.kind
        steps = Steps(
            sandbox=self.sandbox,
            folder=app,
            notes=notes,
            is_cancelled=is_cancelled,
            writable=(place / "home",),
            limits=self.use,
        )
        deployment = Deployment(place=place, cache=self.cache, limits=self.limits, plan=plan, steps=steps)
        with deployment.running() as running:
            yield running

    def _new_place(self) -> Path:
        try:
            place = own_folder(self.scratch, purpose="deploy")
            (place / "home").mkdir()
        except OSError as error:
            raise _copy_trouble(error) from error
        return place


def _removed(place: Path) -> tuple[str, ...]:
    """Remove the folder of a deployment; answers what of it could not be removed."""
    try:
        remove_folder(place)
    except OSError:
        shutil.rmtree(place, ignore_errors=True)
    if not place.exists():
        return ()
    return tuple(str(path) for path in islice(place.rglob("*"), _NAMED_FILES)) or (str(place),)


def _copy_trouble(error: OSError) -> StageError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StageError("The disk is full; free some space, then retry.")
    return StageError(f"The application could not be copied for its deployment: {error.strerror}.")
