"""Candidates that are built and served in boxes: reached, held to their limits, and never in each other's way."""

import contextlib
import http.client
import http.server
import json
import socket
import textwrap
import time
from urllib.parse import urlsplit

import pytest

from runs.adapters.deployers import LocalDeployer, find_node
from runs.adapters.deployers.deployment import Limits
from runs.adapters.deployers.registries import npm_registries, python_registries
from runs.adapters.sandboxes import Limits as BoxLimits
from runs.adapters.sandboxes import held_commands
from runs.errors import StageError
from runs.ports import CandidateBroken, LimitKind

TOOLS = find_node()
node = pytest.mark.skipif(isinstance(TOOLS, str), reason=str(TOOLS))

SERVER = """
    import http.server, os
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"served")
    http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Page).serve_forever()
    """


def server(port="int(os.environ['PORT'])", before=""):
    return textwrap.dedent(before) + textwrap.dedent(SERVER).replace("PORT)", f"{port})")


@pytest.fixture
def notes():
    return []


@pytest.fixture
def serve(tmp_path, notes, bubblewrap):
    """Serve files given by name in a box."""

    @contextlib.contextmanager
    def served(files, *, deploy=None, name="candidate", limits=None, use=None):
        deployer = LocalDeployer(
            sandbox=bubblewrap,
            scratch=tmp_path / "scratch",
            cache=tmp_path / "cache",
            limits=limits or Limits(start=30, install=120),
            **({} if use is None else {"use": use}),
        )
        folder = tmp_path / name
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(textwrap.dedent(text))
        with deployer.serve(
            folder, deploy=deploy or {}, is_cancelled=lambda: False, contained=notes.append
        ) as running:
            yield running

    yield served
    assert held_commands() == 0
    assert not (tmp_path / "scratch").exists() or list((tmp_path / "scratch").iterdir()) == []


def fetch(running, path="/"):
    place = urlsplit(running.address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_static_folder_is_served_out_of_its_box_and_leaves_nothing(serve, notes):
    with serve({"index.html": "<h1>Shop</h1>"}) as running:
        assert fetch(running) == (200, b"<h1>Shop</h1>")
        assert running.address == f"http://127.0.0.1:{running.port}"

    (held,) = notes
    assert (held.level, held.stage) == ("bubblewrap", "serve")
    assert (held.processes_left, held.ports_left, held.files_left, held.limits_hit) == (0, (), (), ())


def test_two_applications_with_the_same_fixed_port_stand_beside_each_other_and_a_stranger(serve):
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = str(stranger.getsockname()[1])
        files = {"app.py": server(port)}

        with serve(files, name="one") as one, serve(files, name="two") as two:
            assert fetch(one) == fetch(two) == (200, b"served")
            assert len({one.port, two.port, int(port)}) == 3


def test_each_stage_says_how_it_was_held(serve, notes):
    files = {"make.py": "open('made.txt', 'w').write('built')", "app.py": server()}

    with serve(files, deploy={"install": "python -V", "build": "python make.py"}) as running:
        assert fetch(running) == (200, b"served")

    assert [held.stage for held in notes] == ["install", "build", "serve"]


def test_build_that_uses_too_much_memory_is_broken_for_that_reason(serve, notes):
    files = {"index.html": "x", "make.py": "held = []\nwhile True: held.append(bytearray(8 << 20))"}

    with (
        pytest.raises(
            CandidateBroken, match=r"The build used .* of memory, more than 150 MiB, and was ended"
        ),
        serve(files, deploy={"build": "python make.py"}, use=BoxLimits(memory_bytes=150 << 20)),
    ):
        pass

    assert [hit.kind for hit in notes[0].limits_hit] == [LimitKind.MEMORY]


def test_server_that_is_ended_at_a_limit_says_so_in_its_log(serve, notes):
    before = """
        import threading, time
        def fill():
            time.sleep(3)
            held = []
            while True: held.append(bytearray(8 << 20))
        threading.Thread(target=fill, daemon=True).start()
        """

    with serve({"app.py": server(before=before)}, use=BoxLimits(memory_bytes=150 << 20)) as running:
        deadline = time.monotonic() + 30
        while running.is_alive() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert "more than 150 MiB, and was ended" in running.server_log()

    assert [hit.kind for hit in notes[-1].limits_hit] == [LimitKind.MEMORY]


def test_install_reaches_no_port_of_this_machine_and_no_stranger(serve):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as site:
        port = site.server_port
        reach = f"""
            import socket, urllib.request
            for address in ("http://127.0.0.1:{port}/", "https://example.org/", "http://example.org/"):
                try:
                    urllib.request.urlopen(address, timeout=10)
                    print("reached", address)
                except OSError as error:
                    print("refused:", error)
            """
        files = {"reach.py": reach, "app.py": server()}

        with serve(files, deploy={"install": "python reach.py"}) as running:
            log = running.report.build_log

    assert "reached" not in log
    assert log.count("refused:") == 3
    assert log.count("403") == 2


def test_build_and_server_have_no_way_out_at_all(serve):
    files = {
        "app.py": server(),
        "make.py": "import os; print(sorted(n for n in os.environ if 'proxy' in n.lower()))",
    }

    with serve(files, deploy={"build": "python make.py"}) as running:
        assert "\n[]\n" in running.report.build_log


@node
def test_npm_package_is_installed_through_the_registry_proxy(serve, notes):
    package = {
        "name": "shop",
        "dependencies": {"is-number": "7.0.0"},
        "scripts": {"start": "node server.js"},
    }
    files = {
        "package.json": json.dumps(package),
        "server.js": "const n = require('is-number');"
        "require('http').createServer((q, r) => r.end(String(n(7)))).listen(process.env.PORT)",
    }

    try:
        with serve(files) as running:
            assert fetch(running) == (200, b"true")
            assert "added 1 package" in running.report.build_log
    except StageError as trouble:
        pytest.skip(f"the npm registry cannot be reached: {trouble}")

    assert [held.stage for held in notes] == ["install", "serve"]


def test_python_package_is_installed_through_the_registry_proxy(serve):
    before = "import itsdangerous\n"

    try:
        with serve({"requirements.txt": "itsdangerous==2.2.0\n", "app.py": server(before=before)}) as running:
            assert fetch(running) == (200, b"served")
    except StageError as trouble:
        pytest.skip(f"the Python package index cannot be reached: {trouble}")


@node
def test_link_in_place_of_the_packages_is_not_followed_by_us(serve, tmp_path):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret").write_text("secret")
    install = f"rm -rf node_modules; ln -s {tmp_path}/private node_modules"
    files = {
        "package.json": json.dumps({"name": "shop", "scripts": {"postinstall": install}}),
        "index.html": "x",
    }

    with contextlib.suppress(CandidateBroken, StageError), serve(files, deploy={"kind": "vite"}):
        pass

    assert not [path for path in (tmp_path / "cache").rglob("secret") if path.is_file()]


def test_registries_are_those_that_pip_uv_and_npm_are_configured_for(monkeypatch, tmp_path):
    (tmp_path / "wheels").mkdir()
    settings = tmp_path / "pip.conf"
    settings.write_text(
        "[global]\nindex-url = https://pip.example/simple\nextra-index-url =\n  https://more.example:8443/s\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("PIP_FIND_LINKS", f"file://{tmp_path}/wheels")
    monkeypatch.setenv("UV_INDEX", "ours=https://uv.example/simple")

    found = python_registries()

    assert {
        *("https://pip.example/simple", "https://more.example:8443/s", "https://uv.example/simple"),
    } <= set(found.addresses)
    assert {tmp_path / "wheels", settings} <= set(found.files)
    public, *_, files = [address for address in found.addresses if ".example" not in address]
    assert public.endswith("/simple")
    assert (urlsplit(files).hostname or "").startswith("files.")
    assert npm_registries("").addresses == ()
    assert npm_registries("https://npm.example/").addresses == ("https://npm.example/",)
