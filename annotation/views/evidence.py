"""What the judge recorded of an outcome, under neutral names."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.evidence import numbered, recorded, text_for
from annotation.models import Annotation
from annotation.seats import Seat, seat_of
from benchmark.serving import blob_response, text_response


@never_cache
@require_safe
def evidence(request: HttpRequest, assignment_id: int, annotation_id: int) -> HttpResponse:
    """The pictures and texts of one outcome, as a part of the console."""
    seat = seat_of(request.user, assignment_id)
    annotation = _annotation(seat, annotation_id)
    context = {
        "assignment": seat.assignment,
        "annotation": annotation,
        "recorded": recorded(seat, annotation),
    }
    return render(request, "annotation/components/recorded.html", context)


@require_safe
def piece(request: HttpRequest, assignment_id: int, annotation_id: int, number: int) -> HttpResponseBase:
    """The bytes of one piece: a picture or plain text is shown, everything else is a download."""
    seat = seat_of(request.user, assignment_id)
    found = numbered(seat, _annotation(seat, annotation_id), number)
    if found is None:
        raise Http404
    text = text_for(seat, found)
    if text is not None:
        return text_response(text)
    return blob_response(found.digest, media_type=found.media_type, name=f"evidence-{number}")


def _annotation(seat: Seat, annotation_id: int) -> Annotation:
    of = Annotation.objects.select_related("item")
    return get_object_or_404(of, pk=annotation_id, assignment=seat.assignment)
