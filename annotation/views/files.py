"""The files of a candidate: the list, and one file as text."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.filelist import file_text, files_of
from annotation.seats import seat_of


@never_cache
@require_safe
def files(request: HttpRequest, assignment_id: int) -> HttpResponse:
    """The list, as a part of the console."""
    seat = seat_of(request.user, assignment_id)
    context = {"assignment": seat.assignment, "list": files_of(seat)}
    return render(request, "annotation/components/file_list.html", context)


@never_cache
@require_safe
def file(request: HttpRequest, assignment_id: int, number: int) -> HttpResponse:
    """One file with line numbers, as a part of the console."""
    found = file_text(seat_of(request.user, assignment_id), number)
    if found is None:
        raise Http404
    return render(request, "annotation/components/file_text.html", {"file": found})
