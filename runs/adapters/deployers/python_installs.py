"""Install the Python packages a candidate depends on, outside its folder."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runs.adapters.deployers.index_trouble import index_trouble, page_trouble, says_nothing_known
from runs.adapters.deployers.reasons import how_it_failed
from runs.adapters.deployers.registries import python_registries
from runs.adapters.deployers.steps import StepEnd, Steps
from runs.adapters.sandboxes import Ending, Network
from runs.adapters.sandboxes.limit_words import of_limit
from runs.adapters.sandboxes.programs import base_python
from runs.errors import StageError

_NETWORK_NAMES = (
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_TRUSTED_HOST", "PIP_DEFAULT_TIMEOUT"),
    "PIP_RETRIES",
    *("UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS"),
    "UV_CONFIG_FILE",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonInstall:
    """Installs requirements.txt into an environment of its own, outside the candidate's folder."""

    place: Path
    cache: Path
    seconds: float

    def run(self, steps: Steps, *, env: Mapping[str, str]) -> Path:
        """Return the Python to start the candidate with; raises CandidateBroken or StageError."""
        venv = self.place / "venv"
        python = venv / "bin" / "python"
        env = {**env, **self._environment()}
        uv = _uv()
        make = [uv, "venv", "--python", base_python()] if uv else [base_python(), "-m", "venv"]
        venv.mkdir()
        self.cache.mkdir(parents=True, exist_ok=True)
        made = steps.run(
            [*make, str(venv)],
            env=env,
            shown="make a Python environment",
            seconds=self.seconds,
            read_only=(Path(uv),) if uv else (),
            writable=(venv, self.cache),
        )
        if not made.succeeded:
            steps.stop_if_disk_is_full()
            raise StageError(
                "A Python environment could not be made; install uv, or Python with its venv module."
            )
        if uv:
            self._install([uv, "pip", "install", "--python", str(python)], steps, env=env, program=Path(uv))
        else:
            pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
            self._install(pip, steps, env=env, program=None)
        return python

    def _environment(self) -> Mapping[str, str]:
        found = {name: os.environ[name] for name in _NETWORK_NAMES if name in os.environ}
        own_settings = Path.home() / ".config" / "pip" / "pip.conf"
        if "PIP_CONFIG_FILE" in os.environ or own_settings.is_file():
            found["PIP_CONFIG_FILE"] = os.environ.get("PIP_CONFIG_FILE", str(own_settings))
        return found | {
            "UV_CACHE_DIR": str(self.cache / "uv"),
            "PIP_CACHE_DIR": str(self.cache / "pip"),
            # A hard link into the cache would let one candidate change another's packages.
            "UV_LINK_MODE": "copy",
            "UV_PYTHON_DOWNLOADS": "never",
        }

    def _install(
        self, install: list[str], steps: Steps, *, env: Mapping[str, str], program: Path | None
    ) -> None:
        registries = python_registries()
        shown = f"{'pip' if program is None else 'uv pip'} install -r requirements.txt"

        def attempt(*more: str, shown: str) -> StepEnd:
            return steps.run(
                [*install, *more, "-r", "requirements.txt"],
                env=env,
                shown=shown,
                seconds=self.seconds,
                network=Network(registries=registries.addresses),
                read_only=(*(() if program is None else (program,)), *registries.files),
                writable=(self.place / "venv", self.cache),
            )

        end = attempt(shown=shown)
        if end.succeeded:
            return
        steps.stop_if_disk_is_full()
        trouble = index_trouble(end.log, hosts=registries.hosts, gave_up=end.ending is not Ending.DEADLINE)
        if trouble is None and program is None and says_nothing_known(end.log) and not end.limits_hit:
            # pip keeps to itself why it left a page out, unless it is asked to tell everything.
            steps.notes.say("The index named no version of a package; asked once more, with all its answers")
            end = attempt("-vv", shown=shown.replace("install", "install -vv"))
            if end.succeeded:
                return
            trouble = page_trouble(end.log, hosts=registries.hosts)
        if trouble is not None and not of_limit(end.limits_hit):
            raise StageError(trouble)
        raise steps.notes.broken(
            f"Installing requirements.txt failed {how_it_failed(end)}; the log says why."
        )


def _uv() -> str | None:
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.is_file() else shutil.which("uv")
