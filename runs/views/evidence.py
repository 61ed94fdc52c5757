"""Serve a piece of evidence, or a log of a deployment, as inert bytes."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from benchmark.serving import blob_response
from runs.models import Deployment, Evidence


@require_safe
def evidence(request: HttpRequest, evidence_id: int) -> HttpResponseBase:
    """A picture or plain text is shown; everything else is a download."""
    del request
    piece = get_object_or_404(Evidence, pk=evidence_id)
    return blob_response(piece.digest, media_type=piece.media_type, name=piece.name)


@require_safe
def deployment_log(request: HttpRequest, deployment_id: int, which: str) -> HttpResponseBase:
    """The build or the server log of a deployment, whole."""
    del request
    deployment = get_object_or_404(Deployment, pk=deployment_id)
    digest = {"build": deployment.build_log, "server": deployment.server_log}.get(which, "")
    if not digest:
        raise Http404
    return blob_response(digest, media_type="text/plain", name=f"{which}.log")
