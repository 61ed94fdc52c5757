"""Import benchmark packs and published sets: all of one or nothing, and the same content only once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from django.db import IntegrityError, transaction

from benchmark import blobs, snapshots
from benchmark.models import (
    Benchmark,
    Criterion,
    ExpectedOutcome,
    Prerequisite,
    RecordedWorkspace,
    Task,
    TaskFile,
)
from benchmark.packs.hashing import benchmark_hash, task_hash
from benchmark.packs.head import FILE
from benchmark.packs.problems import ImportRefused, Problem, Repair
from benchmark.packs.published import format_named, format_of, read_published
from benchmark.packs.reading import opened_pack
from benchmark.packs.specs import PackSpec, PackTask, PublishedOptions, RecordedRound

PACK = "pack"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What the caller asks for besides the path; see `proofroom import --help`."""

    format_name: str | None = None
    is_strict: bool = False
    protocol: str | None = None
    request: str | None = None
    scripts: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import came to. `notes` are sentences for the person who asked for it."""

    benchmark: Benchmark
    is_new: bool
    tasks: int
    criteria: int
    outcomes: int
    repairs: tuple[Repair, ...] = ()
    notes: tuple[str, ...] = ()


def import_path(path: Path, options: ImportOptions | None = None) -> Imported:
    """Import a pack (folder or zip) or a published set.

    Raises ImportRefused with every problem; then no row was written. Blobs of a refused import may
    stay in the store: they are named by their content and harm nobody.
    """
    options = options or ImportOptions()
    with _opened(path, options) as spec:
        return import_spec(spec)


def import_spec(spec: PackSpec) -> Imported:
    """Import a benchmark that was read and checked. Raises ImportRefused."""
    stored = [_stored(task) for task in spec.tasks]
    workspaces = [(round_, _snapshot_of(round_)) for round_ in spec.recorded]
    try:
        return _import(spec, stored, workspaces)
    except IntegrityError:
        # Somebody imported the same version in this very moment: now it is there to be compared.
        return _import(spec, stored, workspaces)


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredTask:
    task: PackTask
    content_hash: str


@contextmanager
def _opened(path: Path, options: ImportOptions) -> Iterator[PackSpec]:
    if not path.exists():
        raise _refused(f"{path} does not exist; give the path of a pack or of a published set.")
    name = options.format_name
    if name == PACK or (name is None and _looks_like_pack(path)):
        given = {"--request": options.request, "--scripts": options.scripts, "--protocol": options.protocol}
        for option, value in given.items():
            if value is not None:
                raise _refused(f"{option} completes a published set; a pack says this itself.")
        with opened_pack(path) as spec:
            yield spec
        return
    known = format_of(path) if name is None else format_named(name)
    if known is None:
        text = (
            f"{path.name} is no pack (it has no {FILE}) and no published set that is known here; "
            "name its format with --format."
        )
        raise _refused(text)
    published = PublishedOptions(protocol=options.protocol or "asuka", request=options.request)
    yield read_published(path, known, published, scripts=options.scripts, is_strict=options.is_strict)


def _looks_like_pack(path: Path) -> bool:
    if path.is_dir():
        return (path / FILE).exists() or (path / "tasks").is_dir()
    if path.suffix.lower() == ".zip":
        return True
    with path.open("rb") as content:
        return content.read(4) == b"PK\x03\x04"


def _stored(task: PackTask) -> _StoredTask:
    """Store a task's files and hash its content by what was really stored."""
    files = [(file.role.value, file.path, blobs.save_file(file.source)) for file in task.files]
    return _StoredTask(task=task, content_hash=task_hash(task.spec, files))


def _snapshot_of(round_: RecordedRound) -> str:
    try:
        return snapshots.take(round_.folder)
    except snapshots.SnapshotTooLarge as error:
        place = f"candidates/{round_.candidate}/{round_.task}/round_{round_.number}"
        raise ImportRefused([Problem(file=place, text=str(error))]) from None


@transaction.atomic
def _import(
    spec: PackSpec, tasks: list[_StoredTask], workspaces: list[tuple[RecordedRound, str]]
) -> Imported:
    facts = spec.facts
    content_hash = benchmark_hash(facts.protocol, facts.settings, [task.content_hash for task in tasks])
    notes: list[str] = []
    benchmark = _known(spec, content_hash, tasks)
    is_new = benchmark is None
    if benchmark is None:
        version = facts.version or _next_version(facts.key)
        if facts.version is None and version != "1":
            notes.append(f"{facts.key} is stored with other content; this is version {version}.")
        benchmark = _created(spec, version, content_hash, tasks)
    else:
        notes.append(f"{benchmark} is already stored with the same content; nothing was changed.")
    added = _add_workspaces(benchmark, workspaces)
    if added and not is_new:
        notes.append(f"{added} recorded rounds of candidates were added to it.")
    return Imported(
        benchmark=benchmark,
        is_new=is_new,
        tasks=len(tasks),
        criteria=sum(len(task.task.spec.criteria) for task in tasks),
        outcomes=sum(len(criterion.outcomes) for task in tasks for criterion in task.task.spec.criteria),
        repairs=spec.repairs,
        notes=tuple(notes),
    )


def _known(spec: PackSpec, content_hash: str, tasks: list[_StoredTask]) -> Benchmark | None:
    """Return the stored benchmark with this content. Raises ImportRefused where the version is taken."""
    facts = spec.facts
    if facts.version is None:
        return Benchmark.objects.filter(key=facts.key, content_hash=content_hash).first()
    stored = Benchmark.objects.filter(key=facts.key, version=facts.version).first()
    if stored is None or stored.content_hash == content_hash:
        return stored
    before = dict(stored.tasks.values_list("key", "content_hash"))
    now = {task.task.spec.key: task.content_hash for task in tasks}
    changed = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
    what = f"tasks that differ: {', '.join(changed[:5])}" if changed else "its settings or its order differ"
    why = "runs rest on it" if stored.is_in_use else "a version is never changed in place"
    raise ImportRefused(
        [
            Problem(
                file=FILE, text=f"{stored} is stored with other content ({what}) and {why}; raise `version`."
            )
        ]
    )


def _next_version(key: str) -> str:
    taken = set(Benchmark.objects.filter(key=key).values_list("version", flat=True))
    return next(version for version in map(str, count(1)) if version not in taken)


def _created(spec: PackSpec, version: str, content_hash: str, tasks: list[_StoredTask]) -> Benchmark:
    facts = spec.facts
    benchmark = Benchmark.objects.create(
        key=facts.key,
        version=version,
        title=facts.title,
        description=facts.description,
        protocol=facts.protocol,
        licence=facts.licence,
        source=facts.source,
        settings=dict(facts.settings),
        repairs=[repair.as_json() for repair in spec.repairs],
        content_hash=content_hash,
    )
    rows = Task.objects.bulk_create(
        Task(
            benchmark=benchmark,
            position=position,
            key=stored.task.spec.key,
            title=stored.task.spec.title,
            request=stored.task.spec.request,
            prd=stored.task.spec.prd,
            deploy=dict(stored.task.spec.deploy),
            facts=dict(stored.task.spec.facts),
            content_hash=stored.content_hash,
        )
        for position, stored in enumerate(tasks)
    )
    for row, stored in zip(rows, tasks, strict=True):
        _create_rubric(row, stored.task)
    return benchmark


def _create_rubric(row: Task, task: PackTask) -> None:
    criteria = Criterion.objects.bulk_create(
        [
            Criterion(
                task=row,
                position=position,
                key=criterion.key,
                title=criterion.title,
                kind=criterion.kind,
                weight=criterion.weight,
                before=[dict(step) for step in criterion.before],
                tags=list(criterion.tags),
            )
            for position, criterion in enumerate(task.spec.criteria)
        ],
        batch_size=1000,
    )
    by_key = {criterion.key: criterion for criterion in criteria}
    ExpectedOutcome.objects.bulk_create(
        [
            ExpectedOutcome(
                criterion=by_key[criterion.key],
                index=index,
                text=outcome.text,
                script=None if outcome.script is None else [dict(step) for step in outcome.script],
            )
            for criterion in task.spec.criteria
            for index, outcome in enumerate(criterion.outcomes)
        ],
        batch_size=1000,
    )
    Prerequisite.objects.bulk_create(
        [
            Prerequisite(criterion=by_key[criterion.key], needs=by_key[need])
            for criterion in task.spec.criteria
            for need in criterion.needs
        ],
        batch_size=1000,
    )
    TaskFile.objects.bulk_create(
        TaskFile(task=row, role=file.role.value, path=file.path, digest=file.digest, size=file.size)
        for file in task.files
    )


def _add_workspaces(benchmark: Benchmark, workspaces: list[tuple[RecordedRound, str]]) -> int:
    """Add recorded rounds that are new. Raises ImportRefused where one is stored with other files."""
    tasks = {task.key: task for task in benchmark.tasks.all()}
    stored = {
        (row.candidate, row.task_id, row.round_number): row.snapshot
        for row in RecordedWorkspace.objects.filter(task__benchmark=benchmark)
    }
    added: list[RecordedWorkspace] = []
    problems: list[Problem] = []
    for round_, snapshot in workspaces:
        task = tasks[round_.task]
        known = stored.get((round_.candidate, task.pk, round_.number))
        if known is None:
            added.append(
                RecordedWorkspace(
                    task=task, candidate=round_.candidate, round_number=round_.number, snapshot=snapshot
                )
            )
        elif known != snapshot and snapshots.load(known).files != snapshots.load(snapshot).files:
            text = f"{benchmark} holds this round with other files; give the candidate another name."
            place = f"candidates/{round_.candidate}/{round_.task}/round_{round_.number}"
            problems.append(Problem(file=place, text=text))
    if problems:
        raise ImportRefused(problems)
    RecordedWorkspace.objects.bulk_create(added)
    return len(added)


def _refused(text: str) -> ImportRefused:
    return ImportRefused([Problem(file="", text=text)])
