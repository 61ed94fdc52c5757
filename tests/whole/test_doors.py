"""The commands as processes: what stands on stdout, how they end, and what they leave behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.whole import small
from tests.whole.bench import ROOT, Bench
from tests.whole.published import need_chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to look for leftovers"),
]

AT_THE_SLOW_ONE = "select 1 from runs_runevent where run_id = ? and kind = 'begin' and criterion = 'c1'"
MARKS = {"c0": "pass", "c1": "pass"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Iterator[Bench]:
    """A bench with three packs: `quick`, and two whose second criterion gives a test time to step in."""
    need_chromium()
    folder = tmp_path_factory.mktemp("doors")
    made = Bench(data=folder / "var")
    made.data.mkdir()
    quick = small.pack(folder, key="quick", scripts={"c0": small.QUICK, "c1": small.ABSENT})
    slow = small.pack(folder, key="slow", scripts={"c0": small.QUICK, "c1": small.SLOW})
    slower = small.pack(folder, key="slower", scripts={"c0": small.QUICK, "c1": small.SLOWER})
    for pack in (quick, slow, slower):
        made.command("import", str(pack))
    yield made
    made.end_all()


def launched(bench: Bench, key: str) -> str:
    return str(bench.json("launch", key, "--agent", "replay")["run"])


def marks(bench: Bench, run: str) -> dict[str, str]:
    (trial,) = bench.json("show", run)["trials"]
    given: dict[str, str] = trial["rounds"][0]["criteria"]
    return given


def test_launch_and_wait_prints_one_document_and_its_progress_elsewhere(bench):
    done = bench.ran("launch", "quick", "--agent", "replay", "--wait", "--json")

    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert document["state"] == "finished"
    assert document["trials"][0]["rounds"][0]["criteria"] == {"c0": "pass", "c1": "fail"}
    assert "1 of 1 trials finished" in done.stderr
    assert bench.json("show", str(document["run"])) == document


def test_a_cancelled_run_ends_its_processes_keeps_its_marks_and_goes_on_after_a_retry(bench):
    run = launched(bench, "slower")
    worker = bench.begun("work")
    bench.wait_for(AT_THE_SLOW_ONE, run)

    began = time.monotonic()
    cancelled = bench.json("cancel", run)
    worker.wait(60)
    took = time.monotonic() - began

    assert cancelled["cancelled"] is True
    assert bench.leftovers() == []
    assert marks(bench, run) == {"c0": "pass"}
    first = bench.rows("select id, created_at from runs_verdict order by id desc limit 1")
    # Twenty seconds of waiting were left in the script.
    assert took < 20
    retried = bench.json("retry", run, "--wait")
    assert retried["state"] == "finished"
    assert marks(bench, run) == MARKS
    kept = bench.rows("select id, created_at from runs_verdict where id = ?", first[0][0])
    assert kept == first


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda sent: sent.name)
def test_a_worker_that_is_ended_while_judging_leaves_no_process_and_the_next_goes_on(bench, sent):
    run = launched(bench, "slow")
    worker = bench.begun("work")
    bench.wait_for(AT_THE_SLOW_ONE, run)

    began = time.monotonic()
    worker.send_signal(sent)
    code = worker.wait(60)

    assert time.monotonic() - began < 10
    assert code == (-sent if sent == signal.SIGKILL else 0)
    assert bench.leftovers() == []
    assert marks(bench, run) == {"c0": "pass"}
    assert bench.json("work") == {"stopped": False}
    assert marks(bench, run) == MARKS


def test_ctrl_c_while_launch_waits_leaves_no_process_and_the_run_can_go_on(bench):
    before = bench.rows("select coalesce(max(id), 0) from runs_run")[0][0]
    waiting = bench.begun("launch", "slow", "--agent", "replay", "--wait")
    bench.wait_for("select 1 from runs_run where id > ?", before)
    run = str(bench.rows("select max(id) from runs_run")[0][0])
    bench.wait_for(AT_THE_SLOW_ONE, run)

    began = time.monotonic()
    waiting.send_signal(signal.SIGINT)
    code = waiting.wait(60)

    assert time.monotonic() - began < 10
    assert code == 130
    assert bench.leftovers() == []
    assert bench.json("cancel", run)["cancelled"] is True


def test_the_server_ends_within_ten_seconds_in_the_middle_of_judging_and_leaves_nothing(bench):
    run = launched(bench, "slow")
    bench.serve()
    bench.wait_for(AT_THE_SLOW_ONE, run)

    took = bench.stop()

    assert took < 10
    assert bench.leftovers() == []
    assert bench.rows("select state from runs_run where id = ?", run) == [("running",)]
    bench.serve()
    bench.wait_for("select 1 from runs_run where id = ? and state = 'finished'", run)
    assert bench.stop() < 10
    assert marks(bench, run) == MARKS
    assert bench.leftovers() == []


def test_a_taken_port_is_one_sentence_with_the_way_out(bench):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        done = bench.ran("serve", "--port", port)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"Port {port} is taken; choose another with --port N, or --port 0 for a free one.\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("show", "77777", "--json"), "There is no run '77777'; the latest are "),
        (
            ("launch", "nothing", "--agent", "replay", "--json"),
            "No benchmark is called 'nothing'; there are ",
        ),
        (("launch", "quick", "--agent", "nobody", "--json"), "Unknown code agent 'nobody'; known are: "),
        (("launch", "quick", "--agent", "replay", "--set", "x=1", "--json"), "x"),
        (
            ("launch", "quick", "--json"),
            "The following arguments are required: --agent; `proofroom launch --help`",
        ),
        (("runs", "--state", "lost", "--json"), "Argument --state: invalid choice: 'lost'"),
        (("serve", "--port", "99999"), "Port 99999 does not exist; choose one from 1 to 65535"),
        (("serve", "--port", "0", "--public-url", "http://x.org"), "must begin with https://"),
        (("lunch",), "There is no command 'lunch'; did you mean `proofroom launch`?"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_sentence_on_stderr_and_exit_2(bench, words, expected):
    done = bench.ran(*words)

    assert done.returncode == 2
    (sentence,) = done.stderr.splitlines()
    assert expected in sentence
    if "--json" in words:
        assert json.loads(done.stdout) == {"error": sentence}
    else:
        assert done.stdout == ""


def test_a_database_that_cannot_be_reached_is_one_sentence_without_the_password_and_exit_1(bench):
    done = bench.ran("runs", DATABASE_URL="postgres://user:hidden-word@127.0.0.1:1/name")

    (sentence,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    assert sentence.startswith("The database cannot be used: ")
    assert "hidden-word" not in sentence


def test_a_broker_that_is_away_is_a_line_on_stderr_and_stops_no_launch(bench):
    done = bench.ran("launch", "quick", "--agent", "replay", "--json", REDIS_URL="redis://127.0.0.1:1")

    run = json.loads(done.stdout)["run"]
    assert done.returncode == 0
    assert "the broker cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
    assert bench.json("cancel", str(run))["cancelled"] is True


def test_a_closed_pipe_ends_a_command_quietly(bench):
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [sys.executable, "manage.py", "runs", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"PROOFROOM_DATA_DIR": str(bench.data)},
        timeout=60,
        check=False,
    )
    os.close(writer)

    assert (done.returncode, done.stderr) == (1, b"")
