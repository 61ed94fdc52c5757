"""Sockets of the site: where there is none, a visitor is refused and the log stays quiet."""

from __future__ import annotations

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings

from proofroom.asgi import application
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
