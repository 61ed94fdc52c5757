"""Messages to other sites: signed, delivered once, tried again, and never sent where they must not go."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from annotation import posting, webhooks
from annotation.jobs import deliver_until
from annotation.models import Campaign, WebhookDelivery
from annotation.posting import PostFailed, post

pytestmark = pytest.mark.django_db


class Receiver(ThreadingHTTPServer):
    """A site that keeps what it is sent and answers as it is told."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[int] = []
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.drips = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?key=1"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        if server.drips:
            self.wfile.write(b"HTTP/1.1 200")
            while not server.drips_no_more.wait(0.05):
                try:
                    self.wfile.write(b" ")
                except OSError:
                    return
            return
        status = server.answers.pop(0) if server.answers else 204
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", server.url)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def running() -> Iterator[Receiver]:
    server = Receiver()
    server.drips_no_more = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.drips_no_more.set()  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.WEBHOOKS_TO_PRIVATE = True
    with running() as server:
        yield server


def told(url: str, event: str = "submitted") -> WebhookDelivery:
    campaign = Campaign.objects.create(name="Study", webhook_url=url)
    delivery = webhooks.announce(campaign, event, {"assignment": 7})
    assert delivery is not None
    return delivery


def fresh(delivery: WebhookDelivery) -> WebhookDelivery:
    return WebhookDelivery.objects.select_related("campaign").get(pk=delivery.pk)


def its_time_has_come(delivery: WebhookDelivery) -> None:
    WebhookDelivery.objects.filter(pk=delivery.pk).update(next_at=timezone.now())


def test_a_message_is_delivered_with_a_signature_that_the_receiver_can_check(receiver):
    delivery = told(receiver.url)

    assert webhooks.deliver_due() == 1

    path, headers, body = receiver.got[0]
    secret = fresh(delivery).campaign.webhook_secret
    timestamp = headers["x-proofroom-timestamp"]
    expected = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert path == "/hook?key=1"
    assert headers["x-proofroom-signature"] == f"sha256={expected}"
    assert headers["x-proofroom-delivery"] == str(delivery.pk)
    assert headers["content-type"] == "application/json"
    assert headers["host"] == f"127.0.0.1:{receiver.server_address[1]}"
    assert abs(int(timestamp) - time.time()) < 60
    assert json.loads(body) == {
        "id": delivery.pk,
        "event": "submitted",
        "at": delivery.created_at.isoformat().replace("+00:00", "Z"),
        "campaign": {"id": delivery.campaign_id, "name": "Study"},
        "data": {"assignment": 7},
    }
    assert fresh(delivery).delivered_at is not None
    assert (fresh(delivery).next_at, fresh(delivery).problem) == (None, "")


def test_what_was_taken_is_not_sent_again(receiver):
    told(receiver.url)

    webhooks.deliver_due()
    webhooks.deliver_due()

    assert len(receiver.got) == 1


def test_campaigns_have_secrets_of_their_own_that_stay(receiver):
    first, second = told(receiver.url), told(receiver.url)
    secret = fresh(first).campaign.webhook_secret

    webhooks.announce(fresh(first).campaign, "closed", {})

    assert len(secret) == 64
    assert fresh(first).campaign.webhook_secret == secret != fresh(second).campaign.webhook_secret


def test_a_campaign_without_an_address_tells_nobody():
    assert webhooks.announce(Campaign.objects.create(name="Quiet"), "submitted", {}) is None
    assert WebhookDelivery.objects.count() == 0


def test_what_is_rolled_back_is_not_told(receiver):
    with transaction.atomic():
        told(receiver.url)
        transaction.set_rollback(True)

    assert webhooks.deliver_due() == 0
    assert receiver.got == []


def test_a_failed_delivery_is_tried_again_later_with_the_same_body_and_id(receiver):
    receiver.answers = [500]
    delivery = told(receiver.url)

    assert webhooks.deliver_due() == 0
    assert webhooks.deliver_due() == 0

    failed = fresh(delivery)
    assert failed.problem == f"127.0.0.1:{receiver.server_address[1]} answered HTTP 500."
    assert failed.next_at is not None
    assert failed.next_at > timezone.now()
    its_time_has_come(delivery)
    assert webhooks.deliver_due() == 1
    (_, first, body), (_, second, again) = receiver.got
    assert body == again
    assert first["x-proofroom-delivery"] == second["x-proofroom-delivery"]
    assert fresh(delivery).problem == ""


def test_a_message_is_given_up_after_nearly_a_day_with_its_reason(receiver):
    receiver.answers = [503] * 20
    delivery = told(receiver.url)

    attempts = 0
    while fresh(delivery).next_at is not None:
        its_time_has_come(delivery)
        webhooks.deliver_due()
        attempts += 1

    assert timedelta(hours=20) < sum(webhooks.WAITS, timedelta()) <= timedelta(days=1)
    assert attempts == len(webhooks.WAITS) + 1 == len(receiver.got)
    assert fresh(delivery).problem.startswith("Given up after 10 attempts: 127.0.0.1")
    assert fresh(delivery).problem.endswith("answered HTTP 503.")


def test_what_was_given_up_can_be_put_in_line_again_and_is_shown(receiver):
    receiver.answers = [503]
    delivery = told(receiver.url)
    WebhookDelivery.objects.filter(pk=delivery.pk).update(next_at=None, attempts=10, problem="Given up.")
    receiver.answers = []

    out = StringIO()
    call_command("webhooks", str(delivery.campaign_id), "--again", "--json", stdout=out)

    document = json.loads(out.getvalue())
    assert (document["again"], document["delivered"]) == (1, 1)
    assert document["deliveries"][0]["delivered_at"] is not None
    assert len(receiver.got) == 1


def test_a_redirect_is_not_followed(receiver):
    receiver.answers = [302]
    delivery = told(receiver.url)

    webhooks.deliver_due()

    assert len(receiver.got) == 1
    assert "redirect (302), which is not followed" in fresh(delivery).problem


def test_a_receiver_that_answers_too_slowly_is_left_alone(receiver):
    receiver.drips = True

    with pytest.raises(PostFailed, match=r"did not answer within 0\.5 s"):
        post(receiver.url, b"{}", headers={}, to_private=True, seconds=0.5)


def test_a_receiver_that_is_not_there_is_a_sentence():
    with running() as gone:
        url = gone.url

    with pytest.raises(PostFailed, match=r"cannot be reached: Connection refused\."):
        post(url, b"{}", headers={}, to_private=True, seconds=5)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here to make a certificate with")
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    key: list[str | Path] = ["-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "key.pem"]
    subprocess.run(
        ["openssl", "req", "-x509", *key, "-out", tmp_path / "cert.pem", *name],
        check=True,
        capture_output=True,
    )
    return tmp_path / "cert.pem"


def test_over_https_the_certificate_is_checked(receiver, certificate, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
    url = f"https://localhost:{receiver.server_address[1]}/"

    with pytest.raises(PostFailed, match="certificate verify failed"):
        post(url, b"{}", headers={}, to_private=True, seconds=20)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    post(url, b"{}", headers={}, to_private=True, seconds=20)

    assert [body for _, _, body in receiver.got] == [b"{}"]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/",
        "http://localhost:9/",
        "http://[::1]:9/",
        "http://10.1.2.3/",
        "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:127.0.0.1]:9/",
        "http://0.0.0.0:9/",
        "http://2130706433:9/",
        "http://127.1:9/",
    ],
)
def test_an_address_inside_a_private_network_is_refused_and_not_tried_again(url):
    delivery = told(url)

    webhooks.deliver_due()

    assert "an address inside a private network" in fresh(delivery).problem
    assert "PROOFROOM_WEBHOOKS_TO_PRIVATE=True" in fresh(delivery).problem
    assert fresh(delivery).next_at is None


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.org/", "must begin with https:// or http://"),
        ("file:///etc/passwd", "must begin with https:// or http://"),
        ("http://user:word@example.org/", "holds a user name"),
        ("http://example.org:99999/", "is not an address"),
    ],
)
def test_only_plain_web_addresses_are_taken(url, said):
    with pytest.raises(PostFailed, match=said) as refused:
        post(url, b"{}", headers={}, to_private=True, seconds=1)

    assert not refused.value.may_repeat


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.1.1", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:10.0.0.1",
        "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1",
    ],
)  # fmt: skip
def test_private_addresses_are_known_in_whatever_they_are_wrapped(text):
    assert not posting.is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are_let_through(text):
    assert posting.is_public(ipaddress.ip_address(text))


def test_the_address_that_was_looked_at_is_the_one_that_is_connected_to(receiver, monkeypatch):
    # A name that answers differently each time it is asked, as a rebinding attack has it.
    port = receiver.server_address[1]
    asked: list[str] = []
    known = socket.getaddrinfo

    def rebinding(host: Any, *rest: Any, **more: Any) -> Any:
        if host == "rebinding.test":
            asked.append(host)
            host = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return known(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)

    post(f"http://rebinding.test:{port}/", b"{}", headers={}, to_private=True, seconds=20)

    assert len(asked) == 1
    assert receiver.got[0][1]["host"] == f"rebinding.test:{port}"


@pytest.mark.django_db(transaction=True)
def test_a_worker_delivers_beside_its_other_work(receiver, settings):
    settings.SWEEP_SECONDS = 0.05
    delivery = told(receiver.url)
    stopping = threading.Event()
    worker = threading.Thread(target=deliver_until, args=(stopping,))
    worker.start()
    end = time.monotonic() + 60
    while fresh(delivery).delivered_at is None and time.monotonic() < end:
        time.sleep(0.05)
    stopping.set()
    worker.join()

    assert fresh(delivery).delivered_at is not None
    assert len(receiver.got) == 1


@pytest.mark.django_db(transaction=True)
def test_of_several_workers_one_delivers(receiver):
    for _ in range(10):
        told(receiver.url)
    workers = [threading.Thread(target=_deliver_and_close) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert len(receiver.got) == 10


def _deliver_and_close() -> None:
    from django.db import connection

    webhooks.deliver_due()
    connection.close()
