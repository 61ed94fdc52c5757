"""Say in one sentence why somebody was not signed in through the provider."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.shortcuts import render
from django.urls import reverse

from people import audit
from people.throttling import client_address

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


def refused(request: HttpRequest, sentence: str, *, reason: str = "", status: int = 403) -> HttpResponse:
    """Answer with a page of ours; the reason for programmers goes to the log of the server."""
    logging.getLogger(__name__).warning("Single sign-on was refused: %s %s", sentence, reason)
    audit.note(
        None,
        "sign_in_failed",
        "user:unknown",
        how="single sign-on",
        address=client_address(request),
        why=sentence,
    )
    context = {
        "code": status,
        "title": "Not signed in",
        "explanation": sentence,
        "way_on": reverse("sign_in"),
        "way_on_words": "Go to the sign-in page",
        "request_id": getattr(request, "request_id", ""),
    }
    return render(request, "failure.html", context, status=status)
