"""Build and serve a candidate on this machine, as a process tree that surely ends."""

from __future__ import annotations

import errno
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.adapters.deployers.answering import Answer, first_answer
from runs.adapters.deployers.installs import NodeInstall, PythonInstall, base_python, network_trouble
from runs.adapters.deployers.node import QUIET, node_tools
from runs.adapters.deployers.plans import NPM, Plan
from runs.adapters.deployers.reasons import in_words, port_taken, why_silent
from runs.adapters.deployers.recognition import NotRecognised, plan_for
from runs.adapters.deployers.steps import Notes, Phase, Steps
from runs.adapters.sandboxes import (
    BoundedLog,
    Ending,
    KeptCommand,
    Sandbox,
    clean_environment,
    follow,
)
from runs.adapters.sandboxes.folders import copy_into, own_folder, remove_folder
from runs.adapters.sandboxes.listening import free_port, is_taken
from runs.errors import StageError
from runs.ports import CancelCheck, DeploymentKind, RunningApp

_STATIC_SERVER = Path(__file__).with_name("static_server.py")
_STARTS = 3
_SERVER_STOP_BYTES = 2 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long each phase may take, in seconds, and how many bytes are kept of each log."""

    install: float = 600.0
    build: float = 300.0
    start: float = 60.0
    busy_port: float = 60.0
    log_bytes: int = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalDeployer:
    """Works in a copy of the folder, below `scratch`; package caches live in `cache` and are shared."""

    sandbox: Sandbox
    scratch: Path
    cache: Path
    limits: Limits = Limits()

    @contextmanager
    def serve(
        self, folder: Path, *, deploy: Mapping[str, Any], is_cancelled: CancelCheck
    ) -> Iterator[RunningApp]:
        """Serve until the context ends, then end the whole process tree and remove the copy.

        Raises CandidateBroken (with its report), StageError (the bench) or Cancelled.
        """
        with self._place() as place:
            notes = Notes(log_bytes=self.limits.log_bytes)
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
            steps = Steps(sandbox=self.sandbox, folder=app, notes=notes, is_cancelled=is_cancelled)
            deployment = _Deployment(
                place=place, cache=self.cache, limits=self.limits, plan=plan, steps=steps
            )
            with deployment.running() as running:
                yield running

    @contextmanager
    def _place(self) -> Iterator[Path]:
        try:
            place = own_folder(self.scratch, purpose="deploy")
            (place / "home").mkdir()
        except OSError as error:
            raise _copy_trouble(error) from error
        try:
            yield place
        finally:
            try:
                remove_folder(place)
            except OSError:
                shutil.rmtree(place, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    kept: KeptCommand
    log: BoundedLog
    reader: threading.Thread

    def end(self) -> None:
        self.kept.end()
        self.reader.join(5)  # Its last words are still in the pipe.
        self.kept.close()


@dataclass(slots=True, kw_only=True)
class _Deployment:
    place: Path
    cache: Path
    limits: Limits
    plan: Plan
    steps: Steps
    python: str = ""
    npm: tuple[str, ...] = ()

    @contextmanager
    def running(self) -> Iterator[RunningApp]:
        environment = clean_environment(
            self.place / "home", extra={**QUIET, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        )
        if self._needs_node():
            tools = node_tools()
            self.npm = tools.npm
            environment["PATH"] = tools.path_with(environment["PATH"], shims=self.place / "bin")
            environment["npm_config_cache"] = str(self.cache / "npm")
        self.python = base_python()
        notes = self.steps.notes
        with notes.timed(Phase.INSTALL):
            self._install(environment)
        with notes.timed(Phase.BUILD):
            for words in self.plan.builds:
                self._step(words, env=environment, seconds=self.limits.build, what="The build")
        with notes.timed(Phase.START):
            server, answer = self._start(environment)
        try:
            if answer.status == 404:
                notes.say(f"the address {self.plan.health} answers 404 (not found)")
            port = answer.listener.port
            host = f"[{answer.listener.host}]" if answer.listener.only_ipv6 else answer.listener.host
            yield RunningApp(
                address=f"http://{host}:{port}",
                port=port,
                report=notes.report(healthy=True),
                server_log=server.log.text,
                is_alive=lambda: server.kept.poll() is None,
            )
        finally:
            server.end()

    def _needs_node(self) -> bool:
        if self.plan.kind in (DeploymentKind.VITE, DeploymentKind.NODE):
            return True
        words = [word for build in self.plan.builds for word in build] + list(self.plan.start)
        words += list(self.plan.install or ())
        return any(word in (NPM, "npm", "npx", "node") for word in words)

    def _install(self, environment: Mapping[str, str]) -> None:
        network = clean_environment(self.place / "home", extra=environment, network=True)
        if self.plan.install:
            self._step(
                self.plan.install,
                env=network,
                seconds=self.limits.install,
                what="The install",
                is_install=True,
            )
        elif self.plan.install is None and self.plan.kind is DeploymentKind.PYTHON:
            by_pip = PythonInstall(place=self.place, cache=self.cache, seconds=self.limits.install)
            self.python = str(by_pip.run(self.steps, env=network))
        elif self.plan.install is None:
            by_npm = NodeInstall(tools=node_tools(), cache=self.cache, seconds=self.limits.install)
            by_npm.run(self.steps, env=network)

    def _step(
        self,
        words: tuple[str, ...],
        *,
        env: Mapping[str, str],
        seconds: float,
        what: str,
        is_install: bool = False,
    ) -> None:
        end = self.steps.run(
            self._filled(words, port=0), env=env, shown=_shown(words, port=0), seconds=seconds
        )
        if end.succeeded:
            return
        self.steps.stop_if_disk_is_full()
        if is_install and (trouble := network_trouble(end.log, npm=self.npm)):
            raise StageError(trouble)
        if end.ending is Ending.DEADLINE:
            raise self.steps.notes.broken(f"{what} did not finish within {seconds:g} s.")
        raise self.steps.notes.broken(f"{what} failed {in_words(end.exit_code)}; the log says why.")

    def _start(self, environment: Mapping[str, str]) -> tuple[_Server, Answer]:
        """Start until something answers; a lost race for a port is tried again with another one."""
        seconds = self.plan.start_timeout or self.limits.start
        wait_until = time.monotonic() + self.limits.busy_port
        attempts = 0
        while True:
            attempts += 1
            port = free_port()
            server = self._launch(environment, port=port)
            try:
                answer = first_answer(
                    server.kept, self.steps, port=port, path=self.plan.health, seconds=seconds
                )
            except BaseException:
                server.end()
                raise
            if isinstance(answer, Answer):
                return server, answer
            server.end()
            taken = port_taken(answer, server.log.text(), given=port)
            if taken == port and attempts < _STARTS:
                self.steps.notes.say(f"port {port} was taken by another program meanwhile; tried again")
                continue
            if taken is not None and taken != port and self._gets_free(taken, until=wait_until):
                continue
            self.steps.stop_if_disk_is_full()
            raise self.steps.notes.broken(
                why_silent(answer, path=self.plan.health, seconds=seconds, taken=taken)
            )

    def _launch(self, environment: Mapping[str, str], *, port: int) -> _Server:
        words = self.plan.start
        if words:
            argv, shown = self._filled(words, port=port), _shown(words, port=port)
        else:
            argv, shown = self._static_argv(port), f"serve the folder {self.plan.root or '.'}"
        self.steps.notes.commands.append(shown)
        log = BoundedLog(keep_bytes=self.limits.log_bytes)
        self.steps.notes.server = log
        kept = self.steps.start(
            argv,
            env={**environment, "PORT": str(port), "HOST": "127.0.0.1"},
            shown=shown,
            seconds=None,
        )
        assert kept.stdout is not None
        reader = follow(
            kept.stdout,
            log,
            stop_bytes=_SERVER_STOP_BYTES,
            on_stop=lambda: kept.end(ending=Ending.OUTPUT_LIMIT),
        )
        return _Server(kept=kept, log=log, reader=reader)

    def _static_argv(self, port: int) -> list[str]:
        root = (self.steps.folder / self.plan.root).resolve()
        if not root.is_relative_to(self.steps.folder.resolve()) or not root.is_dir():
            raise self.steps.notes.broken(f"There is no folder {self.plan.root!r} to serve.")
        fallback = ["--fallback", self.plan.fallback] if self.plan.fallback else []
        return [
            *(sys.executable, "-I", str(_STATIC_SERVER), str(root), str(port)),
            *("--index", self.plan.index, *fallback),
        ]

    def _filled(self, words: tuple[str, ...], *, port: int) -> list[str]:
        filled: list[str] = []
        for word in words:
            if word in (NPM, "npm") and not filled and self.npm:
                filled += self.npm
            else:
                filled.append(word.replace("{python}", self.python).replace("{port}", str(port)))
        if filled[0] in ("python", "python3"):
            filled[0] = self.python
        return filled

    def _gets_free(self, port: int, *, until: float) -> bool:
        """Wait for a port that the candidate insists on: another trial may hold it for a while."""
        self.steps.notes.say(f"the application insists on port {port}, which another program uses; waiting")
        while time.monotonic() < until:
            self.steps.stop_if_cancelled()
            if not is_taken(port):
                return True
            time.sleep(0.25)
        return False


def _shown(words: tuple[str, ...], *, port: int) -> str:
    named = {NPM: "npm", "{python}": "python"}
    return " ".join(named.get(word, word).replace("{port}", str(port)) for word in words)


def _copy_trouble(error: OSError) -> StageError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StageError("The disk is full; free some space, then retry.")
    return StageError(f"The application could not be copied for its deployment: {error.strerror}.")
