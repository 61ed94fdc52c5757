"""Serve a screenshot that an annotator added, to that annotator and to leads."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.models import Picture
from annotation.seats import seat_of
from benchmark.serving import blob_response


@require_safe
def picture(request: HttpRequest, picture_id: int) -> HttpResponseBase:
    """The picture in our own encoding; removed ones too, so that a removal can be taken back."""
    found = get_object_or_404(Picture.objects.select_related("annotation"), pk=picture_id)
    seat_of(request.user, found.annotation.assignment_id)
    return blob_response(found.digest, media_type=found.media_type, name=f"picture-{found.pk}")
