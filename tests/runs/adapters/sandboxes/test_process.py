"""The sandbox level `none` starts commands, ends whole trees and says how they ended."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from runs.adapters.sandboxes import (
    Ending,
    ProcessSandbox,
    StartFailed,
    Stream,
    clean_environment,
    end_all,
    held_commands,
    passed_variables,
)

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="daemons are only found through /proc")


@pytest.fixture
def start(tmp_path):
    """Start Python source (or words) in the folder of the test; whatever is left ends with the test."""
    with contextlib.ExitStack() as open_commands:

        def start_command(source, **options):
            argv = [sys.executable, "-c", textwrap.dedent(source)] if isinstance(source, str) else source
            options = {"cwd": tmp_path, "env": clean_environment(tmp_path)} | options
            return open_commands.enter_context(ProcessSandbox().start(argv, **options))

        yield start_command


def marked(token):
    """Return the processes whose command line carries a token."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if token.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def test_finished_command_reports_its_exit_code_and_output(start):
    kept = start(["sh", "-c", "echo out; echo err >&2; exit 3"])

    out, err = kept.stdout.read(), kept.stderr.read()
    report = kept.wait(10)

    assert (out, err) == (b"out\n", b"err\n")
    assert (report.ending, report.exit_code, report.left_behind) == (Ending.FINISHED, 3, 0)


def test_command_reads_what_is_written_to_its_input(start):
    kept = start(["cat"], stdin=Stream.PIPE)

    kept.stdin.write(b"a request")
    kept.stdin.close()

    assert kept.stdout.read() == b"a request"
    assert kept.wait(10).exit_code == 0


def test_errors_can_be_joined_to_the_output(start):
    kept = start(["sh", "-c", "echo one >&2; echo two"], stderr=Stream.WITH_STDOUT)

    assert kept.stdout.read() == b"one\ntwo\n"


def test_command_killed_by_a_signal_reports_its_negative_number(start):
    kept = start(["sh", "-c", "kill -9 $$"])

    assert kept.wait(10).exit_code == -signal.SIGKILL


@pytest.mark.parametrize(
    ("argv", "number"),
    [
        (["no-such-program-anywhere"], errno.ENOENT),
        (["/"], errno.EACCES),
        (["true", "x" * 300_000], errno.E2BIG),
    ],
)
def test_command_that_cannot_start_says_why(start, argv, number):
    with pytest.raises(StartFailed) as refused:
        start(argv)

    assert refused.value.errno == number
    assert held_commands() == 0


def test_absent_folder_is_named_when_the_command_cannot_start(start, tmp_path):
    with pytest.raises(StartFailed, match="not-there"):
        start(["true"], cwd=tmp_path / "not-there")


def test_poll_answers_none_while_the_command_runs(start):
    kept = start(["sleep", "60"])

    assert kept.poll() is None
    with pytest.raises(TimeoutError, match="sleep"):
        kept.wait(0.05)


def test_deadline_ends_the_command(start):
    kept = start(["sleep", "60"], deadline_seconds=0.2)

    report = kept.wait(10)

    assert (report.ending, report.exit_code) == (Ending.DEADLINE, -signal.SIGTERM)


def test_command_that_ignores_the_polite_signal_is_killed_after_the_grace(start):
    kept = start(
        """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    kept.stdout.read(5)

    report = kept.end(grace=0.3)

    assert (report.ending, report.exit_code, report.killed) == (Ending.CANCELLED, -signal.SIGKILL, 1)
    assert report.seconds_to_end >= 0.3


def test_command_may_use_the_grace_to_finish_its_work(start):
    kept = start(
        """
        import os, signal, time
        def on_terminate(number, frame):
            # Not print: the signal may come while the line below is still being written.
            time.sleep(0.2); os.write(1, b"tidied\\n"); os._exit(7)
        signal.signal(signal.SIGTERM, on_terminate)
        os.write(1, b"ready\\n")
        time.sleep(60)
        """
    )
    kept.stdout.read(6)

    report = kept.end(grace=5)

    assert kept.stdout.read() == b"tidied\n"
    assert (report.exit_code, report.killed) == (7, 0)


def test_second_end_with_less_grace_shortens_the_first(start):
    kept = start(
        """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    kept.stdout.read(5)
    began = time.monotonic()

    kept.ask_to_end(grace=30)
    kept.end(grace=0)

    assert time.monotonic() - began < 10


@linux_only
def test_daemon_that_left_its_session_ends_with_the_command(start, tmp_path):
    token = f"daemon-of-{tmp_path.name}"
    kept = start(
        f"""
        import os, subprocess, sys, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                subprocess.Popen(["sleep", "60"])
                os.execvp(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", "{token}"])
            os._exit(0)
        time.sleep(0.3)
        """
    )
    assert until(lambda: marked(token))

    report = kept.wait(10)

    assert report.ending is Ending.FINISHED
    assert report.left_behind == 2
    assert marked(token) == []


@linux_only
def test_fork_storm_is_ended_whole(start, tmp_path):
    token = f"storm-of-{tmp_path.name}"
    # Each process forks again and again for five seconds, at most 150 live at once in all.
    kept = start(
        [
            sys.executable,
            "-c",
            textwrap.dedent(
                """
                import os, time, signal
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                until = time.monotonic() + 5
                for _ in range(3):
                    os.fork()
                while time.monotonic() < until:
                    if os.fork() == 0:
                        os.setsid()
                        if os.fork() == 0:
                            time.sleep(60)
                        os._exit(0)
                    os.wait()
                    time.sleep(0.02)
                time.sleep(60)
                """
            ),
            token,
        ]
    )
    assert until(lambda: len(marked(token)) > 50)

    report = kept.end(grace=0.1)

    assert report.survivors == 0
    assert report.killed > 50
    assert marked(token) == []


@linux_only
def test_process_that_forks_and_exits_without_end_is_caught(start, tmp_path):
    token = f"hopper-of-{tmp_path.name}"
    kept = start(
        [
            sys.executable,
            "-c",
            textwrap.dedent(
                """
                import os, signal, time
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                until = time.monotonic() + 20
                while time.monotonic() < until:
                    if os.fork() != 0:
                        os._exit(0)
                    os.setsid()
                """
            ),
            token,
        ]
    )

    report = kept.wait(15)

    assert report.survivors == 0
    assert marked(token) == []


@linux_only
def test_tree_ends_when_its_keeper_is_killed(start, tmp_path):
    token = f"kept-by-{tmp_path.name}"
    script = f"""
        import os, subprocess, sys, time
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "{token}"],
                         start_new_session=True)
        print("ready", flush=True)
        os.kill(os.getppid(), 9)
        time.sleep(60)
        """
    kept = start(script)

    report = kept.wait(10)

    assert report.ending is Ending.KEEPER_DIED
    assert until(lambda: marked(token) == [])


@linux_only
def test_killing_our_process_leaves_nothing(tmp_path):
    token = f"orphan-of-{tmp_path.name}"
    stubborn = tmp_path / "stubborn.py"
    stubborn.write_text(
        textwrap.dedent(
            """
            import os, signal, time
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if os.fork() == 0:
                os.setsid()
            time.sleep(60)
            """
        )
    )
    ours = tmp_path / "ours.py"
    ours.write_text(
        textwrap.dedent(
            f"""
            import sys, threading, time
            from pathlib import Path
            from runs.adapters.sandboxes import ProcessSandbox, clean_environment

            commands = []

            def start():
                argv = [sys.executable, "stubborn.py", "{token}"]
                here = Path.cwd()
                commands.append(ProcessSandbox().start(argv, cwd=here, env=clean_environment(here)))

            for _ in range(2):
                # From a thread that ends at once: the tree must live on nevertheless.
                thread = threading.Thread(target=start)
                thread.start()
                thread.join()
            print("started", flush=True)
            time.sleep(60)
            """
        )
    )
    parent = subprocess.Popen(
        [sys.executable, str(ours)],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])},
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        assert until(lambda: len(marked(token)) == 4)
        time.sleep(0.3)
        assert len(marked(token)) == 4

        parent.kill()

    assert until(lambda: marked(token) == [])


@linux_only
def test_leaving_without_a_word_ends_the_commands_of_a_process(tmp_path):
    token = f"forgotten-of-{tmp_path.name}"
    source = f"""
        import sys
        from pathlib import Path
        from runs.adapters.sandboxes import ProcessSandbox, clean_environment
        ProcessSandbox().start([sys.executable, "-c", "import time; time.sleep(60)", "{token}"],
                               cwd=Path.cwd(), env=clean_environment(Path.cwd()))
        """

    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])},
        timeout=20,
    )

    assert ended.returncode == 0
    assert until(lambda: marked(token) == [])


def test_shutdown_ends_every_command_at_the_same_time(start):
    held = [
        start("import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)")
        for _ in range(3)
    ]
    for kept in held:
        kept.stdout.read(1)
    began = time.monotonic()

    reports = end_all(grace=0.5)

    assert len(reports) == 3
    assert {report.ending for report in reports} == {Ending.CANCELLED}
    assert time.monotonic() - began < 5
    assert held_commands() == 0


def test_commands_start_from_many_threads_at_once(start):
    reports = []

    def start_one(number):
        kept = start(["sh", "-c", f"exit {number}"])
        reports.append(kept.wait(20).exit_code)

    threads = [threading.Thread(target=start_one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(reports) == list(range(8))


def test_several_threads_may_wait_for_one_command(start):
    kept = start(["sleep", "0.3"])
    codes = []
    threads = [threading.Thread(target=lambda: codes.append(kept.wait(10).exit_code)) for _ in range(3)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert codes == [0, 0, 0]


def test_environment_of_a_command_holds_nothing_of_ours(start, tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "hidden")
    monkeypatch.setenv("DATABASE_URL", "postgres://hidden")
    monkeypatch.setenv("SSL_CERT_FILE", "/some/ca.pem")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")

    kept = start(["env"], env=clean_environment(tmp_path, extra={"PORT": "4321"}))
    lines = kept.stdout.read().decode().splitlines()

    names = {line.partition("=")[0] for line in lines}
    assert {"PATH", "HOME", "LANG", "SSL_CERT_FILE", "PORT"} <= names
    assert not names & {"SECRET_KEY", "DATABASE_URL", "HTTPS_PROXY"}
    assert f"HOME={tmp_path}" in lines


def test_node_trusts_what_the_system_trusts_unless_somebody_chose(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "runs.adapters.sandboxes.environment.SYSTEM_CERTIFICATES", (str(tmp_path / "all.crt"),)
    )
    monkeypatch.delenv("NODE_EXTRA_CA_CERTS", raising=False)
    assert "NODE_EXTRA_CA_CERTS" not in clean_environment(tmp_path)

    (tmp_path / "all.crt").write_text("")
    assert clean_environment(tmp_path)["NODE_EXTRA_CA_CERTS"] == str(tmp_path / "all.crt")

    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", "/chosen.crt")
    assert clean_environment(tmp_path)["NODE_EXTRA_CA_CERTS"] == "/chosen.crt"


def test_variables_are_passed_on_by_name_but_never_those_of_the_site(monkeypatch):
    monkeypatch.setenv("SOME_MODEL_KEY", "value")

    assert passed_variables(["SOME_MODEL_KEY", "NOT_SET_AT_ALL"]) == {"SOME_MODEL_KEY": "value"}
    with pytest.raises(ValueError, match="DATABASE_URL"):
        passed_variables(["DATABASE_URL"])
