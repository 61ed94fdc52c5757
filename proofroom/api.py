"""The programming interface under /api/v1: benchmarks, runs, marks, evidence and sets to be marked."""

from __future__ import annotations

import logging
from functools import wraps
from typing import Any

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.openapi.docs import ABS_TPL_PATH, Swagger
from ninja.security import django_auth

from annotation.api import router as annotation
from annotation.api_comments import router as comments
from annotation.api_pictures import router as pictures
from benchmark.api import router as benchmarks
from people.roles import Refused, require_reader
from people.tokens import TokenRefused, TokenScope
from proofroom.api_access import ReaderAuth, TokenAuth
from runs.api import router as runs

_programs = TokenAuth(writes=TokenScope.LAUNCH)


class _OwnDescription(Swagger):
    """The page of the description with files of this site: nothing is asked of a public server."""

    # django-ninja takes this file where it is not among the apps, and its own choice asks a CDN.
    template_cdn = str(ABS_TPL_PATH / "swagger.html")


def _readers_only(view: Any) -> Any:
    """Keep the description of the interface to those who may read runs."""

    @wraps(view, assigned=())
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            if not _programs(request) and not request.user.is_authenticated:
                return JsonResponse({"detail": "Unauthorized"}, status=401)
        except TokenRefused as refused:
            return JsonResponse({"detail": str(refused)}, status=refused.status)
        require_reader(request.user)
        answer: HttpResponse = view(request, **kwargs)
        return answer

    return checked


api = NinjaAPI(
    title="Proofroom",
    version="1",
    description="What pages show, as data. Lists are paged by key; errors are one sentence.",
    auth=[TokenAuth(writes=TokenScope.ANNOTATE), django_auth],
    urls_namespace="api-1",
    docs=_OwnDescription(),
    docs_decorator=_readers_only,
)
readers = [TokenAuth(writes=TokenScope.LAUNCH, for_readers=True), ReaderAuth()]
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


@api.exception_handler(TokenRefused)
def _token_refused(request: HttpRequest, refused: TokenRefused) -> HttpResponse:
    """Answer for a token that opens nothing, or not this."""
    answer = api.create_response(request, {"detail": str(refused)}, status=refused.status)
    if refused.status == 401:
        answer["WWW-Authenticate"] = "Bearer"
    return answer


@api.exception_handler(OperationalError)
def _busy(request: HttpRequest, error: OperationalError) -> HttpResponse:
    """Ask a program to come again where the database did not answer in time; nothing was half saved."""
    logging.getLogger(__name__).warning("The database refused %s: %s", request.path, error)
    sentence = "The database is busy or cannot be reached. Nothing was changed: send this again in a moment."
    answer = api.create_response(request, {"detail": sentence}, status=503)
    answer["Retry-After"] = "2"
    return answer
