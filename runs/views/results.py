"""The results page: which agents differ, and how surely; its figures and downloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchmark.display import counted, settings_in_words
from benchmark.models import Benchmark
from benchmark.protocols import protocol
from benchmark.rules.protocol import MetricSpec, Protocol
from benchmark.rules.vocabulary import RunState
from people import audit
from people.roles import readers_only
from runs.charts import interval_axis
from runs.models import UNFINISHED_RUNS, MetricValue, Run
from runs.pages import results, results_figures, results_reading, results_tables
from runs.pages.numbers import RunNumbers, at_round, stored
from runs.pages.results import Entry, FigureKind
from runs.pages.results_entries import entries_of
from runs.views import results_files
from runs.visibility import hidden_runs, hidden_words, require_visible, visible_runs

MOST_RUNS = 24
TASKS_A_PAGE = 100
_KEPT = ("benchmark", "runs", "figure", "round", "pick")
# Looked up run by run, newest first: a list of every run that has numbers grows with each of them.
_HAS_NUMBERS = Exists(MetricValue.objects.filter(run=OuterRef("pk")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the address asks for, checked."""

    benchmark: Benchmark
    runs: list[Run]
    missing: list[str]
    left_out: int
    figure: FigureKind
    round: int | None
    picked: list[int]


@require_safe
@readers_only
def show(request: HttpRequest) -> HttpResponse:
    """Show runs of one benchmark beside each other, or hand out a file of them (`format=`)."""
    if "only" in request.GET and request.GET.getlist("pick"):
        return redirect(_address(request, runs=",".join(request.GET.getlist("pick")), pick=None))
    chosen = _benchmark(request)
    if chosen is None:
        context = {"area": "results", "running": _running(request, None)} | _hidden(request)
        return render(request, "runs/results.html", context)
    try:
        recipe = protocol(chosen.protocol)
    except LookupError as unknown:
        return render(
            request, "runs/results.html", {"area": "results", "benchmark": chosen, "trouble": str(unknown)}
        )
    asked = _asked(request, chosen, recipe)
    if (wanted := request.GET.get("format")) and "chart" not in request.GET:
        # A file cannot say on a page of its own what it leaves out.
        for pk in _run_numbers(request):
            require_visible(request.user, pk)
        answer = results_files.download(asked.runs, wanted)
        audit.note(request.user, "export", "runs:results", runs=[run.pk for run in asked.runs], kind=wanted)
        return answer
    numbers = stored(
        asked.runs,
        names=_names(recipe),
        task_names=results_tables.task_metrics(recipe, asked.figure, runs=len(asked.runs)),
    )
    rounds = max((given.last_round for given in numbers.values()), default=0)
    number = min(asked.round or rounds, rounds)
    if number < rounds:
        numbers = _cut(asked.runs, numbers, number)
    entries = entries_of([run for run in asked.runs if run.pk in numbers], numbers)
    if not entries:
        context = {"benchmark": chosen, "running": _running(request, chosen), "missing": asked.missing}
        context |= _hidden(request)
        return render(request, "runs/results.html", {"area": "results", "is_empty": True} | context)
    return _page(request, asked, recipe=recipe, entries=entries, rounds=rounds, number=number)


def _page(
    request: HttpRequest,
    asked: Asked,
    *,
    recipe: Protocol,
    entries: Sequence[Entry],
    rounds: int,
    number: int,
) -> HttpResponse:
    board = results.board_of(entries, recipe=recipe, kind=asked.figure, picked=asked.picked)
    ranked = [row.entry for row in board.rows]
    styles = {row.entry.run: row.style for row in board.rows}
    figures = results_figures.figures_of(
        ranked, recipe=recipe, kind=asked.figure, styles=styles, rounds=rounds
    )
    further = results_tables.further_tables(ranked, recipe=recipe, rounds=rounds)
    keys = list(dict.fromkeys(key for entry in ranked for key in entry.tasks))
    page = Paginator(keys, TASKS_A_PAGE).get_page(request.GET.get("page"))
    by_task = results_tables.tasks_table(ranked, list(page.object_list), recipe=recipe, kind=asked.figure)
    if "chart" in request.GET:
        tables = [figure.table for figure in figures] + further + ([by_task] if by_task else [])
        return results_files.one_table(tables, request.GET["chart"], request.GET.get("format", "csv"))
    context = {
        "area": "results",
        "benchmark": asked.benchmark,
        "recipe": recipe,
        "hidden_words": hidden_words(request.user),
        "others": _others(asked.benchmark),
        "board": board,
        "columns": [_column(spec) for spec in board.columns],
        "is_single": len(entries) == 1,
        "axis": interval_axis(results.INTERVAL_WIDTH),
        "axis_narrow": interval_axis(results.INTERVAL_NARROW),
        "axis_width": results.INTERVAL_WIDTH,
        "axis_narrow_width": results.INTERVAL_NARROW,
        "facts": _facts(asked, entries),
        "figures": [
            {"figure": figure, "table": results_tables.set_table(figure.table)} for figure in figures
        ],
        "further": [results_tables.set_table(table) for table in further],
        "tasks": results_tables.set_table(by_task, hrefs=_hrefs(ranked, keys, len(by_task.columns)))
        if by_task
        else None,
        "page": page,
        "switches": _switches(request, recipe, asked.figure),
        "rounds": _rounds(request, rounds=rounds, number=number),
        "number": number,
        "is_last_round": number == rounds,
        "notes": _notes(asked, entries, board.leading),
        "reading": results_reading.reading_of(asked.runs, entries, recipe=recipe),
        "downloads": [
            {"label": label, "href": _address(request, format=name, runs=_numbers(entries))}
            for name, label in results_files.FORMATS.items()
        ],
        "base": _address(request),
        "hidden": [(name, request.GET[name]) for name in ("figure", "round") if name in request.GET],
    }
    return render(request, "runs/results.html", context)


def _column(spec: MetricSpec) -> dict[str, Any]:
    """A head whose last word stays on one line with the sign that explains it."""
    head, _, tail = spec.label.rpartition(" ")
    return {"spec": spec, "head": head, "tail": tail}


def _benchmark(request: HttpRequest) -> Benchmark | None:
    """The benchmark asked for, that of the runs asked for, or the one with the newest numbers."""
    wanted = request.GET.get("benchmark", "")
    if wanted:
        if not wanted.isdecimal():
            raise Http404
        return get_object_or_404(Benchmark, pk=int(wanted))
    numbered = visible_runs(request.user).select_related("benchmark")
    if asked := _run_numbers(request):
        run = numbered.filter(pk__in=asked).order_by("-pk").first()
        if run is None:
            for pk in asked:
                require_visible(request.user, pk)
            raise Http404
        return run.benchmark
    scored = numbered.filter(_HAS_NUMBERS).order_by("-pk")
    newest = scored.filter(state=RunState.FINISHED).first() or scored.first()
    return newest.benchmark if newest else None


def _asked(request: HttpRequest, chosen: Benchmark, recipe: Protocol) -> Asked:
    every = visible_runs(request.user).filter(benchmark=chosen).select_related("benchmark").order_by("-pk")
    asked = _run_numbers(request)
    if asked:
        every = every.filter(pk__in=asked)
    else:
        every = every.filter(_HAS_NUMBERS)
    runs = list(every[: MOST_RUNS + 1])
    found = {run.pk for run in runs} | hidden_runs(request.user)
    kinds = results.figure_kinds(recipe)
    wanted = request.GET.get("figure", "")
    round_ = request.GET.get("round", "")
    return Asked(
        benchmark=chosen,
        runs=runs[:MOST_RUNS],
        missing=[str(pk) for pk in asked if pk not in found][:10] if len(runs) <= MOST_RUNS else [],
        left_out=every.count() - MOST_RUNS if len(runs) > MOST_RUNS else 0,
        figure=FigureKind(wanted) if wanted in [kind.value for kind in kinds] else FigureKind.CUMULATIVE,
        round=max(1, int(round_)) if round_.isdecimal() and len(round_) < 4 else None,
        picked=[int(pk) for pk in request.GET.getlist("pick") if pk.isdecimal() and len(pk) < 12],
    )


def _run_numbers(request: HttpRequest) -> list[int]:
    """`runs=1,2` or `runs=1&runs=2`; what is no number is passed over."""
    words = ",".join(request.GET.getlist("runs")).split(",")
    return list(dict.fromkeys(int(word) for word in words if word.strip().isdecimal() and len(word) < 12))


def _names(recipe: Protocol) -> list[str]:
    return [spec.name for spec in recipe.metric_specs]


def _cut(runs: Sequence[Run], numbers: dict[int, RunNumbers], number: int) -> dict[int, RunNumbers]:
    """The numbers after an earlier round; lines by round stay whole."""
    cut = at_round([run for run in runs if run.pk in numbers], number, names=())
    return {pk: replace(given, per_round=numbers[pk].per_round) for pk, given in cut.items()}


def _facts(asked: Asked, entries: Sequence[Entry]) -> list[str]:
    tasks = {len(entry.tasks) for entry in entries}
    repeats = {run.repeats for run in asked.runs}
    judges = sorted({run.judge for run in asked.runs})
    facts = [counted(len(entries), "run")]
    facts.append(counted(tasks.pop(), "task") + " each" if len(tasks) == 1 else "different numbers of tasks")
    facts.append(counted(repeats.pop(), "repeat") if len(repeats) == 1 else "different repeats")
    facts.append(f"judge {', '.join(judges)}")
    settings = [run.settings for run in asked.runs]
    if all(given == settings[0] for given in settings):
        facts += settings_in_words(settings[0])
    return facts


def _notes(asked: Asked, entries: Sequence[Entry], leading: MetricSpec) -> list[str]:
    """Cautions that stand above the table."""
    notes = results_reading.differing_settings(
        {run.pk: results_reading.all_settings(run) for run in asked.runs}
    )
    if notes:
        notes.append(
            "Runs under different settings measure different things; their difference is not the agent's alone."
        )
    shown = {entry.run for entry in entries}
    notes += results_reading.without_sandbox([run for run in asked.runs if run.pk in shown])
    notes += results_reading.tasks_left_out(entries, metric=leading)
    if asked.missing:
        notes.append(
            f"Not shown: {'run' if len(asked.missing) == 1 else 'runs'} {', '.join(asked.missing)}, which "
            f"{'does' if len(asked.missing) == 1 else 'do'} not exist or {'is' if len(asked.missing) == 1 else 'are'} "
            f"not on {asked.benchmark}."
        )
    if asked.left_out:
        notes.append(
            f"{asked.left_out} older runs are not shown; choose runs on the runs page to compare others."
        )
    return notes


def _others(chosen: Benchmark) -> list[Benchmark]:
    used = Exists(Run.objects.filter(_HAS_NUMBERS, benchmark=OuterRef("pk")))
    return list(Benchmark.objects.filter(used).exclude(pk=chosen.pk).order_by("key", "-pk")[:30])


def _hidden(request: HttpRequest) -> dict[str, Any]:
    return {"hidden_words": hidden_words(request.user)}


def _running(request: HttpRequest, chosen: Benchmark | None) -> list[Run]:
    visible = visible_runs(request.user).filter(state__in=UNFINISHED_RUNS)
    running = visible.select_related("benchmark").order_by("-pk")
    return list((running.filter(benchmark=chosen) if chosen else running)[:5])


def _switches(request: HttpRequest, recipe: Protocol, current: FigureKind) -> list[dict[str, Any]]:
    kinds = results.figure_kinds(recipe)
    if len(kinds) < 2:
        return []
    return [
        {"title": kind.words, "href": _address(request, figure=kind.value), "is_current": kind is current}
        for kind in kinds
    ]


def _rounds(request: HttpRequest, *, rounds: int, number: int) -> list[dict[str, Any]]:
    if rounds < 2:
        return []
    return [
        {"number": each, "href": _address(request, round=each), "is_current": each == number}
        for each in range(1, rounds + 1)
    ]


def _hrefs(entries: Sequence[Entry], keys: Sequence[str], columns: int) -> dict[tuple[str, int], str]:
    """Each number of a task leads to its trial."""
    found: dict[tuple[str, int], str] = {}
    for place in range(columns):
        entry = entries[place] if len(entries) > 1 else entries[0]
        for key in keys:
            if key in entry.trials:
                found[key, place] = reverse("runs:trial", args=[entry.run, entry.trials[key]])
    return found


def _numbers(entries: Sequence[Entry]) -> str:
    return ",".join(str(entry.run) for entry in entries)


def _address(request: HttpRequest, **changed: object) -> str:
    kept: dict[str, Any] = {name: request.GET.getlist(name) for name in _KEPT if name in request.GET}
    for name, value in changed.items():
        if value is None:
            kept.pop(name, None)
        else:
            kept[name] = [str(value)]
    return f"{reverse('runs:results')}?{urlencode(kept, doseq=True)}"
