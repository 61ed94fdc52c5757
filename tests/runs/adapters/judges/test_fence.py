"""The page under test reaches its own origin and nothing else, whatever it tries."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import pytest

from benchmark.rules.vocabulary import Mark
from runs.adapters.judges.scripted.fence import Fence
from runs.ports import EvidenceKind
from tests.runs.adapters.judges.conftest import Site, serving

_TRIES = """<h1>Hi</h1><p id="done"></p><form id="post" method="post" target="frame" action="$A"></form><iframe name="frame"></iframe>
<script type="module">
const seen = [];
for (const url of $ALL) {
  try { await fetch(url, {mode: "no-cors"}); seen.push("reached " + url); } catch {}
  await new Promise(done => { const i = new Image(); i.onload = () => { seen.push("image " + url); done(); }; i.onerror = done; i.src = url; });
  await new Promise(done => { const w = new WebSocket(url.replace("http", "ws")); w.onopen = () => { seen.push("socket " + url); done(); }; w.onerror = done; });
}
document.querySelector("#post").submit();
navigator.sendBeacon("$A");
const link = document.createElement("link"); link.rel = "preconnect"; link.href = "$A"; document.head.append(link);
const peer = new RTCPeerConnection({iceServers: [{urls: "turn:127.0.0.1:$RAW?transport=tcp", username: "a", credential: "b"},
                                                 {urls: "stun:127.0.0.1:$UDP"}]});
peer.createDataChannel("x"); await peer.setLocalDescription(await peer.createOffer());
await new Promise(done => setTimeout(done, 1000));
document.querySelector("#done").textContent = seen.join() || "nothing reached";
</script>
<button onclick="window.open('$A')">Popup</button>"""  # fmt: skip


@pytest.fixture
def listener() -> Iterator[tuple[int, int, list[bytes]]]:
    """A TCP and a UDP port of this machine, and what arrived there."""
    arrived: list[bytes] = []
    tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))

    def accept() -> None:
        try:
            while True:
                tcp.accept()[0].close()
                arrived.append(b"tcp")
        except OSError:
            return

    def receive() -> None:
        try:
            while True:
                arrived.append(udp.recv(100))
        except OSError:
            return

    for work in (accept, receive):
        threading.Thread(target=work, daemon=True).start()
    yield tcp.getsockname()[1], udp.getsockname()[1], arrived
    for each in (tcp, udp):
        each.shutdown(socket.SHUT_RDWR) if each is tcp else None
        each.close()


@pytest.mark.browser
def test_no_other_port_of_this_machine_is_reached(outcome_of, site: Site, listener):
    tcp, udp, arrived = listener
    other = Site(pages={"/": "<h1>Other</h1>"})
    with serving(other):
        hosts = (
            "127.0.0.1",
            "localhost",
            "[::1]",
            "candidate.localhost",
            "other.localhost",
            "0.0.0.0",
            "127.1",
        )
        addresses = [f"http://{host}:{other.port}/" for host in hosts]
        page = (
            _TRIES.replace("$ALL", json.dumps(addresses))
            .replace("$A", addresses[0])
            .replace("$RAW", str(tcp))
            .replace("$UDP", str(udp))
        )

        outcome = outcome_of(
            page,
            {"expect_text": "#done", "equals": "nothing reached", "timeout": 20},
            {"click": "button"},
            {"wait": 300},
            {"expect_no_console_error": True},
        )

        assert outcome.mark is Mark.PASS, outcome.rationale
        assert other.requests == []
    assert arrived == []
    network = json.loads(next(p for p in outcome.evidence if p.kind is EvidenceKind.NETWORK).content)
    refused = [entry for entry in network["entries"] if entry["blocked"]]
    assert network["blocked"] >= 3 * len(addresses)
    assert {entry["type"] for entry in refused} >= {"fetch", "image", "websocket", "document"}
    assert all(entry["failure"] for entry in refused if entry["type"] in {"fetch", "image"})


@pytest.mark.browser
def test_the_candidates_own_origin_works_as_a_secure_context(outcome_of, site: Site):
    site.pages["/data"] = (200, {"Content-Type": "text/plain"}, b"from the server")

    outcome = outcome_of(
        """<p id="seen"></p><script>(async () => {
        const data = await (await fetch("/data")).text();
        const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(3));
        localStorage.setItem("a", "b");
        const workers = await navigator.serviceWorker?.register("/sw.js").then(() => "worker", () => "no worker");
        seen.textContent = `${data}, ${digest.byteLength}, ${isSecureContext}`;
        })()</script>""",
        {"expect_text": "#seen", "equals": "from the server, 32, true"},
    )

    assert outcome.mark is Mark.PASS, outcome.rationale


def test_fence_knows_its_own_addresses():
    fence = Fence(port=4321)

    own = [
        "http://candidate.localhost:4321/a?b#c",
        "ws://candidate.localhost:4321/",
        "about:blank",
        "data:,x",
    ]
    foreign = [
        "http://candidate.localhost:4322/",
        "https://candidate.localhost:4321/",
        "http://candidate.localhost.example:4321/",
        "http://candidate.localhost:4321.example/",
        "http://127.0.0.1:4321/",
        "http://user@candidate.localhost:99999/",
        "file:///etc/passwd",
    ]
    assert [url for url in own if not fence.is_own(url)] == []
    assert [url for url in foreign if fence.is_own(url)] == []
    assert [url for url in foreign if not fence.foreign.search(url)] == []
    assert not fence.foreign.search("http://candidate.localhost:4321")
