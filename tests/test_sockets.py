"""Sockets of the site: where there is none, a visitor is refused and the log stays quiet."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.utils import timezone

from people import tokens
from people.tokens import TokenScope
from proofroom.asgi import _pages, application
from runs import consumers
from tests import campaigns, make
from tests.apart import awaited

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_socket_under_an_unknown_address_is_refused_and_raises_nothing():
    scope = {
        "type": "websocket",
        "path": "/live/nowhere/",
        "query_string": b"",
        "subprotocols": [],
        "headers": [
            (b"host", settings.SITE_HOST.encode()),
            (b"origin", settings.PUBLIC_URL.encode()),
        ],
    }

    async def answer() -> str:
        visitor = ApplicationCommunicator(application, scope)
        await visitor.send_input({"type": "websocket.connect"})
        return str((await visitor.receive_output(timeout=10))["type"])

    assert awaited(answer) == "websocket.close"


def test_a_token_opens_no_socket():
    lead, run = campaigns.lead(), make.run()
    token = tokens.make(lead, name="x", scopes=[TokenScope.READ], days=7, now=timezone.now()).text
    scope = {
        "type": "websocket",
        "path": f"/live/runs/{run.pk}/",
        "query_string": b"",
        "subprotocols": [],
        "headers": [
            (b"host", settings.SITE_HOST.encode()),
            (b"origin", settings.PUBLIC_URL.encode()),
            (b"authorization", f"Bearer {token}".encode()),
        ],
    }

    async def code() -> int:
        visitor = ApplicationCommunicator(application, scope)
        await visitor.send_input({"type": "websocket.connect"})
        await visitor.receive_output(timeout=10)
        return int((await visitor.receive_output(timeout=10))["code"])

    assert awaited(code) == consumers.REFUSED


def test_every_socket_is_one_whose_visitors_are_checked():
    # Who may listen to a run: tests/runs/test_visibility.py. A new socket belongs there and here.
    inner: Any = _pages.application_mapping["websocket"]
    while not hasattr(inner, "routes"):
        inner = getattr(inner, "application", None) or inner.inner

    assert [str(route.pattern) for route in inner.routes] == ["live/runs/<int:run_id>/", ""]
