"""The programming interface under /api/v1: benchmarks, runs, marks and evidence."""

from __future__ import annotations

from ninja import NinjaAPI
from ninja.security import django_auth

from annotation.api_comments import router as comments
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
api.add_router("", comments)
