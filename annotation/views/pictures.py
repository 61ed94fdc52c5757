"""Serve a screenshot that an annotator added, to that annotator and to leads."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.models import Picture
from benchmark.serving import blob_response
from people.roles import is_lead


@require_safe
def picture(request: HttpRequest, picture_id: int) -> HttpResponseBase:
    """The picture in our own encoding; removed ones too, so that a removal can be taken back."""
    found = get_object_or_404(Picture.objects.select_related("annotation__assignment"), pk=picture_id)
    if found.annotation.assignment.annotator_id != request.user.pk and not is_lead(request.user):
        raise PermissionDenied("This picture belongs to somebody else's set.")
    return blob_response(found.digest, media_type=found.media_type, name=f"picture-{found.pk}")
