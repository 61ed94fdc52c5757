"""Bind the site's port and run the web server with what lives beside it."""

from __future__ import annotations

import errno
import os
import socket
import sys
from types import FrameType
from urllib.parse import urlsplit

import uvicorn
from django.conf import settings

from runs import shutdown

HIGHEST_PORT = 65_535
LISTENER = "PROOFROOM_LISTENER"
# A browser keeps 180 cookies of 4 KiB a domain. Previews' scripts may set them all for the site's own, and
# only a request that is read can be answered with their end.
LARGEST_HEAD = 1 << 20
# Longer than proxies keep an idle connection (60 s is common), so that none sends a request into a closed one.
KEPT_SECONDS = 75


class PortTaken(OSError):
    """The port cannot be had; the message is one sentence with the way out."""


def listener(*, host: str, port: int, public_url: str | None) -> socket.socket:
    """Bind the port and let the settings follow from it.

    The public address decides cookies, previews and content policy, which are read once at start:
    where it differs from the environment's, this process begins anew with the bound socket.
    Raises PortTaken.
    """
    if inherited := os.environ.pop(LISTENER, ""):
        return socket.socket(fileno=int(inherited))
    if not 0 <= port <= HIGHEST_PORT:
        raise PortTaken(
            f"Port {port} does not exist; choose one from 1 to {HIGHEST_PORT}, or 0 for a free one."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        # Listening now, so that two that asked for one port do not both believe they have it.
        bound.listen(2048)
    except OSError as error:
        bound.close()
        raise PortTaken(_sentence(host, port, error)) from None
    address = public_url or _default_url(bound.getsockname()[1])
    if address.rstrip("/") != settings.PUBLIC_URL:
        bound.set_inheritable(True)
        os.environ["PROOFROOM_PUBLIC_URL"] = address
        os.environ[LISTENER] = str(bound.fileno())
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *_own_command()])
    return bound


def run_server(bound: socket.socket, *, with_worker: bool) -> None:
    """Serve until told to stop; leftovers of a stage do not keep the process from ending."""
    os.environ["PROOFROOM_EMBEDDED_WORKER"] = str(with_worker)
    server = _Server(
        uvicorn.Config(
            "proofroom.asgi:application",
            lifespan="on",
            log_config=None,  # our own format, also for what the server says
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=int(shutdown.seconds_for(0.4)),
            timeout_keep_alive=KEPT_SECONDS,
            ws="websockets-sansio",
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=LARGEST_HEAD,
        )
    )
    server.run(sockets=[bound])
    sys.stdout.flush()
    sys.stderr.flush()
    # Worker threads may be in the middle of a browser session; the database knows how to go on.
    os._exit(0 if server.started else 1)


class _Server(uvicorn.Server):
    """A server whose first signal lets go of trials at once, before its requests have ended."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        shutdown.begin()
        super().handle_exit(sig, frame)


def _default_url(port: int) -> str:
    configured = urlsplit(settings.PUBLIC_URL)
    if os.environ.get("PROOFROOM_PUBLIC_URL") and configured.port in (None, port):
        return str(settings.PUBLIC_URL)
    if configured.scheme == "https":
        return str(settings.PUBLIC_URL)
    return f"http://{configured.hostname}:{port}"


def _own_command() -> list[str]:
    # Under `python manage.py` argv[0] is the script; under the console script it is that file.
    return sys.argv


def _sentence(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is taken; choose another with --port N, or --port 0 for a free one."
    if error.errno == errno.EACCES:
        return f"Port {port} needs more rights; choose one above 1023 with --port N."
    return f"{host}:{port} cannot be listened on: {error.strerror}."
