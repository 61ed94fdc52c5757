"""The launch form: one column from the benchmark to the button, warnings before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db.models import Avg, Count, F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from benchmark.display import counted, duration
from benchmark.models import Benchmark, candidates_of
from benchmark.protocols import protocol
from benchmark.rules.vocabulary import TrialState
from runs import launching
from runs.launching import BadLaunch, Plan
from runs.models import Trial
from runs.pages.launch_form import LaunchForm


@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest) -> HttpResponse:
    """Show the form, check it as it is filled in (`?check=1`), or start the run."""
    shown = _benchmark(request)
    if shown is None:
        return render(request, "runs/launch.html", {"area": "runs", "benchmark": None})
    form = _form(request, shown)
    try:
        checked = _plan(form, by_operator=_is_operator(request))
    except BadLaunch as bad:
        form = replace(form, problems=bad.problems)
        checked = None
    if request.method == "POST" and "check" not in request.GET and checked is not None:
        run = launching.launch(
            checked, by=request.user if request.user.is_authenticated else None, name=form.name
        )
        return redirect(run)
    is_check = "check" in request.GET and request.method == "POST"
    # A form that was only opened has nothing wrong in it yet; what stops it is said all the same.
    status = 422 if request.method == "POST" and not is_check else 200
    template = "runs/launch.html" + ("#verdict" if is_check else "")
    return render(request, template, _context(shown, form, checked), status=status)


def _benchmark(request: HttpRequest) -> Benchmark | None:
    wanted = request.POST.get("benchmark") or request.GET.get("benchmark")
    if wanted:
        return get_object_or_404(Benchmark, pk=wanted if wanted.isdecimal() else 0)
    return Benchmark.objects.order_by("-imported_at", "-pk").first()


def _form(request: HttpRequest, shown: Benchmark) -> LaunchForm:
    if request.method == "POST":
        values = {name: request.POST[name] for name in request.POST}
        return LaunchForm(benchmark=shown, values=values, tasks=tuple(request.POST.getlist("tasks")))
    values = {name: request.GET[name] for name in ("agent", "judge") if name in request.GET}
    if candidate := request.GET.get("candidate"):
        values["agent.replay.candidate"] = candidate
    tasks = [key for part in request.GET.getlist("tasks") for key in part.split(",") if key]
    return LaunchForm(benchmark=shown, values=values, tasks=tuple(tasks) if tasks else None)


def _plan(form: LaunchForm, *, by_operator: bool) -> Plan:
    return launching.plan(
        form.benchmark,
        agent=form.agent,
        agent_settings=form.agent_settings(),
        judge=form.judge,
        judge_settings=form.judge_settings(),
        settings=form.settings(),
        tasks=form.tasks,
        repeats=form.repeats,
        by_operator=by_operator,
    )


def _is_operator(request: HttpRequest) -> bool:
    return bool(request.user.is_authenticated and request.user.is_staff)


def _context(shown: Benchmark, form: LaunchForm, checked: Plan | None) -> dict[str, Any]:
    tasks = list(shown.tasks.order_by("position").annotate(criteria_count=Count("criteria")))
    candidates = candidates_of(shown)
    return {
        "area": "runs",
        "benchmark": shown,
        "benchmarks": Benchmark.objects.order_by("key", "-imported_at"),
        "protocol": protocol(shown.protocol),
        "form": form,
        "tasks": [
            {
                "task": task,
                "criteria": counted(task.criteria_count, "criterion", "criteria"),
                "is_chosen": form.tasks is None or task.key in form.tasks,
            }
            for task in tasks
        ],
        "agents": form.agents(candidates=candidates),
        "judges": form.judges(),
        "protocol_fields": form.protocol_fields(),
        "rest": {name: form.rest(name) for name in ("settings", "agent_settings", "judge_settings")},
        "warnings": checked.warnings if checked else (),
        "plan": checked,
        "estimate": _estimate(checked) if checked else "",
    }


def _estimate(checked: Plan) -> str:
    """What will be started, and how long it may take by what earlier trials of these tasks took."""
    trials = len(checked.tasks) * checked.repeats
    size = counted(trials, "trial")
    spent = Trial.objects.filter(
        task__benchmark=checked.benchmark,
        run__code_agent=checked.agent,
        state=TrialState.FINISHED,
        started_at__isnull=False,
        finished_at__isnull=False,
    ).aggregate(mean=Avg(F("finished_at") - F("started_at")), n=Count("pk"))
    if not spent["n"]:
        return f"{size}. No earlier trial of this agent here tells how long one takes."
    workers = min(settings.WORKER_THREADS, trials)
    likely = spent["mean"].total_seconds() * trials / max(workers, 1)
    return (
        f"{size}, about {duration(likely)} with {counted(settings.WORKER_THREADS, 'worker')}, "
        f"by {counted(spent['n'], 'earlier trial')}."
    )
