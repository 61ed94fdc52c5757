"""The code agent `command` in a box: it works there, reaches one endpoint, and meets its limits by name."""

import http.server
import shlex
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from benchmark.rules.protocol import BadSetting
from benchmark.rules.vocabulary import ExitReason
from runs.adapters.code_agents import AgentKit, code_agent
from runs.adapters.sandboxes import Limits, ProcessSandbox
from runs.adapters.sandboxes.programs import folders_of
from runs.ports import Brief, LimitKind


@pytest.fixture
def work(tmp_path, workspace, bubblewrap):
    """Let the agent work one round in a box; answers its turn and its events' texts."""

    def one_round(command, *, limits=None, **settings):
        kit = AgentKit(
            sandbox=bubblewrap,
            scratch=tmp_path / "scratch",
            workspace_for=lambda task, number: None,
            limits=limits or Limits(),
        )
        agent = code_agent("command").with_settings({"command": command} | settings, kit)
        brief = Brief(task_key="shop", round_number=1, request="Make a shop", workspace=workspace)
        texts = []
        turn = agent.work(brief, record=lambda event: texts.append(event.text), is_cancelled=lambda: False)
        return turn, texts

    return one_round


def python(source):
    return shlex.join([sys.executable, "-c", textwrap.dedent(source)])


def test_agent_writes_into_its_workspace_and_leaves_nothing(work, workspace):
    read = "cat > request.txt; cat $PROOFROOM_REQUEST_FILE; echo kept > $HOME/note"

    turn, texts = work(shlex.join(["sh", "-c", read]))

    assert turn.exit_reason is ExitReason.FINISHED
    assert (workspace / "request.txt").read_text() == "Make a shop"
    held = turn.containment
    assert (held.level, held.stage, held.processes_left, held.files_left) == ("bubblewrap", "agent", 0, ())
    assert texts == ["Make a shop"]


def test_agent_of_an_own_python_environment_finds_its_installation(work):
    turn, texts = work(python("import sys, json; print('prefix', sys.prefix)"))

    assert turn.exit_reason is ExitReason.FINISHED, texts
    assert texts == [f"prefix {sys.prefix}"]


def test_script_of_an_agent_is_readable_because_the_command_line_names_it(work, tmp_path):
    script = tmp_path / "agent.py"
    script.write_text("print('from the script')")
    (tmp_path / "beside.py").write_text("secret")

    _turn, texts = work(f"{sys.executable} {script}")
    _turn, beside = work(python(f"import os; print(os.path.exists('{tmp_path}/beside.py'))"))

    assert texts == ["from the script"]
    assert beside == ["False"]


def test_agent_reaches_its_model_and_nothing_else_of_this_machine(work):
    class Model(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"answer to " + body)

        def log_message(self, *words):
            pass

    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as model,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model) as other,
    ):
        for each in (model, other):
            threading.Thread(target=each.serve_forever, daemon=True).start()
        ask = f"""
            import urllib.request
            for port in ({model.server_port}, {other.server_port}):
                try:
                    print(urllib.request.urlopen(f"http://127.0.0.1:{{port}}/v1", b"this", timeout=5).read().decode())
                except OSError as error:
                    print("no answer")
            """

        _turn, texts = work(python(ask), model_endpoint=f"http://127.0.0.1:{model.server_port}/v1")
        _turn, without = work(python(ask))
        for each in (model, other):
            each.shutdown()

    assert texts == ["answer to this", "no answer"]
    assert without == ["no answer", "no answer"]


def test_agent_that_fills_the_memory_is_out_of_memory_by_its_own_fault(work):
    source = "held = []\nwhile True: held.append(bytearray(8 << 20))"

    turn, _texts = work(python(source), limits=Limits(memory_bytes=150 << 20))

    assert turn.exit_reason is ExitReason.OUT_OF_MEMORY
    assert "more than 150 MiB, and was ended" in turn.detail
    assert [hit.kind for hit in turn.containment.limits_hit] == [LimitKind.MEMORY]


def test_agent_that_links_out_of_its_workspace_changes_nothing_there(work, workspace, tmp_path):
    (tmp_path / "precious").write_text("kept")

    work(f"sh -c 'ln -s {tmp_path}/precious out; echo spoilt > out; rm -rf {tmp_path}/precious; true'")

    assert (tmp_path / "precious").read_text() == "kept"
    assert (workspace / "out").is_symlink()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"model_endpoint": "api.example.com"}, "write it as https://host or http://host:port"),
        ({"read_only": "relative/path"}, "give full paths of what is there"),
    ],
)
def test_wrong_setting_of_the_box_is_named(tmp_path, given, sentence):
    kit = AgentKit(sandbox=ProcessSandbox(), scratch=tmp_path, workspace_for=lambda task, number: None)

    with pytest.raises(BadSetting, match=sentence):
        code_agent("command").with_settings({"command": "true"} | given, kit)


def test_programs_bring_their_installation_their_interpreter_and_no_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    tool = tmp_path / "node-22" / "lib" / "node_modules" / "agent" / "cli.js"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/usr/bin/env node\n")
    tool.chmod(0o755)
    for folder in (tmp_path / "node-22" / "bin", tmp_path / ".local" / "bin"):
        folder.mkdir(parents=True)
    (tmp_path / "node-22" / "bin" / "agent").symlink_to(tool)
    (tmp_path / ".local" / "bin" / "lone").symlink_to(tool)
    (tmp_path / "node-22" / "bin" / "node").write_text("#!/bin/sh\n")
    (tmp_path / "node-22" / "bin" / "node").chmod(0o755)
    path = f"{tmp_path}/node-22/bin:{tmp_path}/.local/bin:/usr/bin:/bin"

    assert tmp_path / "node-22" in folders_of("agent", path=path)
    lone = folders_of("lone", path=path)
    assert tmp_path / "node-22" / "lib" / "node_modules" in lone
    assert not {tmp_path, tmp_path / ".local"} & set(lone)
    assert folders_of("sh", path=path) == ()
    assert folders_of("not-there-at-all", path=path) == ()
    assert Path("/") not in lone
