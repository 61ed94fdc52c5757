"""The static server gives right types, ranges and pages, and no file outside of its folder."""

import http.client
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runs.adapters.deployers import static_server
from runs.adapters.sandboxes.listening import free_port

PROGRAM = Path(static_server.__file__)


def started(folder, *options):
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-I", str(PROGRAM), str(folder), str(port), *options], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.05)
    raise AssertionError("The static server did not start.")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    root = tmp_path_factory.mktemp("static")
    folder = root / "site"
    (folder / "docs").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>Home</h1>")
    (folder / "docs" / "index.html").write_text("<h1>Docs</h1>")
    (folder / "two words.html").write_text("spaced")
    (folder / "numbers.bin").write_bytes(bytes(range(100)))
    (folder / "empty.css").write_text("")
    for name in ("app.mjs", "data.json", "table.csv", "logo.svg", "lib.wasm", "font.woff2", "a.webmanifest"):
        (folder / name).write_text("x")
    (root / "secret.txt").write_text("secret")
    (root / "site-beside").mkdir()
    (root / "site-beside" / "secret.txt").write_text("secret")
    (folder / "leak").symlink_to(root)
    return folder


@pytest.fixture(scope="module")
def port(site):
    server, port = started(site)
    with server:
        yield port
        server.kill()


@pytest.fixture(scope="module")
def port_with_fallback(site):
    server, port = started(site, "--fallback", "index.html")
    with server:
        yield port
        server.kill()


def ask(port, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, path, skip_host=False)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/app.mjs", "text/javascript; charset=utf-8"),
        ("/data.json", "application/json; charset=utf-8"),
        ("/table.csv", "text/csv; charset=utf-8"),
        ("/logo.svg", "image/svg+xml; charset=utf-8"),
        ("/lib.wasm", "application/wasm"),
        ("/font.woff2", "font/woff2"),
        ("/a.webmanifest", "application/manifest+json"),
        ("/numbers.bin", "application/octet-stream"),
    ],
)
def test_media_type_is_right(port, path, kind):
    answer, _ = ask(port, path)

    assert (answer.status, answer.headers["Content-Type"]) == (200, kind)


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/docs/../../secret.txt",
        "/../site-beside/secret.txt",
        "//../secret.txt",
        "/..\\secret.txt",
        "/%5c..%5csecret.txt",
        "/leak/secret.txt",
        "/leak/",
        "/index.html%00.txt",
        "/" + "a" * 5000,
        "/" + "d/" * 4000,
    ],
)
def test_no_path_leads_out_of_the_folder(port, path):
    answer, body = ask(port, path)

    assert answer.status in {400, 404, 414}
    assert b"secret" not in body


def test_names_with_blanks_and_queries_are_found(port):
    assert ask(port, "/two%20words.html?version=2")[1] == b"spaced"


def test_folder_answers_its_index_behind_a_slash(port):
    answer, _ = ask(port, "/docs?x=1")

    assert (answer.status, answer.headers["Location"]) == (301, "/docs/?x=1")
    assert ask(port, "/docs/")[1] == b"<h1>Docs</h1>"


def test_redirect_never_names_another_host(port):
    assert ask(port, "//docs")[0].headers["Location"] == "/docs/"


def test_head_answers_the_size_without_the_body(port):
    answer, body = ask(port, "/numbers.bin", method="HEAD")

    assert (answer.headers["Content-Length"], body) == ("100", b"")


@pytest.mark.parametrize(
    ("wanted", "status", "body"),
    [
        ("bytes=0-3", 206, bytes([0, 1, 2, 3])),
        ("bytes=97-", 206, bytes([97, 98, 99])),
        ("bytes=-2", 206, bytes([98, 99])),
        ("bytes=100-", 416, b""),
        ("pages=1-2", 200, bytes(range(100))),
    ],
)
def test_range_of_a_file(port, wanted, status, body):
    answer, given = ask(port, "/numbers.bin", Range=wanted)

    assert (answer.status, given) == (status, body)


def test_empty_file_is_answered(port):
    answer, body = ask(port, "/empty.css")

    assert (answer.status, body) == (200, b"")


def test_unknown_path_is_not_found_unless_a_fallback_is_asked_for(port, port_with_fallback):
    assert ask(port, "/orders/7")[0].status == 404
    assert ask(port_with_fallback, "/orders/7")[1] == b"<h1>Home</h1>"
    assert ask(port_with_fallback, "/missing.js")[0].status == 404


def test_writing_is_refused(port):
    assert ask(port, "/", method="POST")[0].status == 501
