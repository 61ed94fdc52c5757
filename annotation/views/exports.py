"""Download a campaign or one set, as far as the reader may see it, while it is being read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation import downloads
from annotation.downloads import ExportOptions
from annotation.export_sight import sight_on_assignment, sight_on_campaign
from annotation.exporting import ExportKind
from annotation.models import Assignment, Campaign
from people import audit


@require_safe
def export_campaign(request: HttpRequest, campaign_id: int, kind: str) -> HttpResponseBase:
    """A whole campaign, for leads; who took it is in the log."""
    wanted = _kind(kind)
    campaign = get_object_or_404(Campaign, pk=campaign_id)
    sight = sight_on_campaign(request.user, campaign)
    audit.note(request.user, "export", f"campaign:{campaign.pk}", kind=wanted.value)
    parts = downloads.campaign_parts(campaign, wanted, sight=sight, options=_options(request))
    return _file(request, parts, wanted, name=f"campaign-{campaign.pk}")


@require_safe
def export_assignment(request: HttpRequest, assignment_id: int, kind: str) -> HttpResponseBase:
    """One set: for its annotator without anything that blindness hides, for leads with everything."""
    wanted = _kind(kind)
    assignment = get_object_or_404(Assignment.objects.select_related("campaign"), pk=assignment_id)
    sight = sight_on_assignment(request.user, assignment)
    audit.note(request.user, "export", f"assignment:{assignment.pk}", kind=wanted.value, sight=sight.value)
    parts = downloads.assignment_parts(assignment, wanted, sight=sight, options=_options(request))
    return _file(request, parts, wanted, name=f"assignment-{assignment.pk}")


def _kind(kind: str) -> ExportKind:
    try:
        return ExportKind(kind)
    except ValueError:
        raise Http404 from None


def _options(request: HttpRequest) -> ExportOptions:
    return ExportOptions(
        with_bom=request.GET.get("bom") == "1",
        with_expired=request.GET.get("expired") == "1",
        is_opaque=request.GET.get("names") == "opaque",
    )


def _file(request: HttpRequest, parts: Iterator[bytes], kind: ExportKind, *, name: str) -> HttpResponseBase:
    # An asynchronous server would collect all of a plain iterator before it sends a byte.
    sent = _awaited(parts) if isinstance(request, ASGIRequest) else parts
    response = StreamingHttpResponse(sent, content_type=downloads.MEDIA_TYPES[kind])
    response["Content-Disposition"] = f'attachment; filename="{name}{downloads.SUFFIXES[kind]}"'
    response["Cache-Control"] = "private, no-store"
    return response


async def _awaited(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    following = sync_to_async(lambda: next(parts, None))
    while (part := await following()) is not None:
        yield part
