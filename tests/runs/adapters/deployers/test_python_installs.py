"""Python packages of a candidate, from indexes on disk and over HTTP that work, refuse, or fail."""

import base64
import contextlib
import hashlib
import http.server
import threading
import urllib.request
import zipfile

import pytest

from runs.adapters.deployers import LocalDeployer, python_installs
from runs.adapters.deployers.deployment import Limits
from runs.adapters.deployers.index_trouble import index_trouble, page_trouble
from runs.adapters.deployers.local_indexes import linked_folders
from runs.errors import StageError
from runs.ports import CandidateBroken

APPLICATION = """
import http.server, os, tiny_words
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(tiny_words.SAID)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Page).serve_forever()
"""
INSTALLERS = [
    "pip",
    pytest.param("uv", marks=pytest.mark.skipif(not python_installs._uv(), reason="no uv here")),
]


def wheel(folder):
    """Write a package of one module, as small as a wheel can be."""
    contents = {
        "tiny_words.py": b"SAID = b'tiny'\n",
        "tiny_words-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tiny-words\nVersion: 1.0\n",
        "tiny_words-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        b"Tag: py3-none-any\n",
    }
    rows = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in contents.items()]
    rows.append("tiny_words-1.0.dist-info/RECORD,,")
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "tiny_words-1.0-py3-none-any.whl", "w") as packed:
        for name, data in contents.items():
            packed.writestr(name, data)
        packed.writestr("tiny_words-1.0.dist-info/RECORD", "\n".join(rows) + "\n")


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture
def install(tmp_path, bubblewrap, monkeypatch):
    """Serve a candidate with one requirement, installed from one index."""

    @contextlib.contextmanager
    def served(index, *, by="pip", requirement="tiny-words==1.0"):
        if by == "pip":
            monkeypatch.setattr(python_installs, "_uv", lambda: None)
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PIP_INDEX_URL", index)
        monkeypatch.setenv("UV_DEFAULT_INDEX", index)
        monkeypatch.setenv("PIP_RETRIES", "1")
        candidate = tmp_path / "candidate"
        candidate.mkdir()
        (candidate / "requirements.txt").write_text(requirement + "\n")
        (candidate / "app.py").write_text(APPLICATION)
        deployer = LocalDeployer(
            sandbox=bubblewrap,
            scratch=tmp_path / "scratch",
            cache=tmp_path / "cache",
            limits=Limits(start=30, install=120),
        )
        with deployer.serve(candidate, deploy={}, is_cancelled=lambda: False) as running:
            yield running

    return served


@pytest.fixture
def index():
    """An index over HTTP that answers everything with one status, or cuts every connection."""
    servers = []

    def started(status):
        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if status is not None:
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                self.close_connection = True

            def log_message(self, *said):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/simple"

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def mirror(tmp_path):
    """An index on this disk whose files lie beside it, as mirrors keep them."""
    wheel(tmp_path / "mirror" / "files" / "ti")
    page = tmp_path / "mirror" / "simple" / "tiny-words" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(
        '<a href="../../files/ti/tiny_words-1.0-py3-none-any.whl">tiny_words-1.0-py3-none-any.whl</a>'
    )
    return tmp_path / "mirror" / "simple"


@pytest.mark.parametrize("by", INSTALLERS)
def test_a_package_is_installed_from_a_mirror_on_disk_whose_files_lie_beside_it(install, mirror, by):
    with install(mirror.as_uri(), by=by) as running, urllib.request.urlopen(running.address) as answer:
        assert answer.read() == b"tiny"


def test_files_of_a_mirror_are_found_where_its_links_lead_and_a_home_never_is(mirror, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "wheels").mkdir(parents=True)
    links = tmp_path / "links.html"
    links.write_text(
        '<a href="home/wheels/a.whl">a</a> <a href="https://example.org/b.whl">b</a> <a href="c.whl">'
    )
    monkeypatch.setenv("HOME", str(home))

    assert linked_folders(mirror) == (mirror.parent / "files",)
    assert linked_folders(links) == ()
    assert linked_folders(tmp_path / "none") == ()


@pytest.mark.parametrize("status", [503, None], ids=["answers 503", "cuts connections"])
@pytest.mark.parametrize("by", INSTALLERS)
def test_an_index_that_fails_is_not_the_candidates_fault(install, index, status, by):
    with pytest.raises(StageError, match="The Python package index"), install(index(status), by=by):
        pass


def test_a_package_that_does_not_exist_is_the_candidates_fault(install, index):
    with (
        pytest.raises(CandidateBroken, match=r"Installing requirements.txt failed with exit code 1"),
        install(index(404)),
    ):
        pass


def test_a_package_of_a_host_that_no_index_lies_on_is_the_candidates_own_risk(install, mirror):
    elsewhere = "tiny-words @ https://nowhere.invalid/tiny_words-1.0-py3-none-any.whl"

    with pytest.raises(CandidateBroken), install(mirror.as_uri(), requirement=elsewhere):
        pass


RETRYING = "WARNING: Retrying (Retry(total=0)) after connection broken by 'ReadTimeoutError(\"Read timed out.\")': /simple/x/"


@pytest.mark.parametrize(
    ("log", "gave_up", "is_ours"),
    [
        (f"{RETRYING}\nERROR: Failed building wheel for x", True, False),
        (f"{RETRYING}\nERROR: Could not find a version that satisfies the requirement x (from versions: none)", True, True),
        (RETRYING, False, True),
        ("ERROR: HTTP error 502 while getting https://files.example/x.whl", True, True),
        ("ERROR: HTTP error 404 while getting https://files.example/x.whl", True, False),
        ("error: Failed to fetch: `https://elsewhere.example/x.whl`", True, False),
        ("HTTPSConnectionPool(host='pypi.example', port=443): Max retries exceeded with url: /x", True, True),
        ("HTTPSConnectionPool(host='elsewhere.example', port=443): Max retries exceeded with url: /x", True, False),
        ("OSError('Tunnel connection failed: 403 Forbidden') (from versions: none)", True, False),
    ],
)  # fmt: skip
def test_words_of_an_installer_tell_the_indexes_trouble_from_the_candidates(log, gave_up, is_ours):
    found = index_trouble(log, hosts={"pypi.example", "files.example"}, gave_up=gave_up)

    assert (found is not None) is is_ours


def test_only_an_answer_other_than_no_such_page_is_an_indexs_trouble():
    gone = "Could not fetch URL https://pypi.example/simple/x/: 404 Client Error: Not Found for url: y - skipping"
    refused = gone.replace("404 Client Error: Not Found", "429 Client Error: Too Many Requests")

    assert page_trouble(gone, hosts={"pypi.example"}) is None
    assert page_trouble(refused, hosts={"other.example"}) is None
    assert "429" in (page_trouble(refused, hosts={"pypi.example"}) or "")
