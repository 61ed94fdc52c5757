"""Code agents are found by looking into their folder, and check what they are given."""

from pathlib import Path

import pytest

from benchmark.rules.protocol import BadSetting
from runs.adapters.code_agents import AgentKit, all_code_agents, code_agent
from runs.adapters.sandboxes import ProcessSandbox


@pytest.fixture
def kit(tmp_path):
    return AgentKit(sandbox=ProcessSandbox(), scratch=tmp_path, workspace_for=lambda task, number: None)


def test_every_module_of_the_folder_is_a_code_agent():
    assert {"command", "replay"} <= set(all_code_agents())
    assert all(kind.title and isinstance(kind.settings, tuple) for kind in all_code_agents().values())


def test_unknown_code_agent_is_refused_with_the_known_names():
    with pytest.raises(LookupError, match=r"'robot'; known are: command, replay"):
        code_agent("robot")


def test_built_agent_goes_by_the_name_of_its_kind(kit):
    assert code_agent("replay").with_settings({}, kit).name == "replay"
    assert code_agent("command").with_settings({"command": "true"}, kit).name == "command"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"command": ""}, "is empty"),
        ({"command": "say 'unbalanced"}, "cannot be split"),
        ({"command": "true", "wall_clock": "soon"}, "'soon'"),
        ({"command": "true", "wall_clock": 0}, "wall_clock"),
        ({"command": "true", "colour": "red"}, "no setting 'colour'"),
        ({"command": "true", "pass_variables": "HOME, DATABASE_URL"}, "DATABASE_URL"),
    ],
)
def test_bad_setting_is_one_clear_sentence(kit, given, sentence):
    with pytest.raises(BadSetting, match=sentence):
        code_agent("command").with_settings(given, kit)


def test_numbers_may_come_as_text_from_a_command_line(kit):
    settings = code_agent("command").complete({"command": "true", "wall_clock": "90"})

    assert settings["wall_clock"] == 90.0
    assert settings["max_events"] == 20_000


def test_adapters_of_this_folder_import_no_web_framework():
    folder = Path(__file__).parents[4] / "runs" / "adapters"

    for module in folder.rglob("*.py"):
        assert "import django" not in module.read_text()
        assert "from django" not in module.read_text()
