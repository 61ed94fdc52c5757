"""The code agent `command` runs any command line and keeps what it writes."""

import shlex
import sys
import textwrap
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmark.rules.vocabulary import ExitReason
from runs.adapters.code_agents import AgentKit, code_agent
from runs.adapters.sandboxes import ProcessSandbox, held_commands
from runs.errors import StageError
from runs.ports import Brief, EventKind


@pytest.fixture
def events():
    return []


@pytest.fixture
def work(tmp_path, workspace, events):
    """Let the agent work one round; answers its turn."""
    kit = AgentKit(
        sandbox=ProcessSandbox(), scratch=tmp_path / "scratch", workspace_for=lambda task, number: None
    )

    def one_round(command, *, request="Make a shop", is_cancelled=lambda: False, **settings):
        agent = code_agent("command").with_settings({"command": command} | settings, kit)
        brief = Brief(task_key="shop", round_number=2, request=request, workspace=workspace)
        return agent.work(brief, record=events.append, is_cancelled=is_cancelled)

    return one_round


def python(source):
    return shlex.join([sys.executable, "-c", textwrap.dedent(source)])


def texts(events):
    return [event.text for event in events]


def test_command_works_in_the_workspace_with_the_request_on_its_input(work, workspace, events):
    turn = work("sh -c 'cat > request.txt; echo done'")

    assert (turn.exit_reason, turn.exit_code) == (ExitReason.FINISHED, 0)
    assert (workspace / "request.txt").read_text() == "Make a shop"
    assert texts(events) == ["done"]


def test_placeholders_are_filled_in_once_and_the_request_is_no_command(work, events):
    request = "Sell {round} things; $(touch evil) 'quoted' \"and\" ü"

    work(r"""printf '%s\n' {request} task={task} {round} 'if {x}'""", request=request)

    assert texts(events) == [request, "task=shop", "2", "if {x}"]


def test_request_file_holds_the_request_and_lies_outside_the_workspace(work, workspace, events):
    work("sh -c 'cat \"$1\"; pwd; cat' x {request_file}", request="Line one\nLine two\n")

    assert texts(events)[:2] == ["Line one", "Line two"]
    assert len(events) == 3
    assert list(workspace.iterdir()) == []


def test_round_and_task_are_in_the_environment_and_our_secrets_are_not(work, monkeypatch, events):
    monkeypatch.setenv("PROOFROOM_SECRET_KEY", "hidden")
    monkeypatch.setenv("DATABASE_URL", "hidden")

    work("env")

    lines = texts(events)
    assert "PROOFROOM_ROUND=2" in lines
    assert "PROOFROOM_TASK=shop" in lines
    assert not [line for line in lines if "hidden" in line]


def test_passed_variable_reaches_the_command_and_is_blotted_out_of_its_output(work, monkeypatch, events):
    monkeypatch.setenv("MODEL_KEY", "sk-very-secret-value")

    work(
        python(
            """
            import os
            key = os.environ["MODEL_KEY"]
            print("length", len(key))
            print("key", key)
            print('{"k": "%s"}' % key)
            """
        ),
        pass_variables="MODEL_KEY",
    )

    assert texts(events)[:2] == ["length 20", "key [MODEL_KEY]"]
    assert events[2].data == {"k": "[MODEL_KEY]"}


def test_output_and_errors_are_kept_apart_with_arrival_times(work, events):
    before = datetime.now(UTC)

    work("sh -c 'echo out; sleep 0.3; echo err >&2'")

    out, err = sorted(events, key=lambda event: event.text, reverse=True)
    assert (out.text, dict(out.data)) == ("out", {})
    assert (err.text, dict(err.data)) == ("err", {"stream": "stderr"})
    assert before <= out.at < err.at <= datetime.now(UTC)
    assert (err.at - out.at).total_seconds() >= 0.25


def test_json_lines_become_data_that_any_database_takes(work, events):
    work(
        python(
            r"""
            print('{"type": "assistant", "message": {"parts": [1, 2.5, null]}}')
            print('{"type": "odd", "nul": "a\\u0000b", "lone": "\\ud800", "n": NaN}')
            print('{"cut": ')
            print('[1, 2]')
            print('{"deep": ' * 100000 + '}')
            """
        )
    )

    assistant, odd, cut, array, deep = events
    assert assistant.kind is EventKind.OUTPUT
    assert assistant.text == "assistant"
    assert assistant.data == {"type": "assistant", "message": {"parts": [1, 2.5, None]}}
    assert odd.data["nul"] == "a\ufffdb"
    assert odd.data["n"] == "nan"
    odd.data["lone"].encode()
    assert [event.data for event in (cut, array, deep)] == [{}, {}, {}]


def test_escapes_controls_and_undecodable_bytes_are_made_readable(work, events):
    work(
        python(
            r"""
            import sys
            sys.stdout.buffer.write(b"\x1b[31mred\x1b[0m \x1b]0;title\x07plain\n")
            sys.stdout.buffer.write(b"nul \x00 bad \xff\n")
            sys.stdout.buffer.write(b"10%\r50%\r100%\n\n  \n")
            sys.stdout.buffer.write(b"no newline at the end")
            """
        )
    )

    assert texts(events) == [
        "red plain",
        "nul \ufffd bad \\xff",
        "100%",
        "no newline at the end",
    ]


def test_long_line_is_cut_with_a_count(work, events):
    work(python("print('x' * 1_000_000)"))

    (event,) = events
    # 256 KiB are kept, so 1,000,000 - 262,144 = 737,856 are not.
    assert event.text.endswith("x [... 737,856 bytes left out]")
    assert len(event.text) < 263_000


def test_number_of_events_is_bounded_and_the_rest_is_counted(work, events):
    work(python("for n in range(5000): print(n)"), max_events=100)

    assert texts(events)[:100] == [str(n) for n in range(100)]
    assert events[100].text == "4,900 more lines of output were not kept."
    assert len(events) == 101


def test_flood_of_output_neither_fills_the_memory_nor_stops_the_command(work, events):
    turn = work(
        python("import sys\nfor _ in range(1000): sys.stdout.write('y' * 65536)\nprint(); print('end')"),
        max_events=1,
    )

    assert turn.exit_reason is ExitReason.FINISHED
    assert len(events) == 2


def test_exit_code_other_than_zero_is_a_crash_that_names_it(work):
    turn = work("sh -c 'exit 42'")

    assert (turn.exit_reason, turn.exit_code) == (ExitReason.CRASHED, 42)
    assert "exit code 42" in turn.detail


def test_command_killed_by_a_signal_is_a_crash_that_names_it(work):
    turn = work("sh -c 'kill -SEGV $$'")

    assert turn.exit_reason is ExitReason.CRASHED
    assert "SIGSEGV" in turn.detail


def test_wall_clock_limit_ends_the_whole_tree(work, workspace, events):
    began = time.monotonic()

    turn = work("sh -c '(setsid sleep 50 &); echo begun; sleep 50'", wall_clock=1)

    assert turn.exit_reason is ExitReason.TIMEOUT
    assert "1 s" in turn.detail
    assert texts(events) == ["begun"]
    assert time.monotonic() - began < 10


def test_cancelling_ends_the_command_soon(work, events):
    cancelled = threading.Event()
    threading.Timer(0.4, cancelled.set).start()
    began = time.monotonic()

    turn = work("sh -c 'echo begun; sleep 50'", is_cancelled=cancelled.is_set)

    assert turn.exit_reason is ExitReason.CANCELLED
    assert texts(events) == ["begun"]
    assert time.monotonic() - began < 5
    assert held_commands() == 0


def test_process_left_behind_is_ended_before_the_workspace_is_used(work, workspace):
    script = "import time\nwhile True:\n    open('busy.txt', 'a').write('x'); time.sleep(0.01)"
    turn = work(f"sh -c 'setsid {shlex.quote(sys.executable)} -c \"$0\" & sleep 0.5' {shlex.quote(script)}")

    size = (workspace / "busy.txt").stat().st_size
    time.sleep(0.2)

    assert turn.exit_reason is ExitReason.FINISHED
    assert "left running" in turn.detail
    assert (workspace / "busy.txt").stat().st_size == size


def test_command_that_does_not_exist_is_trouble_of_the_bench(work):
    with pytest.raises(StageError, match="'no-such-agent' was not found; install it"):
        work("no-such-agent --yes")


def test_request_too_long_for_an_argument_says_what_to_use(work):
    with pytest.raises(StageError, match="request_file"):
        work("echo {request}", request="x" * 300_000)


def test_command_that_kills_its_holder_is_trouble_of_the_bench(work):
    with pytest.raises(StageError, match="killed the process that holds"):
        work("sh -c 'kill -9 $PPID; sleep 50'")


def test_command_that_never_reads_a_large_request_still_ends(work):
    turn = work("true", request="x" * 1_000_000)

    assert turn.exit_reason is ExitReason.FINISHED


def test_failing_record_ends_the_command_and_leaves_no_reader(work, tmp_path, workspace):
    kit = AgentKit(sandbox=ProcessSandbox(), scratch=tmp_path, workspace_for=lambda task, number: None)
    agent = code_agent("command").with_settings({"command": python("while True: print('line')")}, kit)
    brief = Brief(task_key="shop", round_number=1, request="", workspace=workspace)

    def refuse(event):
        raise RuntimeError("database is away")

    with pytest.raises(RuntimeError, match="database is away"):
        agent.work(brief, record=refuse, is_cancelled=lambda: False)

    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any("lines of" in t.name for t in threading.enumerate()):
        time.sleep(0.05)
    assert held_commands() == 0
    assert not [thread for thread in threading.enumerate() if "lines of" in thread.name]


def test_nothing_of_a_round_is_left_in_the_scratch_folder(work, tmp_path):
    work("sh -c 'touch \"$HOME\"/rubbish'")

    assert list(Path(tmp_path / "scratch").iterdir()) == []
