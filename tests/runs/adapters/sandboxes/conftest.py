"""Boxes for tests: what is started in one ends with the test."""

import contextlib
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from runs.adapters.sandboxes import Box, Limits, Stream, clean_environment
from runs.adapters.sandboxes.bubblewrap import BubblewrapSandbox, find_bubblewrap

PROJECT = Path(__file__).parents[4]
PYTHON = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
FEW_LIMITS = Limits()


@pytest.fixture(scope="session")
def bubblewrap():
    """The real sandbox, or the reason why this machine has none."""
    found = find_bubblewrap()
    if isinstance(found, str):
        pytest.skip(found)
    return BubblewrapSandbox.found()


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


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
def as_ordinary_user(tmp_path):
    """Run Python with arguments as the user nobody, though this Python may lie in root's own folder."""
    if os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user already")
    if shutil.which("setpriv") is None or shutil.which("unshare") is None:
        pytest.skip("setpriv and unshare (util-linux) are needed to become another user")
    blocked = [folder for folder in Path(sys.base_prefix).parents if not folder.stat().st_mode & 0o001]
    prefix = sys.base_prefix
    # In a mount namespace of its own the closed folder is covered, and the Python put back in its place.
    cover = f"""
        mkdir "$1/python" && mount --bind "{prefix}" "$1/python"
        mount -t tmpfs -o mode=755 tmpfs "{blocked[-1] if blocked else ""}"
        mkdir -p "{prefix}" && mount --bind "$1/python" "{prefix}"
        """
    script = f"""
        set -e
        {cover if blocked else ""}
        shift
        exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
        """
    place = tmp_path / "ordinary"
    place.mkdir()

    def run(*words, timeout=120):
        return subprocess.run(
            [
                "unshare",
                "--mount",
                "sh",
                "-c",
                textwrap.dedent(script),
                "sh",
                str(place),
                sys.executable,
                *words,
            ],
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
