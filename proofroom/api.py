"""The programming interface under /api/v1: benchmarks, runs, marks, evidence and sets to be marked."""

from __future__ import annotations

import logging
from functools import wraps
from typing import Any

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.security import SessionAuth, django_auth

from annotation.api import router as annotation
from annotation.api_comments import router as comments
from annotation.api_pictures import router as pictures
from benchmark.api import router as benchmarks
from people.roles import Refused, require_reader
from runs.api import router as runs
from runs.room import is_without_room


class ReaderAuth(SessionAuth):
    """The session of somebody who may read runs; annotators alone get a sentence."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        """Return the signed-in person; raises RoleMissing for an annotator alone."""
        user = super().authenticate(request, key)
        if user is not None:
            require_reader(user)
        return user


def _readers_only(view: Any) -> Any:
    """Keep the description of the interface to those who may read runs."""

    @wraps(view, assigned=())
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return JsonResponse({"detail": "Unauthorized"}, status=401)
        require_reader(request.user)
        answer: HttpResponse = view(request, **kwargs)
        return answer

    return checked


api = NinjaAPI(
    title="Proofroom",
    version="1",
    description="What pages show, as data. Lists are paged by key; errors are one sentence.",
    auth=django_auth,
    urls_namespace="api-1",
    docs_decorator=_readers_only,
)
readers = ReaderAuth()
api.add_router("", benchmarks, auth=readers)
api.add_router("", runs, auth=readers)
api.add_router("", annotation)
api.add_router("", pictures)
api.add_router("", comments)


@api.exception_handler(Refused)
def _refused(request: HttpRequest, refused: Refused) -> HttpResponse:
    """Answer a refusal with its sentence, and the address that leads on."""
    facts = {"detail": str(refused)} | ({"way_on": refused.way_on} if refused.way_on else {})
    return api.create_response(request, facts, status=403)


@api.exception_handler(OSError)
def _without_room(request: HttpRequest, error: OSError) -> HttpResponse:
    """Ask a program to come again where a file could not be stored because the disk is full."""
    if not is_without_room(error):
        raise error
    logging.getLogger(__name__).error("The disk is full: %s", request.path)
    sentence = (
        "The site's disk is full. Nothing was half stored: keep this and send it again when there is room."
    )
    answer = api.create_response(request, {"detail": sentence}, status=503)
    answer["Retry-After"] = "30"
    return answer


@api.exception_handler(OperationalError)
def _busy(request: HttpRequest, error: OperationalError) -> HttpResponse:
    """Ask a program to come again where the database did not answer in time; nothing was half saved."""
    logging.getLogger(__name__).warning("The database refused %s: %s", request.path, error)
    sentence = "The database is busy or cannot be reached. Nothing was changed: send this again in a moment."
    answer = api.create_response(request, {"detail": sentence}, status=503)
    answer["Retry-After"] = "2"
    return answer
