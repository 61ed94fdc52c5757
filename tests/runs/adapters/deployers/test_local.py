"""A candidate of any kind is built and served, or found broken with evidence, and its tree ends."""

import http.client
import json
import socket
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from runs.adapters.deployers import Limits, LocalDeployer
from runs.adapters.sandboxes import ProcessSandbox, held_commands
from runs.adapters.sandboxes.listening import free_port, is_taken
from runs.errors import Cancelled, StageError
from runs.ports import CandidateBroken, DeploymentKind

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="ports of a tree are only told on Linux")

SERVER = """
    import http.server, os, sys
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(STATUS)
            self.end_headers()
            self.wfile.write(b"served")
    print("starting", flush=True)
    http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Page).serve_forever()
    """


def python_server(*, port="int(os.environ['PORT'])", status="200", before=""):
    source = textwrap.dedent(SERVER).replace("PORT)", f"{port})").replace("STATUS", status)
    return textwrap.dedent(before) + source


@pytest.fixture
def deployer(tmp_path):
    return LocalDeployer(
        sandbox=ProcessSandbox(),
        scratch=tmp_path / "scratch",
        cache=tmp_path / "cache",
        limits=Limits(start=20, busy_port=0.5),
    )


@pytest.fixture
def serve(deployer, tmp_path):
    """Serve files given by name; a context, as the port says."""

    @contextmanager
    def served(files, *, deploy=None, is_cancelled=lambda: False, limits=None):
        folder = tmp_path / "candidate"
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(textwrap.dedent(text))
        chosen = deployer
        if limits is not None:
            chosen = LocalDeployer(
                sandbox=deployer.sandbox, scratch=deployer.scratch, cache=deployer.cache, limits=limits
            )
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
        with chosen.serve(folder, deploy=deploy or {}, is_cancelled=is_cancelled) as running:
            yield running
        assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before

    yield served
    assert held_commands() == 0
    assert not (tmp_path / "scratch").exists() or list((tmp_path / "scratch").iterdir()) == []


def fetch(running, path="/"):
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_static_folder_is_served_and_gone_afterwards(serve):
    with serve({"index.html": "<h1>Shop</h1>", "js/app.js": "1"}) as running:
        answer, body = fetch(running)
        script, _ = fetch(running, "/js/app.js")
        port = running.port

        assert (answer.status, body) == (200, b"<h1>Shop</h1>")
        assert script.headers["Content-Type"] == "text/javascript; charset=utf-8"
        assert running.address == f"http://127.0.0.1:{port}"
        assert running.report.kind is DeploymentKind.STATIC
        assert running.report.healthy
        assert running.is_alive()

    assert not is_taken(port)


def test_static_folder_never_gives_away_what_a_link_leads_to(serve, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "candidate").mkdir()
    (tmp_path / "candidate" / "leak.txt").symlink_to(tmp_path / "secret.txt")

    with serve({"index.html": "<h1>Shop</h1>"}) as running:
        answer, body = fetch(running, "/leak.txt")

        assert answer.status == 404
        assert b"secret" not in body
        assert "leak.txt" in running.report.build_log


def test_python_server_listens_on_the_port_it_is_given(serve):
    with serve({"app.py": python_server()}) as running:
        _, body = fetch(running)

        assert body == b"served"
        assert running.report.kind is DeploymentKind.PYTHON
        assert running.report.commands == ("python app.py",)
        assert "starting" in running.server_log()


@linux_only
def test_server_with_a_port_of_its_own_is_found(serve):
    own = free_port()

    with serve({"server.py": python_server(port=str(own))}) as running:
        assert running.port == own
        assert fetch(running)[1] == b"served"


@linux_only
def test_server_started_by_a_daemonised_child_is_found(serve):
    before = """
        import os, time
        if os.fork():
            time.sleep(60)
        os.setsid()
        """

    with serve({"app.py": python_server(before=before)}) as running:
        assert fetch(running)[1] == b"served"


@linux_only
def test_port_taken_by_somebody_else_is_no_fault_of_the_candidate(serve):
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        taken = stranger.getsockname()[1]

        with (
            pytest.raises(StageError, match=f"insists on port {taken}, .* retry when that port is free"),
            serve({"app.py": python_server(port=str(taken), before=f"print('on port {taken}')\n")}),
        ):
            pass


@linux_only
def test_port_that_the_candidate_itself_takes_twice_is_its_own_fault(serve):
    before = """
        import os, socket
        first = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
        """

    with (
        pytest.raises(CandidateBroken, match="ended with exit code 1") as broken,
        serve({"app.py": python_server(before=before)}),
    ):
        pass

    assert "Address already in use" in broken.value.report.server_log


def test_install_of_the_task_that_meets_no_network_is_trouble_of_the_bench(serve):
    install = "echo Failed to establish a new connection: NewConnectionError; exit 1"

    with (
        pytest.raises(StageError, match="package index cannot be reached"),
        serve({"app.py": python_server()}, deploy={"install": ["sh", "-c", install]}),
    ):
        pass


@linux_only
def test_port_that_gets_free_in_time_is_waited_for(serve):
    stranger = socket.socket()
    stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    stranger.bind(("127.0.0.1", 0))
    stranger.listen()
    taken = stranger.getsockname()[1]
    threading.Timer(1.5, stranger.close).start()

    files = {"app.py": python_server(port=str(taken), before=f"print('on port {taken}')\n")}
    with serve(files, limits=Limits(start=20, busy_port=15)) as running:
        assert running.port == taken


def test_server_that_never_listens_is_broken_with_its_log(serve):
    with (
        pytest.raises(CandidateBroken, match="opened no port within 2 s") as broken,
        serve({"app.py": "import time\nprint('busy', flush=True)\ntime.sleep(60)"}, limits=Limits(start=2)),
    ):
        pass

    report = broken.value.report
    assert not report.healthy
    assert "busy" in report.server_log
    assert report.start_seconds >= 2


def test_server_that_ends_at_once_is_broken_with_its_traceback(serve):
    began = time.monotonic()

    with (
        pytest.raises(CandidateBroken, match="ended with exit code 1") as broken,
        serve({"app.py": "raise RuntimeError('no database')"}),
    ):
        pass

    assert "no database" in broken.value.report.server_log
    assert time.monotonic() - began < 15


def test_server_that_answers_only_errors_is_broken(serve):
    with (
        pytest.raises(CandidateBroken, match="answered 503 at / for 3 s"),
        serve({"app.py": python_server(status="503")}, limits=Limits(start=3)),
    ):
        pass


def test_first_page_that_is_not_found_counts_as_answering_and_is_noted(serve):
    with serve({"app.py": python_server(status="404")}) as running:
        assert running.report.healthy
        assert "answers 404" in running.report.build_log


def test_server_that_ignores_the_polite_signal_ends_with_the_context(serve):
    before = """
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        """

    with serve({"app.py": python_server(before=before)}) as running:
        port = running.port

    assert not is_taken(port)


def test_dead_server_is_seen_and_its_last_words_are_kept(serve):
    before = """
        import os, threading
        def die():
            print("last words", flush=True)
            os._exit(3)
        threading.Timer(2.5, die).start()
        """

    with serve({"app.py": python_server(before=before)}) as running:
        deadline = time.monotonic() + 10
        while running.is_alive() and time.monotonic() < deadline:
            time.sleep(0.05)

        assert not running.is_alive()
        assert "last words" in running.server_log()


def test_flood_of_output_is_bounded_in_the_log(serve):
    before = """
        import sys, threading
        def flood():
            for number in range(30000):
                sys.stdout.write("x" * 999 + "\\n")
        threading.Thread(target=flood, daemon=True).start()
        """

    with serve({"app.py": python_server(before=before)}) as running:
        deadline = time.monotonic() + 20
        while "left out" not in running.server_log() and time.monotonic() < deadline:
            time.sleep(0.1)

        assert "bytes left out" in running.server_log()
        assert len(running.server_log()) < 450_000


def test_cancelling_stops_a_deployment_that_waits(serve):
    cancelled = threading.Event()
    threading.Timer(0.7, cancelled.set).start()
    began = time.monotonic()

    with (
        pytest.raises(Cancelled),
        serve({"app.py": "import time\ntime.sleep(60)"}, is_cancelled=cancelled.is_set),
    ):
        pass

    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("files", "deploy", "sentence"),
    [
        ({"notes.txt": "nothing"}, {}, "No entry point was found"),
        ({"package.json": "{bad"}, {}, "package.json cannot be read"),
        ({"README.md": ""}, {"kind": "python"}, "no app.py, server.py or main.py"),
        ({"README.md": ""}, {"kind": "static"}, "no index.html"),
        ({"app.py": ""}, {"start": "no-such-program --now"}, "cannot be started"),
    ],
)
def test_candidate_that_cannot_be_started_is_broken(serve, files, deploy, sentence):
    with pytest.raises(CandidateBroken, match=sentence), serve(files, deploy=deploy):
        pass


@pytest.mark.parametrize(
    ("deploy", "sentence"),
    [
        ({"kind": "cobol"}, "'cobol'; it must be one of static, vite, node, python"),
        ({"prot": 3000}, "'prot'; it may have build, health"),
        ({"start": "say 'x"}, "cannot be split"),
        ({"health": "health"}, "must be a path"),
        ({"root": "../other"}, "must be a folder of the candidate"),
        ({"start_timeout": True}, "must be a number of seconds"),
    ],
)
def test_wrong_wish_of_a_task_is_trouble_of_the_bench(serve, deploy, sentence):
    with pytest.raises(StageError, match=sentence), serve({"index.html": "x"}, deploy=deploy):
        pass


def test_task_may_say_how_to_build_and_start(serve):
    files = {
        "make.py": "open('made.txt', 'w').write('built')",
        "serve.py": python_server().replace('b"served"', 'open("made.txt", "rb").read()'),
    }
    deploy = {"build": "python make.py", "start": "python serve.py {port}", "health": "/ready"}

    with serve(files, deploy=deploy) as running:
        assert fetch(running)[1] == b"built"
        assert running.report.commands == ("python make.py", f"python serve.py {running.port}")


def test_failed_build_is_broken_with_the_log_of_the_build(serve):
    files = {"index.html": "x", "make.py": "print('line 7 is wrong'); raise SystemExit(2)"}

    with (
        pytest.raises(CandidateBroken, match="build failed with exit code 2") as broken,
        serve(files, deploy={"build": "python make.py"}),
    ):
        pass

    assert "line 7 is wrong" in broken.value.report.build_log
    assert broken.value.report.build_seconds > 0


def test_build_that_takes_too_long_is_broken(serve):
    files = {"index.html": "x", "make.py": "import time; time.sleep(60)"}

    with (
        pytest.raises(CandidateBroken, match="did not finish within 1 s"),
        serve(files, deploy={"build": "python make.py"}, limits=Limits(build=1)),
    ):
        pass


def test_server_gets_a_clean_environment(serve, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://hidden")
    source = python_server().replace('b"served"', "repr(sorted(os.environ.items())).encode()")

    with serve({"app.py": source}) as running:
        body = fetch(running)[1].decode()

    assert "hidden" not in body
    assert "'PORT'" in body


@linux_only
def test_two_candidates_run_beside_each_other(deployer, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text(name)

    with (
        deployer.serve(tmp_path / "one", deploy={}, is_cancelled=lambda: False) as one,
        deployer.serve(tmp_path / "two", deploy={}, is_cancelled=lambda: False) as two,
    ):
        assert fetch(one)[1] == b"one"
        assert fetch(two)[1] == b"two"


def test_report_is_plain_enough_for_json(serve):
    with serve({"index.html": "x"}) as running:
        report = running.report

    document = {name: getattr(report, name) for name in report.__slots__}
    assert json.loads(json.dumps(document))["kind"] == "static"
    assert isinstance(Path(report.commands[0]), Path)
