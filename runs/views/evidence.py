"""Serve a piece of evidence, or a log of a deployment, as inert bytes."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from benchmark.serving import blob_response
from people.roles import require_reader
from runs.models import Deployment, Evidence
from runs.visibility import require_visible


@require_safe
def evidence(request: HttpRequest, evidence_id: int) -> HttpResponseBase:
    """A picture or plain text is shown; everything else is a download."""
    require_reader(request.user)
    piece = get_object_or_404(
        Evidence.objects.select_related("verdict__judging__round__trial"), pk=evidence_id
    )
    require_visible(request.user, piece.verdict.judging.round.trial.run_id)
    return blob_response(piece.digest, media_type=piece.media_type, name=piece.name)


@require_safe
def deployment_log(request: HttpRequest, deployment_id: int, which: str) -> HttpResponseBase:
    """The build or the server log of a deployment, whole."""
    require_reader(request.user)
    deployment = get_object_or_404(Deployment.objects.select_related("round__trial"), pk=deployment_id)
    require_visible(request.user, deployment.round.trial.run_id)
    digest = {"build": deployment.build_log, "server": deployment.server_log}.get(which, "")
    if not digest:
        raise Http404
    return blob_response(digest, media_type="text/plain", name=f"{which}.log")
