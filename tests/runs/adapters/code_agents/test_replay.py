"""The code agent `replay` makes the workspace equal to a recorded one."""

import os

import pytest

from benchmark.rules.vocabulary import ExitReason
from runs.adapters.code_agents.replay import Replay, folder_workspaces
from runs.errors import StageError
from runs.ports import Brief


@pytest.fixture
def recorded(tmp_path):
    return tmp_path / "candidate"


@pytest.fixture
def events():
    return []


@pytest.fixture
def replay(recorded, workspace, events):
    """Replay one round and return how it ended and what it said."""

    def one_round(number=1, *, cancelled=False):
        brief = Brief(task_key="shop", round_number=number, request="Make a shop", workspace=workspace)
        agent = Replay(workspace_for=folder_workspaces(recorded))
        return agent.work(brief, record=events.append, is_cancelled=lambda: cancelled)

    return one_round


def write(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def test_workspace_becomes_equal_to_the_recorded_one(replay, recorded, workspace, events):
    write(recorded / "shop/round_1", index_dot_html="one", src__app_dot_js="code")
    write(workspace, index_dot_html="old", stale_dot_css="old", lib__gone_dot_js="old")

    turn = replay(1)

    assert turn.exit_reason is ExitReason.FINISHED
    assert files_of(workspace) == {"index.html": "one", "src/app.js": "code"}
    assert not (workspace / "lib").exists()
    assert [event.text for event in events] == [turn.detail]


def test_later_round_removes_what_the_earlier_one_had(replay, recorded, workspace):
    write(recorded / "shop/round_1", index_dot_html="one", old_dot_js="1")
    write(recorded / "shop/round_2", index_dot_html="two")

    replay(1)
    replay(2)

    assert files_of(workspace) == {"index.html": "two"}


def test_round_that_is_not_recorded_keeps_the_last_earlier_one_and_says_so(replay, recorded, workspace):
    write(recorded / "shop/round_1", index_dot_html="one")
    replay(1)

    turn = replay(3)

    assert turn.exit_reason is ExitReason.FINISHED
    assert "round 3" in turn.detail
    assert "round 1 stays" in turn.detail
    assert files_of(workspace) == {"index.html": "one"}


def test_folder_of_a_task_alone_is_its_first_round(replay, recorded, workspace):
    write(recorded / "shop", index_dot_html="only")

    replay(1)

    assert files_of(workspace) == {"index.html": "only"}
    assert "round 1 stays" in replay(2).detail


def test_task_without_a_recorded_workspace_is_trouble_of_the_bench(replay, recorded):
    recorded.mkdir()

    with pytest.raises(StageError, match=r"'shop'.*shop/round_1"):
        replay(1)


def test_task_key_cannot_lead_out_of_the_folder(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "candidate").mkdir()

    assert folder_workspaces(tmp_path / "candidate")("../secret", 1) is None


def test_links_that_lead_out_are_left_out_and_named(replay, recorded, workspace, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    write(recorded / "shop/round_1", index_dot_html="one")
    (recorded / "shop/round_1/inside.html").symlink_to("index.html")
    (recorded / "shop/round_1/absolute.txt").symlink_to(tmp_path / "secret.txt")
    (recorded / "shop/round_1/upwards.txt").symlink_to("../../../secret.txt")

    turn = replay(1)

    assert files_of(workspace) == {"index.html": "one", "inside.html": "one"}
    assert (workspace / "inside.html").is_symlink()
    assert "absolute.txt, upwards.txt" in turn.detail


def test_clearing_never_follows_a_link_of_the_workspace(replay, recorded, workspace, tmp_path):
    write(tmp_path / "elsewhere", precious_dot_txt="kept")
    write(recorded / "shop/round_1", index_dot_html="one")
    (workspace / "link").symlink_to(tmp_path / "elsewhere")
    (workspace / "data").symlink_to(tmp_path / "elsewhere")
    write(workspace / "deep", x="1")
    (workspace / "deep/link").symlink_to(tmp_path / "elsewhere")

    replay(1)

    assert files_of(workspace) == {"index.html": "one"}
    assert files_of(tmp_path / "elsewhere") == {"precious.txt": "kept"}


def test_folder_that_forbids_deletion_is_removed_all_the_same(replay, recorded, workspace):
    write(recorded / "shop/round_1", index_dot_html="one")
    write(workspace / "locked/inner", x="1")
    (workspace / "locked/inner").chmod(0o000)

    replay(1)

    assert files_of(workspace) == {"index.html": "one"}


def test_data_of_the_task_stays_unless_the_recorded_workspace_brings_its_own(replay, recorded, workspace):
    write(recorded / "shop/round_1", index_dot_html="one")
    write(recorded / "shop/round_2", index_dot_html="two", data__stock_dot_csv="changed")
    write(workspace, data__stock_dot_csv="given", data__more_dot_csv="given")

    replay(1)
    first = files_of(workspace)
    replay(2)

    assert first == {"index.html": "one", "data/stock.csv": "given", "data/more.csv": "given"}
    assert files_of(workspace) == {"index.html": "two", "data/stock.csv": "changed"}


def test_executable_files_stay_executable_and_special_files_are_left_out(replay, recorded, workspace):
    write(recorded / "shop/round_1", start_dot_sh="#!/bin/sh\n")
    (recorded / "shop/round_1/start.sh").chmod(0o755)
    os.mkfifo(recorded / "shop/round_1/pipe")

    turn = replay(1)

    assert os.access(workspace / "start.sh", os.X_OK)
    assert "pipe" in turn.detail
    assert not (workspace / "pipe").exists()


def test_cancelled_replay_changes_nothing(replay, recorded, workspace):
    write(recorded / "shop/round_1", index_dot_html="one")
    write(workspace, before="1")

    turn = replay(1, cancelled=True)

    assert turn.exit_reason is ExitReason.CANCELLED
    assert files_of(workspace) == {"before": "1"}
