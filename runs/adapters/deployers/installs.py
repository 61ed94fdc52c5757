"""Install the npm packages a candidate depends on, and keep them for the next time."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runs.adapters.deployers.node import (
    INSTALL_OPTIONS,
    NodeTools,
    install_environment,
    registry,
    trouble_of_the_bench,
)
from runs.adapters.deployers.reasons import how_it_failed
from runs.adapters.deployers.registries import npm_registries
from runs.adapters.deployers.steps import StepEnd, Steps
from runs.adapters.sandboxes import Ending, Network
from runs.errors import StageError

_LOCKS = ("package-lock.json", "npm-shrinkwrap.json")
_DEPENDENCY_TABLES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_LIFECYCLE = frozenset(
    {
        *("preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"),
        "dependencies",
    }
)
"""What npm runs of a project's own scripts beside an install (docs.npmjs.com, "Life Cycle Scripts")."""
_LOCAL = ("file:", "link:", "workspace:", ".", "/", "~")
_KEPT_INSTALLS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInstall:
    """Installs npm packages into the candidate's folder; equal wishes are met from a kept copy."""

    tools: NodeTools
    cache: Path
    seconds: float
    npm_cache: Path | None = None
    """A cache of this deployment's own; without it npm's downloads are shared, as far as a wall is not."""

    def environment(self) -> Mapping[str, str]:
        """Return what npm needs to install with its cache."""
        npm_cache = self.npm_cache or self.cache / "npm"
        return install_environment(npm_cache, registry_address=registry(self.tools.npm))

    def run(self, steps: Steps, *, env: Mapping[str, str]) -> None:
        """Install; raises CandidateBroken, or StageError when registry or machine are at fault."""
        # Asked before anything of the candidate runs: from then on its files may be pipes or devices.
        runs_own = runs_own_scripts(steps.folder)
        key = None if runs_own else wish_of(steps.folder, node=self.tools.version)
        kept = None if key is None else self.cache / "node_modules" / key
        if kept is not None and _take(kept, steps.folder / "node_modules"):
            steps.notes.commands.append("npm install (met from a kept install of the same package.json)")
            return
        if any((steps.folder / name).is_file() for name in _LOCKS):
            end = self._npm(steps, "ci", env=env)
            if end.succeeded:
                _keep(steps.folder / "node_modules", kept)
                return
            self._blame_the_bench(steps, end, runs_own=runs_own)
            steps.notes.say("npm ci refused the lock file, so npm install is tried instead")
        end = self._npm(steps, "install", env=env)
        if not end.succeeded:
            self._blame_the_bench(steps, end, runs_own=runs_own)
            raise steps.notes.broken(f"npm install failed {how_it_failed(end)}; the log says why.")
        _keep(steps.folder / "node_modules", kept)

    def _npm(self, steps: Steps, verb: str, *, env: Mapping[str, str]) -> StepEnd:
        words = (verb, *INSTALL_OPTIONS)
        registries = npm_registries(registry(self.tools.npm))
        return steps.run(
            [*self.tools.npm, *words],
            env={**env, **self.environment()},
            shown=" ".join(("npm", *words)),
            seconds=self.seconds,
            network=Network(registries=registries.addresses),
            read_only=(*self.tools.folders, *registries.files),
            writable=() if self.npm_cache is None else (self.npm_cache,),
        )

    def _blame_the_bench(self, steps: Steps, end: StepEnd, *, runs_own: bool) -> None:
        steps.stop_if_disk_is_full()
        if end.limits_hit and end.ending is not Ending.DEADLINE:
            return
        trouble = trouble_of_the_bench(end.log, registry_address=registry(self.tools.npm))
        if trouble is None and end.ending is Ending.DEADLINE and not runs_own:
            trouble = f"npm did not finish within {self.seconds:g} s; the package registry may be slow."
        if trouble is not None:
            raise StageError(trouble)


def wish_of(folder: Path, *, node: str) -> str | None:
    """Return a key under which an equal install was kept, or None when it is this candidate's alone.

    Only for a candidate that `runs_own_scripts` denies: whatever else runs may change what would be kept.
    """
    package = (folder / "package.json").read_bytes()
    try:
        document = json.loads(package)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or "workspaces" in document:
        return None
    for table in _DEPENDENCY_TABLES:
        found = document.get(table, {})
        if not isinstance(found, dict) or any(str(aim).startswith(_LOCAL) for aim in found.values()):
            return None
    parts = [node, platform.system(), platform.machine()]
    parts += [f"{table}={json.dumps(document.get(table), sort_keys=True)}" for table in _DEPENDENCY_TABLES]
    parts += [json.dumps([document.get("overrides"), document.get("engines")], sort_keys=True)]
    for name in (*_LOCKS, ".npmrc"):
        content = (folder / name).read_bytes() if (folder / name).is_file() else b""
        parts.append(f"{name}={hashlib.sha256(content).hexdigest()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def runs_own_scripts(folder: Path) -> bool:
    """Answer whether npm runs something of the candidate's own when it installs, a build by node-gyp included."""
    if os.path.lexists(folder / "binding.gyp"):
        return True
    try:
        scripts = json.loads((folder / "package.json").read_bytes()).get("scripts", {})
    except (OSError, ValueError, RecursionError, AttributeError):
        return False
    return isinstance(scripts, dict) and bool(_LIFECYCLE & scripts.keys())


def _take(kept: Path, target: Path) -> bool:
    """Copy a kept install; answers False when there is none (any more)."""
    if not kept.is_dir():
        return False
    try:
        # Copied, not hard-linked: a candidate that writes into its packages changes its own alone.
        shutil.copytree(kept, target, symlinks=True, copy_function=shutil.copy)
        os.utime(kept)
    except (OSError, shutil.Error):
        shutil.rmtree(target, ignore_errors=True)
        return False
    return True


def _keep(installed: Path, kept: Path | None) -> None:
    """Keep an install under its key, whole or not at all; a failure costs only time."""
    # A link in place of the folder would have us keep whatever it leads to out here.
    if kept is None or installed.is_symlink() or not installed.is_dir() or kept.exists():
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError, shutil.Error):
        place = Path(tempfile.mkdtemp(prefix=".new-", dir=kept.parent))
        try:
            shutil.copytree(installed, place / "node_modules", symlinks=True, copy_function=shutil.copy)
            # A rename onto a folder that another process has just put there fails: theirs is as good.
            (place / "node_modules").rename(kept)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        _forget_oldest(kept.parent)


def _forget_oldest(folder: Path) -> None:
    installs = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    installs.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
    for entry in installs[_KEPT_INSTALLS:]:
        # Renamed first, so that nobody begins to copy from half of it.
        gone = entry.with_name(f".old-{entry.name}")
        entry.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
