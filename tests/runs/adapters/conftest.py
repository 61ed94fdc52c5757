"""What tests of adapters start from: an empty workspace, and the sandbox that this machine has."""

import pytest

from runs.adapters.sandboxes.bubblewrap import BubblewrapSandbox, find_bubblewrap


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
