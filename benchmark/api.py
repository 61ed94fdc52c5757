"""Benchmarks and tasks as data."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema

from benchmark.models import Benchmark, Task, candidates_of
from people.hiding import hidden_runs

router = Router(tags=["benchmarks"])


class BenchmarkOut(Schema):
    """One version of a benchmark."""

    id: int
    key: str
    version: str
    title: str
    protocol: str
    licence: str
    content_hash: str
    settings: dict[str, Any]


class BenchmarkPage(Schema):
    """A page of benchmarks; `next` is the `after` of the page behind it."""

    items: list[BenchmarkOut]
    next: int | None


class TaskOut(Schema):
    """A task in a list."""

    key: str
    title: str
    content_hash: str


class BenchmarkDetail(BenchmarkOut):
    """A benchmark with its tasks and what was mended at import."""

    description: str
    repairs: list[Any]
    candidates: list[str]
    tasks: list[TaskOut]


class OutcomeOut(Schema):
    """An expected outcome; its script is the judge's matter and is only counted here."""

    index: int
    text: str
    has_script: bool


class CriterionOut(Schema):
    """A hidden check."""

    key: str
    title: str
    kind: str
    weight: int
    needs: list[str]
    tags: list[str]
    outcomes: list[OutcomeOut]


class TaskDetail(TaskOut):
    """A task with its rubric."""

    request: str
    prd: str
    deploy: dict[str, Any]
    facts: dict[str, Any]
    criteria: list[CriterionOut]


@router.get("/benchmarks", response=BenchmarkPage)
def benchmarks(
    request: HttpRequest,
    after: int = 0,
    limit: int = Query(50, ge=1, le=200),  # type: ignore[type-arg]
) -> dict[str, Any]:
    """List benchmarks by id."""
    del request
    found = list(Benchmark.objects.filter(pk__gt=after).order_by("pk")[: limit + 1])
    return {
        "items": found[:limit],
        "next": found[limit - 1].pk if len(found) > limit else None,
    }


@router.get("/benchmarks/{benchmark_id}", response=BenchmarkDetail)
def benchmark(request: HttpRequest, benchmark_id: int) -> dict[str, Any]:
    """One benchmark with its tasks; its candidates are left out while a run of it is hidden."""
    found = get_object_or_404(Benchmark, pk=benchmark_id)
    hidden = hidden_runs(request.user)
    # The names of candidates are names of agents, and one may be hidden from this person.
    conceals = bool(hidden) and found.runs.filter(pk__in=hidden).exists()
    return BenchmarkOut.from_orm(found).dict() | {
        "description": found.description,
        "repairs": found.repairs,
        "candidates": [] if conceals else candidates_of(found),
        "tasks": list(found.tasks.order_by("position").only("key", "title", "content_hash")),
    }


@router.get("/benchmarks/{benchmark_id}/tasks/{key}", response=TaskDetail)
def task(request: HttpRequest, benchmark_id: int, key: str) -> dict[str, Any]:
    """One task with its whole rubric."""
    del request
    found = get_object_or_404(Task, benchmark_id=benchmark_id, key=key)
    spec = found.spec()
    return {
        "key": spec.key,
        "title": spec.title,
        "content_hash": found.content_hash,
        "request": spec.request,
        "prd": spec.prd,
        "deploy": spec.deploy,
        "facts": spec.facts,
        "criteria": [
            {
                "key": criterion.key,
                "title": criterion.title,
                "kind": criterion.kind,
                "weight": criterion.weight,
                "needs": list(criterion.needs),
                "tags": list(criterion.tags),
                "outcomes": [
                    {"index": index, "text": outcome.text, "has_script": outcome.script is not None}
                    for index, outcome in enumerate(criterion.outcomes)
                ],
            }
            for criterion in spec.criteria
        ],
    }
