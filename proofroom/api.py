"""The programming interface under /api/v1: benchmarks, runs, marks, evidence and sets to be marked."""

from __future__ import annotations

import logging

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.security import django_auth

from annotation.api import router as annotation
from benchmark.api import router as benchmarks
from runs.api import router as runs

api = NinjaAPI(
    title="Proofroom",
    version="1",
    description="What pages show, as data. Lists are paged by key; errors are one sentence.",
    auth=django_auth,
    urls_namespace="api-1",
)
api.add_router("", benchmarks)
api.add_router("", runs)
api.add_router("", annotation)


@api.exception_handler(OperationalError)
def _busy(request: HttpRequest, error: OperationalError) -> HttpResponse:
    """Ask a program to come again where the database did not answer in time; nothing was half saved."""
    logging.getLogger(__name__).warning("The database refused %s: %s", request.path, error)
    sentence = "The database is busy or cannot be reached. Nothing was changed: send this again in a moment."
    answer = api.create_response(request, {"detail": sentence}, status=503)
    answer["Retry-After"] = "2"
    return answer
