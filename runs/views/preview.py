"""Start and stop the live preview of a round: one person, one origin of its own."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs import previews
from runs.adapters.previews import Preview, PreviewState
from runs.models import Round
from runs.visibility import require_visible


@require_POST
def start(request: HttpRequest, run_id: int, trial_id: int, number: int) -> HttpResponse:
    """Start the preview, or come back to the one that this person has.

    Readers may: to look at what was made is to read it, and each person has a few at once only.
    """
    require_visible(request.user, run_id)
    round_ = _round(run_id, trial_id, number)
    if not round_.snapshot:
        messages.info(request, f"Round {number} has no stored workspace yet, so there is nothing to preview.")
        return redirect(_place(run_id, trial_id, number))
    preview = previews.start(round_, owner=_owner(request))
    return redirect(_place(run_id, trial_id, number) + f"&preview={preview.host_key}")


@require_POST
def stop(request: HttpRequest, run_id: int, trial_id: int, number: int, host_key: str) -> HttpResponse:
    """End the preview with its processes."""
    require_visible(request.user, run_id)
    previews.stop(host_key, owner=_owner(request))
    return redirect(_place(run_id, trial_id, number) + f"&preview={host_key}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewPane:
    """What the frame's place shows: nothing yet, a start, the application, or why it is not there."""

    state: str
    host_key: str = ""
    address: str = ""
    host: str = ""
    reason: str = ""
    log: str = ""
    position: int | None = None

    @property
    def is_moving(self) -> bool:
        return self.state in (PreviewState.QUEUED, PreviewState.STARTING)


def preview_pane(request: HttpRequest, round_: Round) -> PreviewPane:
    """The preview that this person asked for in this round, or has running."""
    owner = _owner(request)
    host_key = request.GET.get("preview", "")
    found = previews.owned(host_key, owner=owner) if host_key else None
    found = found or previews.current(round_, owner=owner)
    if found is None:
        # A preview of another life of the server: its name means nothing any more.
        return PreviewPane(state=PreviewState.EXPIRED if host_key else "none")
    return _pane(found)


def _pane(preview: Preview) -> PreviewPane:
    address = previews.address(preview)
    return PreviewPane(
        state=preview.state,
        host_key=preview.host_key,
        address=address,
        host=address.partition("://")[2],
        reason=preview.reason,
        log=preview.log,
        position=preview.position,
    )


def _round(run_id: int, trial_id: int, number: int) -> Round:
    return get_object_or_404(Round, trial=trial_id, trial__run=run_id, number=number)


def _place(run_id: int, trial_id: int, number: int) -> str:
    return reverse("runs:trial", args=[run_id, trial_id]) + f"?view=preview&round={number}"


def _owner(request: HttpRequest) -> int:
    assert request.user.pk is not None
    return int(request.user.pk)
