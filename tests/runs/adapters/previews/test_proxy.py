"""Each preview answers on its own host through a real server, and the site answers on no such host."""

import asyncio
import contextlib
import http.client
import socket
import sys
import textwrap
import threading
import time

import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from runs.adapters.deployers import Limits, LocalDeployer
from runs.adapters.previews import PreviewProxy, PreviewState
from runs.adapters.sandboxes import ProcessSandbox
from runs.adapters.sandboxes.listening import free_port
from tests.runs.adapters.previews.one_level import OneLevel

SITE = "site.localhost:8000"
APPLICATION = """
    import asyncio, contextlib, json, os
    import uvicorn

    left = []

    async def application(scope, receive, send):
        if scope["type"] == "lifespan":
            while True:
                message = await receive()
                await send({"type": message["type"] + ".complete"})
                if message["type"] == "lifespan.shutdown":
                    return
        if scope["type"] == "websocket":
            return await talk(scope, receive, send)
        path = scope["raw_path"].decode()
        body = b""
        if path == "/echo":
            while True:
                message = await receive()
                body += message.get("body", b"")
                if not message.get("more_body"):
                    break
        headers = [(b"content-type", b"application/json")]
        if path == "/harm":
            headers += [(b"x-frame-options", b"DENY"), (b"clear-site-data", b'"cookies"'),
                        (b"set-cookie", b"a=1; Domain=site.localhost"), (b"set-cookie", b"b=2"),
                        (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'")]
        if path == "/die":
            os._exit(1)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if path == "/stream":
            while not left:
                await send({"type": "http.response.body", "body": b"tick\\n", "more_body": True})
                with contextlib.suppress(TimeoutError):
                    message = await asyncio.wait_for(receive(), 0.1)
                    if message["type"] == "http.disconnect":
                        left.append(True)
            return
        if path == "/half":
            await send({"type": "http.response.body", "body": b"half", "more_body": True})
            os._exit(1)
        seen = {"path": path, "left": bool(left), "query": scope["query_string"].decode(), "size": len(body),
                "headers": [[n.decode(), v.decode()] for n, v in scope["headers"]]}
        await send({"type": "http.response.body", "body": json.dumps(seen).encode()})

    async def talk(scope, receive, send):
        await receive()
        if scope["path"] == "/refused":
            return await send({"type": "websocket.close"})
        await send({"type": "websocket.accept", "subprotocol": (scope["subprotocols"] or [None])[0]})
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                return
            if message.get("text") == "close":
                return await send({"type": "websocket.close", "code": 4001, "reason": "enough"})
            if message.get("text") == "headers":
                names = dict(scope["headers"])
                text = json.dumps([names[b"host"].decode(), names.get(b"origin", b"").decode(),
                                   names.get(b"cookie", b"").decode(), scope["query_string"].decode()])
                await send({"type": "websocket.send", "text": text})
            elif message.get("bytes") is not None:
                await send({"type": "websocket.send", "bytes": message["bytes"][::-1]})
            else:
                await send({"type": "websocket.send", "text": "echo " + message["text"]})

    uvicorn.run(application, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")
    """


async def site(scope, receive, send):
    """Stand in for the site: says that it is the site."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "the site"})
        await send({"type": "websocket.close", "code": 1000})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the site"})


@pytest.fixture(scope="module")
def manager(tmp_path_factory):
    place = tmp_path_factory.mktemp("previews")
    deployer = LocalDeployer(
        sandbox=ProcessSandbox(), scratch=place / "s", cache=place / "c", limits=Limits(start=30)
    )
    manager = OneLevel(deployer, scratch=place / "s", per_owner=20, at_once=20, idle_seconds=300)
    yield manager
    manager.stop_all()


@pytest.fixture(scope="module")
def port(manager):
    """The port of a real server that serves previews and site."""
    port = free_port()
    proxy = PreviewProxy(site, manager, site_host=SITE)
    config = uvicorn.Config(
        proxy,
        host="127.0.0.1",
        port=port,
        log_level="critical",
        lifespan="off",
        ws="websockets-sansio",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)

    async def serve():
        await server.serve()
        await proxy.aclose()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield port
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def started(manager):
    """Start the application, or files; answers the preview once it is in the wanted state."""

    def start(files=None, *, state=PreviewState.RUNNING, deploy=None):
        files = files or {"app.py": APPLICATION}

        def fill(folder):
            for name, text in files.items():
                (folder / name).write_text(textwrap.dedent(text))

        preview = manager.begin(
            fill, deploy or {"start": f"{sys.executable} app.py"}, key=str(time.monotonic_ns()), owner="ada"
        )
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline and manager.find(preview.host_key).state is not state:
            time.sleep(0.05)
        assert manager.find(preview.host_key).state is state
        return f"{preview.host_key}.{SITE}"

    return start


@pytest.fixture(scope="module")
def app(manager, port):
    """The host of one application that many tests look at."""
    preview = manager.begin(
        lambda folder: (folder / "app.py").write_text(textwrap.dedent(APPLICATION)),
        {"start": f"{sys.executable} app.py"},
        key="shared",
        owner="ada",
    )
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline and manager.find(preview.host_key).state is not PreviewState.RUNNING:
        time.sleep(0.05)
    return f"{preview.host_key}.{SITE}"


def ask(port, host, path="/", *, method="GET", body=None, **headers):
    given = {"Host": host} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
    with contextlib.closing(connection):
        connection.request(method, path, body=body, headers=given)
        with connection.getresponse() as answer:
            return answer, answer.read()


def test_preview_answers_on_its_host_and_the_site_on_its_own(port, app):
    assert ask(port, SITE)[1] == b"the site"
    assert b'"path": "/shop"' in ask(port, app, "/shop")[1]


def test_host_is_compared_without_case_port_and_final_dot(port, app):
    name = app.partition(":")[0]

    for host in (name.upper(), f"{name}.", f"{name}:80"):
        assert b'"path"' in ask(port, host)[1]


@pytest.mark.parametrize(
    "host",
    [
        f"p-{'a' * 26}.{SITE}",
        f"p-short.{SITE}",
        f"other.{SITE}",
        f"p-{'a' * 26}.deeper.{SITE}",
        f".{SITE}",
    ],
)
def test_unknown_host_below_the_site_says_that_the_preview_has_ended(port, host):
    answer, text = ask(port, host)

    assert answer.status == 404
    assert b"This preview has ended" in text
    assert b"start the preview again" in text
    assert b"the site" not in text
    assert answer.headers["Cache-Control"] == "no-store"


def test_stopped_preview_says_that_it_has_ended(port, started, manager):
    host = started({"index.html": "one"}, deploy={"kind": "static"})
    assert ask(port, host)[1] == b"one"

    manager.stop(host.partition(".")[0])
    deadline = time.monotonic() + 10
    while ask(port, host)[0].status != 404 and time.monotonic() < deadline:
        time.sleep(0.1)

    assert b"This preview has ended" in ask(port, host)[1]


def test_starting_preview_says_so_and_is_asked_again(port, started):
    host = started({"app.py": "import time; time.sleep(60)"}, state=PreviewState.STARTING)

    answer, text = ask(port, host)

    assert answer.status == 503
    assert b"is starting" in text
    assert answer.headers["Refresh"] == "2"


def test_failed_preview_shows_its_log_as_text_alone(port, started):
    host = started({"app.py": "raise SystemExit('<script>alert(1)</script>')"}, state=PreviewState.FAILED)

    answer, text = ask(port, host)

    assert answer.status == 502
    assert b"The application does not run" in text
    assert b"&lt;script&gt;alert(1)" in text
    assert b"<script>" not in text


def test_path_and_query_arrive_as_they_were_sent(port, app):
    text = ask(
        port,
        app,
        "/a%2Fb/%7E%C3%BC?q=a+b%20c&x=[1]",
    )[1]

    assert b'"path": "/a%2Fb/%7E%C3%BC"' in text
    assert b'"query": "q=a+b%20c&x=[1]"' in text


def test_application_never_sees_cookies_or_hosts_of_the_site(port, app):
    text = ask(
        port,
        app,
        Cookie="__Host-sessionid=secret; cart=3",
        X_Forwarded_Host="outer.example",
        Origin=f"http://{app}",
    )[1].decode()

    assert "secret" not in text
    assert "outer.example" not in text
    assert "p-" not in text
    assert '["cookie", "cart=3"]' in text
    assert '["origin", "http://127.0.0.1:' in text


def test_harmful_headers_do_not_reach_the_visitor(port, app):
    answer, _ = ask(port, app, "/harm")

    assert answer.headers["X-Frame-Options"] is None
    assert answer.headers["Clear-Site-Data"] is None
    assert answer.headers["Content-Security-Policy"] == "default-src 'self'"
    assert answer.headers["Origin-Agent-Cluster"] == "?1"
    assert answer.headers.get_all("Set-Cookie") == ["a=1", "b=2"]


def test_cookies_of_one_visitor_are_not_sent_for_another(port, app):
    ask(port, app, "/harm")

    assert b'"cookie"' not in ask(port, app, "/")[1]


def test_large_upload_is_passed_on_piece_by_piece(port, app):
    def pieces():
        for _ in range(64):
            yield b"x" * 65536

    sized = ask(port, app, "/echo", method="POST", body=b"y" * 3_000_000)[1]
    chunked = ask(port, app, "/echo", method="POST", body=pieces())[1]

    assert b'"size": 3000000' in sized
    assert b'"size": 4194304' in chunked


def test_stream_arrives_as_it_is_written_and_ends_when_the_visitor_leaves(port, started, manager):
    host = started()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
    connection.request("GET", "/stream", headers={"Host": host})
    answer = connection.getresponse()

    first = answer.fp.readline() + answer.fp.readline()
    answer.close()
    connection.close()

    assert b"tick" in first
    deadline = time.monotonic() + 10
    while b'"left": true' not in ask(port, host)[1]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_application_that_dies_on_a_request_gives_our_own_page(port, started):
    host = started()

    answer, text = ask(port, host, "/die")

    assert answer.status == 502
    assert b"The application did not answer" in text


def test_answer_broken_off_in_the_middle_is_not_made_to_look_whole(port, started):
    host = started()

    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        ask(port, host, "/half")


def test_head_request_has_no_body(port):
    answer, text = ask(port, f"p-{'a' * 26}.{SITE}", method="HEAD")

    assert (answer.status, text) == (404, b"")


def test_request_with_two_hosts_is_nobodys(port, app):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(f"GET / HTTP/1.1\r\nHost: {app}\r\nHost: {SITE}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        with contextlib.suppress(TimeoutError):
            while chunk := raw.recv(65536):
                answer += chunk

    assert b"the site" not in answer
    assert b'"path"' not in answer


def socket_to(port, host, path="/", **options):
    return connect(
        f"ws://{host}{path}", sock=socket.create_connection(("127.0.0.1", port)), proxy=None, **options
    )


def test_web_socket_carries_text_and_bytes_both_ways(port, app):
    with socket_to(
        port,
        app,
        "/talk?room=1",
        subprotocols=["chat"],
        origin=f"http://{app}",
        additional_headers={"Cookie": "__Host-sessionid=secret; cart=3"},
    ) as talk:
        talk.send("hello")
        text = talk.recv(timeout=10)
        talk.send(b"\x01\x02")
        raw = talk.recv(timeout=10)
        talk.send("headers")
        headers = talk.recv(timeout=10)

        assert (text, raw, talk.subprotocol) == ("echo hello", b"\x02\x01", "chat")
        assert "secret" not in headers
        assert "p-" not in headers
        assert '"cart=3"' in headers
        assert '"room=1"' in headers


def test_web_socket_closed_by_the_application_closes_with_its_code(port, app):
    with socket_to(port, app) as talk:
        talk.send("close")
        with pytest.raises(ConnectionClosed):
            talk.recv(timeout=10)

        assert (talk.close_code, talk.close_reason) == (4001, "enough")


def test_web_socket_that_the_application_refuses_is_refused(port, app):
    with pytest.raises(InvalidStatus), socket_to(port, app, "/refused"):
        pass


def test_web_socket_of_an_ended_preview_never_reaches_the_site(port):
    with pytest.raises(InvalidStatus), socket_to(port, f"p-{'a' * 26}.{SITE}"):
        pass

    with socket_to(port, SITE) as talk:
        assert talk.recv(timeout=10) == "the site"
