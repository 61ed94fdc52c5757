"""The ASGI application: previews on their own hosts, live updates, and the site."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import OriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
_site = get_asgi_application()

# Below: modules that need the applications loaded.
from django.conf import settings  # noqa: E402
from django.urls import path, re_path  # noqa: E402

from annotation.jobs import deliver_until  # noqa: E402
from proofroom.bodies import largest_body  # noqa: E402
from runs import announcements, previews, shutdown  # noqa: E402
from runs.consumers import NowhereConsumer, RunConsumer  # noqa: E402
from runs.embedded import EmbeddedWorker  # noqa: E402

type Scope = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
type Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_pages = ProtocolTypeRouter(
    {
        "http": largest_body(_site),  # type: ignore[arg-type]
        "websocket": OriginValidator(
            AuthMiddlewareStack(
                # Channels' own way of routing; the stubs of Django's `path` know HTTP views alone.
                URLRouter(
                    [
                        path("live/runs/<int:run_id>/", RunConsumer.as_asgi()),  # type: ignore[list-item, arg-type]
                        re_path("", NowhereConsumer.as_asgi()),  # type: ignore[list-item, arg-type]
                    ]
                )
            ),
            [settings.PUBLIC_URL],
        ),
    }
)
_with_previews = previews.proxy(_pages)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one connection; the server's own start and end begin and stop what lives beside it."""
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
    else:
        await _with_previews(scope, receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    worker: EmbeddedWorker | None = None
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            announcements.bind_loop(asyncio.get_running_loop())
            if os.environ.get("PROOFROOM_EMBEDDED_WORKER") == "True":
                worker = EmbeddedWorker(threads=settings.WORKER_THREADS, beside=[deliver_until])
                worker.start()
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            announcements.bind_loop(None)
            await asyncio.to_thread(_stop, worker)
            await _with_previews.aclose()
            await send({"type": "lifespan.shutdown.complete"})
            return


def _stop(worker: EmbeddedWorker | None) -> None:
    seconds = shutdown.seconds_for(0.5)
    ending = threading.Thread(target=previews.stop_all, kwargs={"seconds": seconds}, daemon=True)
    ending.start()
    if worker is not None:
        worker.stop(deadline=seconds)
    ending.join(seconds)
