"""Pages of what is measured: benchmarks, one benchmark, one task with its rubric."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmark.display import counted, file_size, listed, settings_in_words, whole
from benchmark.drawing import Drawing, Node, drawing_of, layers_of
from benchmark.models import Benchmark, Criterion, ExpectedOutcome, RecordedWorkspace, Task, TaskFile
from benchmark.protocols import protocol
from benchmark.script_words import steps_in_words
from benchmark.serving import blob_response
from people.hiding import hidden_runs
from people.roles import readers_only

CRITERIA_A_PAGE = 60
TASKS_A_PAGE = 100
DRAWING_WIDTH = 880


@require_safe
@readers_only
def benchmarks(request: HttpRequest) -> HttpResponse:
    """List every benchmark in every version, with its size."""
    every = list(Benchmark.objects.order_by("key", "-imported_at", "-pk"))
    sizes = _sizes({"criterion__task__benchmark__in": every}, by="criterion__task__benchmark")
    task_counts = dict(
        Task.objects.filter(benchmark__in=every).order_by().values_list("benchmark").annotate(Count("pk"))
    )
    rows = [
        {
            "benchmark": benchmark,
            "protocol": protocol(benchmark.protocol).title,
            "tasks": whole(task_counts.get(benchmark.pk, 0)),
            "size": sizes[benchmark.pk],
        }
        for benchmark in every
    ]
    return render(request, "benchmark/benchmarks.html", {"area": "benchmarks", "rows": rows})


@require_safe
@readers_only
def benchmark(request: HttpRequest, benchmark_id: int) -> HttpResponse:
    """Show one benchmark: its tasks, its hash and where it came from."""
    shown = get_object_or_404(Benchmark, pk=benchmark_id)
    page = Paginator(shown.tasks.order_by("position"), TASKS_A_PAGE).get_page(request.GET.get("page"))
    tasks = list(page.object_list)
    sizes = _sizes({"criterion__task__in": tasks}, by="criterion__task")
    kinds = _kinds(tasks)
    recipe = protocol(shown.protocol)
    # The layer above points here with a related name; this one does not import it.
    runs = shown.runs.order_by("-pk")
    hidden = hidden_runs(request.user)
    conceals = bool(hidden) and runs.filter(pk__in=hidden).exists()
    context = {
        "area": "benchmarks",
        "benchmark": shown,
        "protocol": recipe,
        "page": page,
        "rows": [
            {"task": task, "size": sizes[task.pk], "kinds": kinds[task.pk], "note": _note(task)}
            for task in tasks
        ],
        "kinds": recipe.kinds,
        "total": _sizes({"criterion__task__benchmark": shown}, by="criterion__task__benchmark")[shown.pk],
        "settings": settings_in_words(shown.settings),
        "repairs": shown.repairs,
        "repairs_title": counted(len(shown.repairs), "repair"),
        # Names of candidates are names of agents, and one may be hidden from this person.
        "candidates": [] if conceals else _candidates(shown),
        "conceals": conceals,
        "other_versions": Benchmark.objects.filter(key=shown.key).exclude(pk=shown.pk),
        "runs": (runs.exclude(pk__in=hidden) if conceals else runs)[:5],
    }
    return render(request, "benchmark/benchmark.html", context)


@require_safe
@readers_only
def task(request: HttpRequest, benchmark_id: int, key: str) -> HttpResponse:
    """Show one task: what the code agent sees, what it never sees, and the rubric with its graph."""
    shown = get_object_or_404(Task.objects.select_related("benchmark"), benchmark=benchmark_id, key=key)
    criteria = Criterion.objects.filter(task=shown).order_by("position")
    outline = _outline(criteria)
    page = Paginator(criteria.prefetch_related("outcomes", "prerequisites__needs"), CRITERIA_A_PAGE).get_page(
        _page_number(request, outline)
    )
    # A benchmark with thousands of tasks still costs two look-ups here.
    before = shown.benchmark.tasks.filter(position__lt=shown.position).order_by("-position").first()
    after = shown.benchmark.tasks.filter(position__gt=shown.position).order_by("position").first()
    context = {
        "area": "benchmarks",
        "benchmark": shown.benchmark,
        "task": shown,
        "before": before,
        "after": after,
        "page": page,
        "criteria": [_criterion_row(criterion) for criterion in page.object_list],
        "drawing": _drawing(outline, shown),
        "shape": _shape(outline),
        "files": _files(shown),
        "deploy": settings_in_words(shown.deploy),
        "facts": settings_in_words(shown.facts),
        "note": _note(shown),
    }
    return render(request, "benchmark/task.html", context)


@require_safe
@readers_only
def task_file(request: HttpRequest, benchmark_id: int, file_id: int) -> HttpResponseBase:
    """Serve one file of a task."""
    file = get_object_or_404(TaskFile, pk=file_id, task__benchmark=benchmark_id)
    name = file.path.rpartition("/")[2]
    plain = name.endswith((".txt", ".md", ".csv", ".json", ".tsv"))
    media_type = "image/png" if name.endswith(".png") else "text/plain" if plain else ""
    return blob_response(file.digest, media_type=media_type, name=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much a task or a benchmark holds, as text; `scripted` says which part can be judged now."""

    criteria: str = "0"
    outcomes: str = "0"
    weight: str = "0"
    scripted: str = "none"
    has_all_scripts: bool = False


class _Sizes(dict[int, Size]):
    def __missing__(self, key: int) -> Size:
        return Size()


def _sizes(where: dict[str, Any], *, by: str) -> _Sizes:
    counts = (
        ExpectedOutcome.objects.filter(**where)
        .order_by()
        .values_list(by)
        .annotate(
            criteria_count=Count("criterion", distinct=True),
            outcome_count=Count("pk"),
            script_count=Count("pk", filter=Q(script__isnull=False)),
        )
    )
    by_criterion = by.removeprefix("criterion__")
    weights = dict(
        Criterion.objects.filter(**{name.removeprefix("criterion__"): each for name, each in where.items()})
        .order_by()
        .values_list(by_criterion)
        .annotate(Sum("weight"))
    )
    return _Sizes(
        {
            pk: Size(
                criteria=whole(criteria),
                outcomes=whole(outcomes),
                weight=whole(weights[pk]),
                scripted="all" if scripted == outcomes else f"{scripted:,} of {outcomes:,}",
                has_all_scripts=scripted == outcomes,
            )
            for pk, criteria, outcomes, scripted in counts
        }
    )


def _kinds(tasks: list[Task]) -> dict[int, list[str]]:
    counts = (
        Criterion.objects.filter(task__in=tasks)
        .order_by("kind")
        .values_list("task", "kind")
        .annotate(Count("pk"))
    )
    kinds: dict[int, list[str]] = defaultdict(list)
    for pk, kind, count in counts:
        kinds[pk].append(f"{count} {kind}")
    return kinds


def _note(shown: Task) -> str:
    return "not underspecified" if shown.facts.get("underspecified") is False else ""


def _candidates(shown: Benchmark) -> list[dict[str, str]]:
    counts = (
        RecordedWorkspace.objects.filter(task__benchmark=shown)
        .order_by("candidate")
        .values_list("candidate")
        .annotate(task_count=Count("task", distinct=True), workspace_count=Count("pk"))
    )
    return [
        {"name": name, "holds": f"{counted(tasks, 'task')}, {counted(rounds, 'workspace')}"}
        for name, tasks, rounds in counts
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outlined:
    key: str
    title: str
    kind: str
    weight: int
    needs: tuple[str, ...]


def _outline(criteria: QuerySet[Criterion]) -> list[_Outlined]:
    """Keys, titles and edges of a whole rubric, in two queries and without any outcome."""
    needs: dict[str, list[str]] = defaultdict(list)
    edges = criteria.exclude(prerequisites=None).order_by("position", "prerequisites__pk")
    for key, need in edges.values_list("key", "prerequisites__needs__key"):
        needs[key].append(need)
    return [
        _Outlined(key=key, title=title, kind=kind, weight=weight, needs=tuple(needs[key]))
        for key, title, kind, weight in criteria.values_list("key", "title", "kind", "weight")
    ]


def _page_number(request: HttpRequest, outline: list[_Outlined]) -> str | int | None:
    """The page asked for, or the one that holds the criterion asked for."""
    wanted = request.GET.get("criterion")
    for place, criterion in enumerate(outline):
        if criterion.key == wanted:
            return place // CRITERIA_A_PAGE + 1
    return request.GET.get("page")


def _drawing(outline: list[_Outlined], shown: Task) -> Drawing:
    return drawing_of(
        [
            Node(
                key=criterion.key,
                label=criterion.title or criterion.key,
                needs=criterion.needs,
                href=f"?criterion={criterion.key}#c-{criterion.key}",
            )
            for criterion in outline
        ],
        width=DRAWING_WIDTH,
    )


def _shape(outline: list[_Outlined]) -> list[str]:
    """The rubric in a line: criteria by kind, total weight, depth."""
    kinds = Counter(criterion.kind for criterion in outline)
    depth = 1 + max(layers_of({c.key: c.needs for c in outline}).values(), default=-1)
    parts = [counted(len(outline), "criterion", "criteria")]
    parts.append(listed([f"{count} {kind}" for kind, count in kinds.items()], most=5))
    parts.append(f"total weight {sum(criterion.weight for criterion in outline):,}")
    parts.append(f"graph {counted(depth, 'layer')} deep" if depth > 1 else "no prerequisites")
    return parts


def _criterion_row(criterion: Criterion) -> dict[str, Any]:
    outcomes = list(criterion.outcomes.all())
    bare = sum(outcome.script is None for outcome in outcomes)
    return {
        "criterion": criterion,
        "needs": [need.needs for need in criterion.prerequisites.all()],
        "before": steps_in_words(criterion.before),
        "outcomes": [
            {"outcome": outcome, "steps": None if outcome.script is None else steps_in_words(outcome.script)}
            for outcome in outcomes
        ],
        "count": counted(len(outcomes), "outcome"),
        "without_script": f"{bare} without a script" if bare else "",
    }


def _files(shown: Task) -> list[dict[str, Any]]:
    words = {
        "data": "Data, copied into the workspace before round 1",
        "attachments": "Attachments, given to the code agent",
        "uploads": "Uploads, for the judge alone",
    }
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for file in shown.files.order_by("role", "path")[:200]:
        groups[file.role].append({"file": file, "size": file_size(file.size)})
    return [
        {"title": words.get(role, role), "hidden": role == "uploads", "files": files}
        for role, files in groups.items()
    ]
