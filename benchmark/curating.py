"""Change a benchmark that no run rests on yet: check it, hash it anew, copy it as a new version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from benchmark.models import (
    Benchmark,
    Criterion,
    ExpectedOutcome,
    Prerequisite,
    RecordedWorkspace,
    Task,
    TaskFile,
)
from benchmark.packs.checks import rubric_as_json, rubric_findings
from benchmark.packs.hashing import benchmark_hash, task_hash
from benchmark.packs.specs import FileRole
from benchmark.protocols import protocol


def uploads_of(task: Task) -> list[str]:
    """Return the names under which scripts know a task's uploads, such as `uploads/a.csv`."""
    return [
        f"uploads/{path}" for path in task.files.filter(role=FileRole.UPLOADS).values_list("path", flat=True)
    ]


def rubric_problems(task: Task) -> list[str]:
    """Return a sentence for everything that an import would refuse in a task's rubric."""
    rubric = rubric_as_json(task.spec().criteria)
    findings = rubric_findings(rubric, protocol=protocol(task.benchmark.protocol), uploads=uploads_of(task))
    return [finding.text for finding in findings]


@transaction.atomic
def hash_anew(benchmark: Benchmark) -> str:
    """Bring the content hashes of a benchmark and its tasks up to date; return the benchmark's."""
    hashes: list[str] = []
    for task in benchmark.tasks.all():
        files = task.files.values_list("role", "path", "digest")
        content_hash = task_hash(task.spec(), files)
        if content_hash != task.content_hash:
            Task.objects.filter(pk=task.pk).update(content_hash=content_hash)
        hashes.append(content_hash)
    content_hash = benchmark_hash(benchmark.protocol, benchmark.settings, hashes)
    Benchmark.objects.filter(pk=benchmark.pk).update(content_hash=content_hash)
    benchmark.content_hash = content_hash
    return content_hash


@transaction.atomic
def copy_as_new_version(benchmark: Benchmark) -> Benchmark:
    """Return a copy under the next free version, which may be changed until a run rests on it."""
    tasks = list(benchmark.tasks.all())
    copy = Benchmark.objects.create(
        key=benchmark.key,
        version=next_version(benchmark),
        title=benchmark.title,
        description=benchmark.description,
        protocol=benchmark.protocol,
        licence=benchmark.licence,
        source=benchmark.source,
        settings=benchmark.settings,
        repairs=benchmark.repairs,
        content_hash=benchmark.content_hash,
    )
    for task in tasks:
        _copy_task(task, copy)
    return copy


def next_version(benchmark: Benchmark) -> str:
    """Return the version with its last number raised until it is free: 1 → 2, 1.3 → 1.4, beta → beta-2."""
    taken = set(Benchmark.objects.filter(key=benchmark.key).values_list("version", flat=True))
    match = re.fullmatch(r"(.*?)(\d+)", benchmark.version)
    stem, number = (match[1], int(match[2])) if match else (f"{benchmark.version[:28]}-", 1)
    while (version := f"{stem}{number + 1}") in taken:
        number += 1
    return version


def _copy_task(task: Task, copy: Benchmark) -> None:
    criteria = list(task.criteria.all())
    outcomes = list(ExpectedOutcome.objects.filter(criterion__task=task))
    edges = list(Prerequisite.objects.filter(criterion__task=task))
    files = list(task.files.all())
    workspaces = list(RecordedWorkspace.objects.filter(task=task))
    new_task = _fresh(task, benchmark=copy)
    new_task.save()
    old_keys = [criterion.pk for criterion in criteria]
    made = Criterion.objects.bulk_create(
        [_fresh(criterion, task=new_task) for criterion in criteria], batch_size=1000
    )
    by_old = dict(zip(old_keys, made, strict=True))
    ExpectedOutcome.objects.bulk_create(
        [_fresh(outcome, criterion=by_old[outcome.criterion_id]) for outcome in outcomes], batch_size=1000
    )
    Prerequisite.objects.bulk_create(
        [Prerequisite(criterion=by_old[edge.criterion_id], needs=by_old[edge.needs_id]) for edge in edges],
        batch_size=1000,
    )
    TaskFile.objects.bulk_create([_fresh(file, task=new_task) for file in files], batch_size=1000)
    RecordedWorkspace.objects.bulk_create([_fresh(row, task=new_task) for row in workspaces])


def _fresh[Row: (Task, Criterion, ExpectedOutcome, TaskFile, RecordedWorkspace)](
    row: Row, **changed: Any
) -> Row:
    """Return an unsaved row with the same values, some of them changed."""
    values: Mapping[str, Any] = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields  # noqa: SLF001 - Django's documented API
        if not field.primary_key and field.name not in changed
    }
    return type(row)(**values, **changed)
