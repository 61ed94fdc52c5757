"""The finder of a Python: what it accepts, what it refuses and what it says then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FINDER = ROOT / "bootstrap" / "find_python.sh"
BASE_PYTHON = Path(getattr(sys, "_base_executable", sys.executable))


def find_python(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", FINDER],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def program(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_named_python_is_taken(tmp_path):
    found = find_python(PROOFROOM_PYTHON=str(BASE_PYTHON), HOME=str(tmp_path))

    assert found.returncode == 0
    assert Path(found.stdout.strip()).samefile(BASE_PYTHON)


def test_named_python_that_is_absent_is_one_sentence(tmp_path):
    found = find_python(PROOFROOM_PYTHON=str(tmp_path / "absent"), HOME=str(tmp_path))

    assert found.returncode == 1
    assert found.stdout == ""
    assert str(tmp_path / "absent") in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_python_of_an_environment_leads_to_the_python_behind_it(tmp_path):
    subprocess.run([BASE_PYTHON, "-m", "venv", "--without-pip", tmp_path / "other"], check=True)

    found = find_python(PROOFROOM_PYTHON=str(tmp_path / "other" / "bin" / "python"), HOME=str(tmp_path))

    assert not Path(found.stdout.strip()).is_relative_to(tmp_path)


def test_shim_that_fails_is_passed_over_for_a_python_further_down_the_path(tmp_path):
    program(tmp_path / "shims" / "python3.13", "echo 'python3.13: command not found' >&2; exit 127")
    (tmp_path / "real bin").mkdir()
    (tmp_path / "real bin" / "python3.13").symlink_to(BASE_PYTHON)

    found = find_python(
        PATH=f"{tmp_path / 'shims'}:{tmp_path / 'real bin'}:/usr/bin:/bin", HOME=str(tmp_path)
    )

    assert found.returncode == 0, found.stderr
    assert Path(found.stdout.strip()).samefile(BASE_PYTHON)


def test_python_of_pyenv_is_found_without_its_shims(tmp_path):
    folder = tmp_path / "pyenv root" / "versions" / "3.13.99" / "bin"
    program(folder / "python3", f"echo {folder}/python3")

    found = find_python(
        PYENV_ROOT=str(tmp_path / "pyenv root"), HOME=str(tmp_path), PATH=only_tools(tmp_path)
    )

    assert found.stdout.strip() == f"{folder}/python3"


def test_refused_pythons_are_listed_with_their_reasons_and_the_ways_out(tmp_path):
    tools = only_tools(tmp_path)
    program(tmp_path / "tools" / "python3", "echo '3.9.2 is older than 3.12'; exit 1")
    # The home of the account is searched too: an account that the tools do not know has none.
    program(tmp_path / "tools" / "id", "exit 1")

    found = find_python(PATH=tools, HOME=str(tmp_path))

    if found.returncode == 0:
        pytest.skip("a suitable Python lies where every machine is searched, such as /usr/local/bin")
    assert "python3: 3.9.2 is older than 3.12" in found.stderr
    assert "PROOFROOM_PYTHON=" in found.stderr
    assert "apt-get install python3" in found.stderr


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.8", "3.11"])
def test_older_python_says_its_own_age(version):
    for folder in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin")):
        answer = subprocess.run(
            [folder / "python", ROOT / "bootstrap" / "probe.py"], capture_output=True, text=True
        )
        assert answer.returncode == 1
        assert "older than 3.12" in answer.stdout
        return
    pytest.skip(f"no Python {version} is under pyenv here")


def only_tools(tmp_path: Path) -> str:
    """Return a PATH with the few programs that the finder itself needs and no Python."""
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("head", "id", "cat", "sh", "uname"):
        for folder in ("/usr/bin", "/bin"):
            if os.access(f"{folder}/{name}", os.X_OK) and not (tools / name).exists():
                (tools / name).symlink_to(f"{folder}/{name}")
    return str(tools)
