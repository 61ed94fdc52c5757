"""Boxes for tests: what is started in one ends with the test."""

import contextlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from runs.adapters.sandboxes import Box, Limits, Stream, clean_environment
from tests.hostile import users

PROJECT = Path(__file__).parents[4]
PYTHON = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
FEW_LIMITS = Limits()


@pytest.fixture
def start(bubblewrap, workspace):
    """Start Python source (or words) in a box around the workspace."""
    with contextlib.ExitStack() as open_commands:

        def start_command(source, *, box=None, env=None, **options):
            argv = [PYTHON, "-c", textwrap.dedent(source)] if isinstance(source, str) else source
            kept = bubblewrap.start(
                argv,
                cwd=workspace,
                env=clean_environment(workspace) if env is None else env,
                box=Box(workspace=workspace, limits=FEW_LIMITS) if box is None else box,
                **({"stderr": Stream.WITH_STDOUT} | options),
            )
            return open_commands.enter_context(kept)

        yield start_command


@pytest.fixture
def output_of(start):
    """Run to the end; answers what was written, without blanks around it."""

    def run(source, **options):
        kept = start(source, **options)
        written = kept.stdout.read().decode()
        kept.wait(30)
        return written.strip()

    return run


@pytest.fixture
def as_ordinary_user():
    """Run Python with arguments as the user nobody, though this Python may lie in root's own folder."""
    if os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user already")

    def run(*words, timeout=120):
        argv = users.as_ordinary_user([sys.executable, *words])
        if isinstance(argv, str):
            pytest.skip(argv)
        return subprocess.run(
            argv,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            cwd=PROJECT,
            env={
                "PATH": os.environ["PATH"],
                "HOME": "/nonexistent",
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": str(PROJECT),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
        )

    return run
