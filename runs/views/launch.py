"""The launch form: which agent on which tasks, under which settings; what it will take, and start it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from benchmark.display import counted, whole
from benchmark.models import Benchmark, Task, candidates_of
from benchmark.protocols import protocol
from benchmark.rules.protocol import SettingSpec
from people.roles import leads_only
from runs import launching, past_trials
from runs.adapters.code_agents import all_code_agents
from runs.adapters.judges import all_judges
from runs.isolation import SandboxChoice, SandboxLevel
from runs.pages import capacity_words
from runs.pages.launch_form import MOST_TASK_BOXES, Given, fields_of, setting_problems
from runs.sandbox_looks import look
from runs.sandboxing import site_choice
from runs.visibility import concealed_benchmarks, hidden_words, require_visible

_FIRST_AGENT = "replay"
_FIRST_JUDGE = "scripted"


@require_http_methods(["GET", "HEAD", "POST"])
@leads_only
def launch(request: HttpRequest) -> HttpResponse:
    """Show the form, show it anew for other choices, or start the run."""
    is_post = request.method == "POST"
    given = Given.from_values(request.POST if is_post else request.GET)
    every = list(Benchmark.objects.order_by("key", "-imported_at", "-pk"))
    # The names of recorded candidates are those of agents, and of one that may be hidden from this person.
    concealed = concealed_benchmarks(request.user)
    if given.benchmark.isdecimal() and (pk := int(given.benchmark)) in concealed:
        require_visible(request.user, concealed[pk])
    every = [each for each in every if each.pk not in concealed]
    chosen = _chosen(every, given)
    if chosen is None:
        return render(
            request,
            "runs/launch.html",
            {"area": "runs", "benchmarks": every, "hidden_words": hidden_words(request.user)},
        )
    if is_post and given.of and given.of != str(chosen.pk):
        # Another benchmark has other tasks, other defaults and other recorded candidates.
        given = replace(given, tasks=None, settings={}, agent_settings={})
    given = replace(given, agent=given.agent or _FIRST_AGENT, judge=given.judge or _FIRST_JUDGE)
    is_look = not is_post or bool(getattr(request, "htmx", False)) or "reload" in request.POST
    is_look = is_look or "choose" in request.POST
    problems: dict[str, str] = {}
    warnings: Sequence[str] = ()
    try:
        checked = _plan(chosen, given, by_operator=_is_operator(request))
    except launching.BadLaunch as bad:
        problems = {} if is_look else bad.problems
    else:
        if not is_look:
            run = launching.launch(checked, by=request.user, name=given.name[:200])  # type: ignore[arg-type]
            messages.info(request, f"{run} was launched with {counted(len(checked.tasks), 'task')}.")
            return redirect(run)
        warnings = checked.warnings
    context = _context(request, every, chosen, given, problems) | {"warnings": warnings, "problems": problems}
    if getattr(request, "htmx", False):
        return render(request, "runs/launch.html#choices", context)
    return render(request, "runs/launch.html", context, status=422 if problems else 200)


def _chosen(every: Sequence[Benchmark], given: Given) -> Benchmark | None:
    """The benchmark asked for, else the one imported last."""
    wanted = [benchmark for benchmark in every if str(benchmark.pk) == given.benchmark]
    return next(iter(wanted or sorted(every, key=lambda each: each.pk, reverse=True)), None)


def _is_operator(request: HttpRequest) -> bool:
    return bool(request.user.is_authenticated and request.user.is_staff)


def _plan(chosen: Benchmark, given: Given, *, by_operator: bool) -> launching.Plan:
    repeats = int(given.repeats) if _is_count(given.repeats) else 0
    try:
        checked = launching.plan(
            chosen,
            agent=given.agent,
            agent_settings=_known(all_code_agents(), given.agent, given.agent_settings),
            judge=given.judge,
            judge_settings=_known(all_judges(), given.judge, given.judge_settings),
            settings=given.settings,
            tasks=given.tasks,
            repeats=repeats,
            sandbox=given.sandbox,
            by_operator=by_operator,
        )
    except launching.BadLaunch as bad:
        if not repeats and "repeats" in bad.problems:
            said = (
                f"Repeats is {given.repeats!r}; it takes a whole number from 1 to {launching.MOST_REPEATS}."
            )
            raise launching.BadLaunch({**bad.problems, "repeats": said}) from None
        raise
    return checked


def _is_count(text: str) -> bool:
    """Whether a field holds a whole number of a size that any setting could take."""
    return text.isdecimal() and len(text) < 6


def _known(kinds: Mapping[str, Any], name: str, given: Mapping[str, str]) -> dict[str, str]:
    """The settings of the adapter that was chosen last: those of another one are still in the form."""
    if name not in kinds:
        return {}
    names = {spec.name for spec in kinds[name].settings}
    return {key: value for key, value in given.items() if key in names}


def _context(
    request: HttpRequest,
    every: Sequence[Benchmark],
    chosen: Benchmark,
    given: Given,
    problems: Mapping[str, str],
) -> dict[str, Any]:
    recipe = protocol(chosen.protocol)
    tasks = list(
        Task.objects.filter(benchmark=chosen)
        .order_by("position")
        .annotate(size=Count("criteria"))
        .only("key", "title")
    )
    picked = {task.key for task in tasks} if given.tasks is None else set(given.tasks)
    shown = setting_problems(recipe.settings, given.settings) if problems else {}
    protocol_fields = fields_of(
        recipe.settings, group="settings", given=given.settings, defaults=chosen.settings, problems=shown
    )
    return {
        "area": "runs",
        "benchmarks": every,
        "hidden_words": hidden_words(request.user),
        "benchmark": chosen,
        "given": given,
        "protocol_title": recipe.title,
        "protocol_fields": protocol_fields,
        "settings_problem": "" if shown else problems.get("settings", ""),
        "agents": _agents(request, chosen, given, problems),
        "judges": _judges(given, problems),
        "tasks": [
            {
                "task": task,
                "is_picked": task.key in picked,
                "size": counted(task.size, "criterion", "criteria"),
            }
            for task in tasks[:MOST_TASK_BOXES]
        ]
        if len(tasks) <= MOST_TASK_BOXES
        else [],
        "has_many_tasks": len(tasks) > MOST_TASK_BOXES,
        "task_keys": ", ".join(given.tasks or ()),
        "is_long": len(tasks) > 12,
        "picked_words": f"{whole(len(picked & {task.key for task in tasks}))} of {counted(len(tasks), 'task')}",
        "estimate": _estimate(chosen, given, tasks=len(picked), values=protocol_fields),
        "most_repeats": launching.MOST_REPEATS,
        "sandboxes": _sandboxes(given) if _is_operator(request) else [],
        "site_sandbox": site_choice().value,
    }


def _agents(
    request: HttpRequest, chosen: Benchmark, given: Given, problems: Mapping[str, str]
) -> list[dict[str, Any]]:
    may = _is_operator(request)
    candidates = candidates_of(chosen)
    agents = []
    for name, kind in all_code_agents().items():
        is_chosen = name == given.agent
        shown = setting_problems(kind.settings, given.agent_settings) if problems and is_chosen else {}
        fields = fields_of(
            kind.settings, group="agent_settings", given=given.agent_settings, defaults={}, problems=shown
        )
        agents.append(
            {
                "name": name,
                "title": kind.title,
                "is_chosen": is_chosen,
                "fields": [_with_candidates(field, candidates, may_name_folders=may) for field in fields],
                "problem": problems.get("agent_settings", "") if is_chosen and not shown else "",
                "note": ""
                if may or name == _FIRST_AGENT
                else "Starts programs on this machine: takes a staff account.",
            }
        )
    return agents


def _with_candidates(field: Any, candidates: Sequence[str], *, may_name_folders: bool) -> Any:
    """The recorded candidates of this benchmark as choices, and a folder beside them for staff."""
    if field.name != "agent.candidate":
        return field
    is_recorded = field.value in candidates
    return replace(
        field,
        choices=tuple(candidates) or ("",),
        help="A recorded candidate of this benchmark."
        if candidates
        else "This benchmark has no recorded candidate.",
        value=field.value if is_recorded else (candidates[0] if candidates else ""),
        folder=("" if is_recorded else field.value) if may_name_folders else None,
    )


def _sandboxes(given: Given) -> list[dict[str, Any]]:
    """The choices of staff, each with what is seen of it on this machine."""
    chosen = given.sandbox or site_choice().value
    choices = [
        {
            "name": SandboxChoice.AUTO.value,
            "words": "the first of these that works",
            "is_chosen": chosen == SandboxChoice.AUTO,
        }
    ]
    for level in SandboxLevel:
        seen = look(level)
        mend = f"; {seen.mend}" if seen.mend else ""
        choices.append(
            {"name": level.value, "words": f"{seen.seen}{mend}", "is_chosen": chosen == level.value}
        )
    return choices


def _judges(given: Given, problems: Mapping[str, str]) -> list[dict[str, Any]]:
    judges = []
    for name, kind in all_judges().items():
        is_chosen = name == given.judge
        shown = setting_problems(kind.settings, given.judge_settings) if problems and is_chosen else {}
        judges.append(
            {
                "name": name,
                "title": kind.title,
                "is_chosen": is_chosen,
                # What a reader changed stays in sight when the form is shown anew.
                "is_open": bool(shown) or _is_changed(kind.settings, given.judge_settings),
                "fields": fields_of(
                    kind.settings,
                    group="judge_settings",
                    given=given.judge_settings,
                    defaults={},
                    problems=shown,
                ),
                "problem": problems.get("judge_settings", "") if is_chosen and not shown else "",
            }
        )
    return judges


def _is_changed(specs: Sequence[SettingSpec], given: Mapping[str, str]) -> bool:
    return any(
        given.get(field.name.partition(".")[2], field.value) != field.value for field in _defaults(specs)
    )


def _defaults(specs: Sequence[SettingSpec]) -> list[Any]:
    return fields_of(specs, group="judge_settings", given={}, defaults={}, problems={})


def _estimate(chosen: Benchmark, given: Given, *, tasks: int, values: Sequence[Any]) -> dict[str, Any]:
    """What the run will need, by past runs on this benchmark with this agent and judge."""
    repeats = int(given.repeats) if _is_count(given.repeats) else 1
    needed = past_trials.estimated(
        chosen,
        agent=given.agent,
        agent_settings=_defaulted(all_code_agents(), given.agent, given.agent_settings),
        judge=given.judge,
        judge_settings=_defaulted(all_judges(), given.judge, given.judge_settings),
        protocol_settings={field.name.removeprefix("set."): field.value for field in values},
        trials=tasks * max(repeats, 1),
    )
    return {
        "size": capacity_words.size_of(needed),
        "time": capacity_words.time_of(needed),
        "lines": capacity_words.lines_of(needed),
    }


def _defaulted(kinds: Mapping[str, Any], name: str, given: Mapping[str, str]) -> dict[str, Any]:
    """An adapter's settings as far as the form tells, with its defaults for the rest."""
    if name not in kinds:
        return {}
    return {spec.name: given.get(spec.name, spec.default) for spec in kinds[name].settings}
