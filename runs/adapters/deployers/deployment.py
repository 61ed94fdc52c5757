"""One deployment: install, build and start what is in a folder, each in a box of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from runs.adapters.deployers.answering import Answer, first_answer
from runs.adapters.deployers.index_trouble import index_trouble
from runs.adapters.deployers.installs import NodeInstall
from runs.adapters.deployers.node import QUIET, node_tools, registry, trouble_of_the_bench
from runs.adapters.deployers.plans import NPM, Plan
from runs.adapters.deployers.python_installs import PythonInstall
from runs.adapters.deployers.reasons import in_words, machines_fault, port_taken, why_silent
from runs.adapters.deployers.registries import NO_REGISTRIES, all_registries
from runs.adapters.deployers.steps import Phase, Steps
from runs.adapters.sandboxes import (
    BoundedLog,
    Ending,
    KeptCommand,
    Network,
    clean_environment,
    follow,
)
from runs.adapters.sandboxes.limit_words import of_limit
from runs.adapters.sandboxes.listening import free_port, is_taken
from runs.adapters.sandboxes.programs import base_python
from runs.errors import StageError
from runs.ports import DeploymentKind, RunningApp

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


USUAL_TIMES = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    kept: KeptCommand
    log: BoundedLog
    reader: threading.Thread
    steps: Steps

    def end(self) -> None:
        report = self.kept.end()
        self.reader.join(5)  # Its last words are still in the pipe.
        self.kept.close()
        self.steps.note(report, Phase.SERVE, written=self.log.seen, most=_SERVER_STOP_BYTES)

    def text(self) -> str:
        """Return what it wrote, and why the bench ended it where the bench did."""
        report = self.kept.poll()
        met = None if report is None else of_limit(report.limits_hit)
        return self.log.text() + (f"\n[The application {met}.]\n" if met else "")


@dataclass(slots=True, kw_only=True)
class Deployment:
    """The way of one candidate from its files to an address."""

    place: Path
    cache: Path
    limits: Limits
    plan: Plan
    steps: Steps
    python: str = ""
    npm: tuple[str, ...] = ()

    @contextmanager
    def running(self) -> Iterator[RunningApp]:
        """Install, build, start; end the server with the context. Raises as the deployer does."""
        environment = clean_environment(
            self.place / "home", extra={**QUIET, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        )
        if self._needs_node():
            tools = node_tools()
            self.npm = tools.npm
            environment["PATH"] = tools.path_with(environment["PATH"], shims=self.place / "bin")
            environment["npm_config_cache"] = str(self._package_cache / "npm")
        self.python = base_python()
        notes = self.steps.notes
        with notes.timed(Phase.INSTALL):
            self._install(environment)
        with notes.timed(Phase.BUILD):
            for words in self.plan.builds:
                self._step(
                    words, env=environment, seconds=self.limits.build, what="The build", phase=Phase.BUILD
                )
        with notes.timed(Phase.SERVE):
            server, answer = self._start(environment)
        try:
            if answer.status == 404:
                notes.say(f"the address {self.plan.health} answers 404 (not found)")
            yield RunningApp(
                address=answer.address,
                port=urlsplit(answer.address).port or 80,
                report=notes.report(healthy=True),
                server_log=server.text,
                is_alive=lambda: server.kept.poll() is None,
                machines_fault=lambda: machines_fault(server.kept.poll()),
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
                phase=Phase.INSTALL,
            )
        elif self.plan.install is None and self.plan.kind is DeploymentKind.PYTHON:
            by_pip = PythonInstall(place=self.place, cache=self._package_cache, seconds=self.limits.install)
            self.python = str(by_pip.run(self.steps, env=network))
        elif self.plan.install is None:
            by_npm = NodeInstall(
                tools=node_tools(),
                cache=self.cache,
                seconds=self.limits.install,
                npm_cache=self._own_npm_cache(),
            )
            by_npm.run(self.steps, env=network)

    def _step(
        self,
        words: tuple[str, ...],
        *,
        env: Mapping[str, str],
        seconds: float,
        what: str,
        phase: Phase,
    ) -> None:
        is_install = phase is Phase.INSTALL
        npm_address = registry(self.npm) if self.npm else ""
        registries = all_registries(npm_address) if is_install else NO_REGISTRIES
        end = self.steps.run(
            self._filled(words, port=0),
            env=env,
            shown=_shown(words, port=0),
            seconds=seconds,
            phase=phase,
            network=Network(registries=registries.addresses),
            read_only=(*self._tool_folders(), *registries.files),
        )
        if end.succeeded:
            return
        self.steps.stop_if_disk_is_full()
        if met := of_limit(end.limits_hit):
            raise self.steps.notes.broken(f"{what} {met}.")
        trouble = trouble_of_the_bench(end.log, registry_address=npm_address) or index_trouble(
            end.log, hosts=registries.hosts, gave_up=end.ending is not Ending.DEADLINE
        )
        if is_install and trouble:
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
            # Inside a box nobody else can have taken a port.
            is_shared = not self.steps.sandbox.isolates
            taken = port_taken(answer, server.log.text(), given=port) if is_shared else None
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
            box=self.steps.box(read_only=(*self._tool_folders(), _STATIC_SERVER), port=port),
        )
        assert kept.stdout is not None
        reader = follow(
            kept.stdout,
            log,
            stop_bytes=_SERVER_STOP_BYTES,
            on_stop=lambda: kept.end(ending=Ending.OUTPUT_LIMIT),
        )
        return _Server(kept=kept, log=log, reader=reader, steps=self.steps)

    @property
    def _package_cache(self) -> Path:
        # Behind a wall a cache is one deployment's own: what a candidate writes there must not reach others.
        return self.place / "cache" if self.steps.sandbox.isolates else self.cache

    def _own_npm_cache(self) -> Path | None:
        if not self.steps.sandbox.isolates:
            return None
        (own := self._package_cache / "npm").mkdir(parents=True, exist_ok=True)
        return own

    def _tool_folders(self) -> tuple[Path, ...]:
        """Return what commands read beside the application: tools, and its own Python packages."""
        node = node_tools().folders if self.npm else ()
        return (*node, self.place / "bin", self.place / "venv")

    def _static_argv(self, port: int) -> list[str]:
        root = (self.steps.folder / self.plan.root).resolve()
        if not root.is_relative_to(self.steps.folder.resolve()) or not root.is_dir():
            raise self.steps.notes.broken(f"There is no folder {self.plan.root!r} to serve.")
        fallback = ["--fallback", self.plan.fallback] if self.plan.fallback else []
        return [
            *(base_python(), "-I", str(_STATIC_SERVER), str(root), str(port)),
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
