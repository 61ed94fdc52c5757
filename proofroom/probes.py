"""Doors for machines: is it alive, is it ready, and its numbers; under any host name, for whom they are."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST

from benchmark.blobs import BlobStoreAway
from proofroom import metrics
from proofroom.middleware import LOCAL
from proofroom.readiness import READINESS, Standing
from runs import workers
from runs.log_lines import log_words

log = logging.getLogger(__name__)

type Answer = Callable[[HttpRequest], HttpResponse]

PASSED_ON = ("X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Real-Ip", "Via")


class StoreAwayAnswered:
    """Says in one sentence that the blob store is away, on whatever page that shows."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._answer(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer 503 for a store that is away; anything else is somebody else's."""
        if not isinstance(exception, BlobStoreAway):
            return None
        log.warning("%s: %s", request.path, exception)
        return _plain(f"{exception} Nothing is lost; try again.", status=503)


def observed(answer: Answer) -> Answer:
    """Name the request in every line that it logs, and time its answer."""

    def middleware(request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        with log_words(request=getattr(request, "request_id", "-")):
            response = answer(request)
        metrics.observe(request, response, seconds=time.perf_counter() - began)
        return response

    return middleware


def probes(answer: Answer) -> Answer:
    """Answer what no person asks, before anything looks at the host name or for a session.

    A probe knows an address and no name, and has no account. It is told words, never a reason.
    """
    doors = {"/health/live": _live, "/health/ready": _ready, "/metrics": _metrics, "/metrics/queues": _queues}

    def middleware(request: HttpRequest) -> HttpResponse:
        door = doors.get(request.path)
        if door is None:
            return answer(request)
        if request.method not in ("GET", "HEAD"):
            return _plain("Only GET and HEAD.", status=405)
        response = door(request)
        response["Cache-Control"] = "no-store"
        response["X-Content-Type-Options"] = "nosniff"
        return response

    return middleware


def _live(request: HttpRequest) -> HttpResponse:
    return _plain("alive")


def _ready(request: HttpRequest) -> HttpResponse:
    standings = READINESS.standings()
    is_ready = all(standing is Standing.OK for standing in standings.values())
    words = {name: standing.value for name, standing in standings.items()}
    return JsonResponse({"ready": is_ready, **words}, status=200 if is_ready else 503)


def _metrics(request: HttpRequest) -> HttpResponse:
    if not _may_see_numbers(request):
        return _refusal()
    return HttpResponse(metrics.exposition(), content_type=CONTENT_TYPE_LATEST)


def _queues(request: HttpRequest) -> HttpResponse:
    """What waits, as a document for programs that start workers by it (one query)."""
    if not _may_see_numbers(request):
        return _refusal()
    try:
        steps = workers.steps_by_queue(now=timezone.now())
    except DatabaseError:
        return JsonResponse({"detail": "The database does not answer."}, status=503)
    queues = {
        queue.value: {"waiting": found.waiting, "running": found.running} for queue, found in steps.items()
    }
    return JsonResponse({"queues": queues})


def _refusal() -> HttpResponse:
    return _plain(
        "Numbers are for whoever has the token (PROOFROOM_METRICS_TOKEN) or comes from an allowed "
        "network (PROOFROOM_METRICS_FROM).",
        status=403,
    )


def _may_see_numbers(request: HttpRequest) -> bool:
    token = settings.METRICS_TOKEN
    given = request.headers.get("Authorization", "")
    if token and hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        return True
    try:
        peer = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    if any(request.headers.get(name) for name in PASSED_ON):
        # Of a web server before us we see its own address, whoever asked it.
        return False
    if any(peer in network for network in settings.METRICS_FROM):
        return True
    # This machine's own programs; a web server on it that passes requests on names the public host.
    return not token and peer.is_loopback and LOCAL.match(request.META.get("HTTP_HOST", "")) is not None


def _plain(text: str, *, status: int = 200) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
