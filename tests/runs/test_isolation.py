"""The level of isolation that a choice comes to, and what is said where there is none."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from runs.isolation import Look, NoSandbox, SandboxChoice, SandboxLevel, level_for
from runs.sandbox_looks import bubblewrap_refused, engine_look

ABSENT = "bubblewrap was not found; install it (apt-get install bubblewrap), or choose the sandbox none."
REFUSED = (
    "bubblewrap does not work here (No permissions to create new namespace); this machine forbids user "
    "namespaces: allow them, or choose the sandbox none."
)


def machine(*working: SandboxLevel):
    """A machine on which these levels work."""

    def look(level: SandboxLevel) -> Look:
        works = level in working
        return Look(
            level=level,
            works=works,
            seen=f"{level.value} is {'here' if works else 'absent'}",
            mend="" if works else f"apt install {level.value}",
        )

    return look


def never() -> bool:
    return False


@pytest.mark.parametrize(
    ("working", "expected"),
    [
        ((SandboxLevel.DOCKER, SandboxLevel.BUBBLEWRAP), SandboxLevel.BUBBLEWRAP),
        ((SandboxLevel.PODMAN, SandboxLevel.DOCKER), SandboxLevel.DOCKER),
        ((SandboxLevel.PODMAN,), SandboxLevel.PODMAN),
    ],
)
def test_auto_takes_the_first_level_that_isolates(working, expected):
    assert level_for(SandboxChoice.AUTO, machine(*working), may_do_without=never) is expected


def test_auto_never_goes_without_a_sandbox_by_itself():
    with pytest.raises(NoSandbox) as refused:
        level_for(SandboxChoice.AUTO, machine(SandboxLevel.NONE), may_do_without=never)

    assert "bubblewrap is absent" in str(refused.value)
    assert "apt install bubblewrap" in str(refused.value)
    assert "--sandbox none" in str(refused.value)


def test_auto_goes_without_one_for_what_is_known_where_none_works():
    level = level_for(SandboxChoice.AUTO, machine(), may_do_without=lambda: True)

    assert level is SandboxLevel.NONE


def test_what_is_known_runs_behind_a_wall_where_there_is_one():
    level = level_for(SandboxChoice.AUTO, machine(SandboxLevel.PODMAN), may_do_without=lambda: True)

    assert level is SandboxLevel.PODMAN


def test_a_level_that_was_named_is_never_replaced_by_another_one():
    with pytest.raises(NoSandbox, match=r"The sandbox 'docker' does not work here: docker is absent\."):
        level_for(
            SandboxChoice.DOCKER,
            machine(SandboxLevel.BUBBLEWRAP, SandboxLevel.NONE),
            may_do_without=lambda: True,
        )


def test_none_is_taken_at_its_word():
    level = level_for(SandboxChoice.NONE, machine(SandboxLevel.BUBBLEWRAP), may_do_without=never)

    assert level is SandboxLevel.NONE


def test_a_missing_bubblewrap_is_mended_by_installing_it():
    look = bubblewrap_refused(ABSENT, switches={"kernel.unprivileged_userns_clone": "0"})

    assert (look.seen, look.mend) == ("bubblewrap was not found", "apt install bubblewrap")


@pytest.mark.parametrize(
    ("switches", "mend"),
    [
        ({"kernel.unprivileged_userns_clone": "0"}, "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            {"kernel.unprivileged_userns_clone": "1", "user.max_user_namespaces": "0"},
            "sysctl -w user.max_user_namespaces=15000",
        ),
        (
            {"kernel.apparmor_restrict_unprivileged_userns": "1"},
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ],
)
def test_forbidden_namespaces_name_the_switch_that_forbids_them(switches, mend):
    look = bubblewrap_refused(REFUSED, switches=switches)

    assert look.mend == mend
    assert "No permissions to create new namespace" in look.seen


def test_a_refusal_that_no_switch_explains_keeps_the_way_out_that_bubblewrap_suggests():
    look = bubblewrap_refused(REFUSED, switches={"kernel.unprivileged_userns_clone": "1"})

    assert look.mend == "this machine forbids user namespaces: allow them"


def test_an_engine_that_is_not_installed_says_so():
    look = engine_look(SandboxLevel.PODMAN, None, image="node:22")

    assert (look.works, look.seen) == (False, "podman is not installed")


def test_a_client_whose_engine_is_silent_is_no_sandbox():
    docker = shutil.which("docker")
    if docker is None:
        pytest.skip("There is no docker client here.")
    if subprocess.run([docker, "info"], capture_output=True, check=False, timeout=30).returncode == 0:
        pytest.skip("A docker engine answers here.")

    look = engine_look(SandboxLevel.DOCKER, docker, image="node:22")

    assert not look.works
    assert "its engine does not answer" in look.seen
