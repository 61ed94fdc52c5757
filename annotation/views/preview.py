"""Start, stop and watch the live application of a set; every answer is data for the pane."""

from __future__ import annotations

from dataclasses import asdict

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation import live
from annotation.live import CannotStart, LiveView
from annotation.seats import seat_of


@never_cache
@require_safe
def state(request: HttpRequest, assignment_id: int) -> JsonResponse:
    """How the application is; `active=1` says that its person is at work."""
    seat = seat_of(request.user, assignment_id)
    if request.GET.get("active") == "1":
        live.keep(seat)
    return _answer(live.view(seat))


@never_cache
@require_POST
def start(request: HttpRequest, assignment_id: int) -> JsonResponse:
    """Start the application, or come back to the one that lives."""
    try:
        return _answer(live.start(seat_of(request.user, assignment_id)))
    except CannotStart as reason:
        return _refusal(reason)


@never_cache
@require_POST
def reset(request: HttpRequest, assignment_id: int) -> JsonResponse:
    """Start it as if for the first time: a new process on a new origin."""
    try:
        return _answer(live.start_anew(seat_of(request.user, assignment_id)))
    except CannotStart as reason:
        return _refusal(reason)


@never_cache
@require_POST
def stop(request: HttpRequest, assignment_id: int) -> JsonResponse:
    """End the application with its processes."""
    return _answer(live.stop(seat_of(request.user, assignment_id)))


@never_cache
@require_safe
def logs(request: HttpRequest, assignment_id: int) -> JsonResponse:
    """What build and server wrote: the end of it, or all with `whole=1`."""
    found = live.logs(seat_of(request.user, assignment_id), whole=request.GET.get("whole") == "1")
    return JsonResponse({"logs": [asdict(log) for log in found]})


def _answer(view: LiveView) -> JsonResponse:
    return JsonResponse(asdict(view))


def _refusal(reason: CannotStart) -> JsonResponse:
    return JsonResponse({"detail": str(reason)}, status=409)
