"""What holds for a box of bubblewrap has to hold for one of docker or podman: the same tests, where an engine answers."""

from __future__ import annotations

import os
import shutil

import pytest

from runs.adapters.sandboxes.container import ContainerSandbox
from runs.isolation import SandboxLevel
from runs.sandbox_looks import engine_look
from tests.runs.adapters.sandboxes import test_bubblewrap as boxes

IMAGE = os.environ.get("PROOFROOM_SANDBOX_IMAGE", "docker.io/library/node:22-bookworm")

CONFORMING = (
    "test_command_reports_its_exit_code_output_and_input",
    "test_command_killed_by_a_signal_reports_its_negative_number",
    "test_command_that_cannot_start_says_why",
    "test_command_sees_no_process_of_this_machine_and_ends_none_by_name",
    "test_nothing_inside_ends_the_first_process_of_the_box",
    "test_command_reaches_no_port_of_this_machine_and_no_other_one",
    "test_command_sees_no_file_outside_its_workspace",
    "test_command_gets_none_of_our_environment",
    "test_command_line_of_the_box_tells_no_variable",
    "test_what_is_left_running_ends_with_the_command_and_is_counted",
    "test_command_may_use_the_grace_to_finish_its_work",
    "test_command_that_ignores_the_polite_signal_is_killed_after_the_grace",
    "test_deadline_is_a_limit_of_the_wall_clock",
    "test_two_commands_that_insist_on_a_port_of_this_machine_are_both_reached",
    "test_address_answers_no_more_when_the_command_is_over",
    "test_one_endpoint_is_reached_at_its_own_address_and_nothing_else",
    "test_registry_proxy_lets_named_hosts_through_and_refuses_the_rest",
    "test_read_only_folders_are_seen_and_stay_as_they_are",
    "test_link_in_a_workspace_leads_nowhere_outside",
)
"""Left out is what speaks of bubblewrap itself: its program, its namespaces, its temporary folders."""

web_server = boxes.web_server
for _name in CONFORMING:
    globals()[_name] = getattr(boxes, _name)


# Of an engine that is not even installed one word is enough, see `test_containers`.
@pytest.fixture(
    scope="session", params=[each for each in ("docker", "podman") if shutil.which(each)] or ["docker"]
)
def bubblewrap(request) -> ContainerSandbox:
    """An engine in the place that the tests' boxes come from; nothing stands in for one."""
    seen = engine_look(SandboxLevel(request.param), shutil.which(request.param), image=IMAGE)
    if not seen.works:
        pytest.skip(f"Isolation by {request.param} is not shown here: {seen.seen}.")
    return ContainerSandbox(name=request.param, image=IMAGE)
