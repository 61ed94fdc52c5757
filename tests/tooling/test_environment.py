"""Making the environment for real, offline: a small project, its lock of one package, and pip."""

import base64
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)

pytestmark = pytest.mark.slow

# The build backend of the small project: an editable install that needs nothing further.
BACKEND = """
import os, zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "little-0.1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("little.pth", os.getcwd())
        wheel.writestr("little-0.1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: little\\nVersion: 0.1\\n")
        wheel.writestr("little-0.1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("little-0.1.dist-info/entry_points.txt", "[console_scripts]\\nlittle = little:main\\n")
        wheel.writestr("little-0.1.dist-info/RECORD", "")
    return name
"""


def make_wheel(folder: Path, version: str) -> str:
    """Write a wheel of the package `stone` and return its hash."""
    folder.mkdir(exist_ok=True)
    path = folder / f"stone-{version}-py3-none-any.whl"
    contents = {
        "stone.py": f"version = {version!r}\n",
        f"stone-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: stone\nVersion: {version}\n",
        f"stone-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"stone-{version}.dist-info/RECORD"
    lines = [f"{name},sha256={digest(text)},{len(text)}" for name, text in contents.items()]
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in {**contents, record: "\n".join([*lines, f"{record},,", ""])}.items():
            wheel.writestr(name, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def lock(project: Path, version: str) -> None:
    wheel_hash = make_wheel(project.parent / "wheels", version)
    (project / "requirements.lock").write_text(f"stone=={version} \\\n    --hash=sha256:{wheel_hash}\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone of a small project in a folder whose name has a blank."""
    folder = tmp_path / "a clone"
    folder.mkdir()
    shutil.copytree(ROOT / "bootstrap", folder / "bootstrap", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".python-version", folder)
    (folder / "backend.py").write_text(BACKEND)
    (folder / "little.py").write_text(
        "def main():\n    import stone\n    print('little on stone', stone.version)\n"
    )
    (folder / "pyproject.toml").write_text(
        textwrap.dedent("""
        [build-system]
        requires = []
        build-backend = "backend"
        backend-path = ["."]
        [project]
        name = "little"
        version = "0.1"
        """)
    )
    lock(folder, "1.0")
    return folder


def environment_of(project: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(project.parent / "home"),
        "PROOFROOM_PYTHON": BASE_PYTHON,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": (project.parent / "wheels").as_uri(),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_USER": "1",  # a person's own habit that must not lead packages out of the environment
    }


def set_up(project: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "bootstrap/setup.sh"],
        cwd=project,
        env=environment_of(project) | more,
        capture_output=True,
        text=True,
        timeout=180,
    )


def say(project: Path) -> str:
    return subprocess.run(
        [project / ".venv" / "bin" / "little"], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_environment_is_made_once_and_follows_the_lock_and_the_folder(project):
    made = set_up(project)
    assert made.returncode == 0, made.stderr
    assert "Installing 1 packages" in made.stdout
    assert say(project) == "little on stone 1.0"

    repeated = set_up(project)
    assert (repeated.returncode, repeated.stdout, repeated.stderr) == (0, "", "")

    lock(project, "2.0")
    moved = project.rename(project.with_name("moved"))
    assert set_up(moved).returncode == 0
    assert say(moved) == "little on stone 2.0"


def test_setup_that_was_killed_in_the_middle_mends_itself(project):
    killed = subprocess.Popen(
        ["/bin/sh", "bootstrap/setup.sh"],
        cwd=project,
        env=environment_of(project),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until((project / ".venv" / "bin" / "python").exists)
    # What it started lives on for a moment: the next set-up waits until that has ended.
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()

    again = set_up(project)

    assert again.returncode == 0, again.stderr
    assert say(project) == "little on stone 1.0"


def test_environment_that_a_person_made_is_filled_but_not_with_a_package_whose_hash_differs(project):
    subprocess.run([BASE_PYTHON, "-m", "venv", "--without-pip", project / ".venv"], check=True)
    (project / ".venv" / "mine").write_text("kept")
    wanted = (project / "requirements.lock").read_text()

    (project / "requirements.lock").write_text(wanted.replace("sha256:", "sha256:0")[:-2] + "\n")
    refused = set_up(project)
    (project / "requirements.lock").write_text(wanted)
    accepted = set_up(project)

    assert refused.returncode == 1
    assert "The installation failed" in refused.stderr
    assert accepted.returncode == 0, accepted.stderr
    assert say(project) == "little on stone 1.0"
    assert (project / ".venv" / "mine").read_text() == "kept"


def test_environment_that_is_a_link_is_used_as_it_is(project):
    subprocess.run([BASE_PYTHON, "-m", "venv", "--without-pip", project.parent / "shared"], check=True)
    before = sorted(project.parent.joinpath("shared").rglob("*"))
    (project / ".venv").symlink_to(project.parent / "shared")

    assert set_up(project).returncode == 0

    assert sorted(project.parent.joinpath("shared").rglob("*")) == before


def test_second_setup_waits_for_the_first(project):
    with (project / ".venv.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = subprocess.Popen(
            ["/bin/sh", "bootstrap/setup.sh"],
            cwd=project,
            env=environment_of(project),
            stdout=subprocess.PIPE,
            text=True,
        )
        with second:
            assert second.stdout is not None
            assert "waiting" in second.stdout.readline()
            assert not (project / ".venv").exists()
            second.kill()


def test_same_environment_comes_from_uv_where_it_is_present(project):
    uv = shutil.which("uv") or shutil.which("uv", path=Path(sys.executable).parent)
    if uv is None:
        pytest.skip("uv is not installed here")
    tools = project.parent / "tools"
    tools.mkdir()
    (tools / "uv").symlink_to(uv)

    made = set_up(
        project,
        PATH=f"{tools}:/usr/bin:/bin",
        UV_NO_INDEX="1",
        UV_OFFLINE="1",
        UV_FIND_LINKS=str(project.parent / "wheels"),
    )

    assert made.returncode == 0, made.stderr
    assert "uv." in made.stdout
    assert say(project) == "little on stone 1.0"


def wait_until(holds: Callable[[], bool], *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "nothing happened in time"
        time.sleep(0.01)
