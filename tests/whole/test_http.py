"""The site over real HTTP: a sign-in's cookies open the API, and nothing else does."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.whole import small
from tests.whole.bench import Bench
from tests.whole.published import need_chromium

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PASSWORD = "a long pass phrase"


class Visitor:
    """A person's browser as far as cookies go, or a program with a person's cookies."""

    def __init__(self, address: str) -> None:
        self.site = urlsplit(address)
        self.cookies: dict[str, str] = {}

    def ask(
        self, method: str, path: str, body: str = "", *, host: str | None = None, **headers: str
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.site.port or 80, timeout=60)
        sent = {"Host": host or self.site.netloc, "Origin": f"http://{self.site.netloc}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, path, body.encode() or None, sent)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        for line in answer.headers.get_all("Set-Cookie") or []:
            assert "Secure" in line
            assert "Domain" not in line
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        return answer, content

    def sign_in(self, name: str, password: str) -> int:
        _, form = self.ask("GET", "/sign-in/")
        fields = {"username": name, "password": password, "csrfmiddlewaretoken": token_in(form)}
        answer, _ = self.ask(
            "POST", "/sign-in/", urlencode(fields), Content_Type="application/x-www-form-urlencoded"
        )
        return answer.status

    def call(self, method: str, path: str, document: Any = None, **headers: str) -> tuple[int, Any]:
        body = "" if document is None else json.dumps(document)
        answer, content = self.ask(method, f"/api/v1{path}", body, Content_Type="application/json", **headers)
        return answer.status, json.loads(content)


def token_in(page: bytes) -> str:
    found = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found is not None
    return found[1].decode()


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Iterator[Bench]:
    need_chromium()
    folder = tmp_path_factory.mktemp("http")
    made = Bench(data=folder / "var", environment={"DJANGO_SUPERUSER_PASSWORD": PASSWORD})
    made.data.mkdir()
    pack = small.pack(folder, key="quick", scripts={"c0": small.QUICK, "c1": small.ABSENT})
    made.command("import", str(pack))
    made.command("createsuperuser", "--noinput", "--username", "curator", "--email", "")
    made.serve()
    yield made
    assert made.stop() < 10
    assert made.leftovers() == []


@pytest.fixture
def visitor(bench: Bench) -> Visitor:
    return Visitor(bench.address)


def test_a_wrong_password_gives_no_session(visitor):
    assert visitor.sign_in("curator", "guess") == 200
    assert "__Host-session" not in visitor.cookies
    assert visitor.call("GET", "/runs") == (401, {"detail": "Unauthorized"})


def test_a_run_is_launched_over_http_and_finished_by_the_worker_beside_the_server(bench, visitor):
    assert visitor.sign_in("curator", PASSWORD) == 302
    _, page = visitor.ask("GET", "/runs/")
    token = token_in(page)

    refused, _ = visitor.call("POST", "/runs", {"benchmark": "quick"})
    status, made = visitor.call("POST", "/runs", {"benchmark": "quick"}, X_CSRFToken=token)

    assert (refused, status) == (403, 201)
    bench.wait_for("select 1 from runs_run where id = ? and state = 'finished'", made["run"])
    _, marks = visitor.call("GET", f"/runs/{made['run']}/marks")
    assert [(item["criterion"], item["mark"]) for item in marks["items"]] == [("c0", "pass"), ("c1", "fail")]
    shown = [piece for item in marks["items"] for piece in item["evidence"]]
    assert {"screenshot", "actions"} <= {piece["kind"] for piece in shown}
    for piece in shown:
        answer, content = visitor.ask("GET", piece["content"])
        assert (answer.status, len(content)) == (200, piece["size"])
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert str(answer.getheader("Content-Disposition")).startswith("attachment")
    stranger, _ = Visitor(bench.address).ask("GET", shown[0]["content"])
    assert stranger.status == 401


def test_cookies_open_the_api_on_a_loopback_name_but_under_no_foreign_host(bench, visitor):
    visitor.sign_in("curator", PASSWORD)
    port = visitor.site.port

    near, _ = visitor.ask("GET", "/api/v1/runs", host=f"127.0.0.1:{port}")
    foreign, content = visitor.ask("GET", "/api/v1/runs", host="rebound.example.org")
    page, _ = visitor.ask("GET", "/runs/", host=f"127.0.0.1:{port}")

    assert (near.status, foreign.status, page.status) == (200, 421, 421)
    assert bench.address in json.loads(content)["detail"]


def test_signing_out_ends_the_session(visitor):
    visitor.sign_in("curator", PASSWORD)
    _, page = visitor.ask("GET", "/runs/")
    kept = dict(visitor.cookies)

    answer, _ = visitor.ask(
        "POST",
        "/sign-out/",
        urlencode({"csrfmiddlewaretoken": token_in(page)}),
        Content_Type="application/x-www-form-urlencoded",
    )
    visitor.cookies = kept

    assert answer.status == 302
    assert visitor.call("GET", "/runs")[0] == 401


def test_a_page_says_nothing_of_what_serves_it(visitor):
    answer, _ = visitor.ask("GET", "/sign-in/")

    assert answer.getheader("Server") is None
    assert answer.getheader("X-Request-Id")


@pytest.mark.parametrize(
    "request_line",
    [
        "GET /../../etc/passwd",
        "GET /static/../proofroom/settings.py",
        "GET /static/%2e%2e/manage.py",
        "GET //x/",
    ],
)
def test_no_path_leads_out_of_the_static_files(visitor, request_line):
    method, path = request_line.split()

    answer, content = visitor.ask(method, path)

    assert answer.status in {302, 400, 404}
    assert b"SECRET" not in content
    assert b"root:" not in content
