"""Pages for what was not found, not allowed or not foreseen; each names the request."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from people.roles import Refused, RoleMissing


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """There is nothing under this address."""
    del exception  # its text is for programmers
    return _failure(
        request,
        code=404,
        title="Nothing is here",
        explanation="This address names no page, or what it showed was removed. Nothing else is affected.",
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """This account may not see or do that; a refusal of ours says why, and what leads on."""
    if not isinstance(exception, Refused):
        return _failure(
            request,
            code=403,
            title="Not for this account",
            explanation="The account you are signed in with may not do this. Nothing was changed.",
        )
    return _failure(
        request,
        code=403,
        title="Not for this account" if isinstance(exception, RoleMissing) else "Not now",
        explanation=str(exception),
        way_on=exception.way_on,
        way_on_words=exception.way_on_words,
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form was older than the session, or came from elsewhere."""
    del reason
    return _failure(
        request,
        code=403,
        title="This form has expired",
        explanation="It was opened before you signed in, or came from another site. Nothing was changed. "
        "Go back, load the page again and repeat the last step.",
    )


def failed(request: HttpRequest) -> HttpResponse:
    """The site itself failed; what is recorded is safe."""
    return _failure(
        request,
        code=500,
        title="This page could not be made",
        explanation="The fault is in Proofroom, not in a candidate. Runs go on and everything recorded is "
        "kept. Load the page again; if it fails again, the server's log says why.",
    )


def _failure(
    request: HttpRequest,
    *,
    code: int,
    title: str,
    explanation: str,
    way_on: str = "",
    way_on_words: str = "",
) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": f"{title}. {explanation}"}, status=code)
    context = {
        "code": code,
        "title": title,
        "explanation": explanation,
        "way_on": way_on,
        "way_on_words": way_on_words,
        "request_id": getattr(request, "request_id", ""),
    }
    return render(request, "failure.html", context, status=code)
