"""Start a run, cancel it, or let it go on: what pages, API and commands have in common."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from benchmark import samples
from benchmark.models import Benchmark, ExpectedOutcome, RecordedWorkspace, Task, candidates_of
from benchmark.protocols import protocol
from benchmark.rules.protocol import BadSetting
from benchmark.rules.vocabulary import Mark, RunState, TrialState
from people import audit
from runs import judgings, models, scoring
from runs.adapters.code_agents import code_agent
from runs.adapters.code_agents.replay import folder_workspaces
from runs.adapters.judges import judge as judge_kind
from runs.announcements import announce
from runs.isolation import NoSandbox, SandboxChoice, SandboxLevel, level_for
from runs.jobs import ring_after_commit
from runs.models import Judging, Run, RunEventKind, Trial
from runs.sandbox_looks import look
from runs.sandboxing import site_choice
from runs.standard_tools import standard_toolbox
from runs.workers import release_claims_of_the_dead

MOST_REPEATS = 100
LONGEST_NAME = 200
WORKER_GIVES_UP_WITHIN = timedelta(seconds=10)


class BadLaunch(ValueError):
    """A launch that cannot be: one sentence for each field that is at fault."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = dict(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A launch that was checked: every setting complete, every task found, what to be warned of."""

    benchmark: Benchmark
    tasks: tuple[Task, ...]
    agent: str
    agent_settings: Mapping[str, Any]
    judge: str
    judge_settings: Mapping[str, Any]
    settings: Mapping[str, Any]
    repeats: int
    sandbox: SandboxLevel
    warnings: tuple[str, ...]


def plan(
    benchmark: Benchmark,
    *,
    agent: str,
    agent_settings: Mapping[str, Any] | None = None,
    judge: str = "scripted",
    judge_settings: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    tasks: Sequence[str] | None = None,
    repeats: int = 1,
    sandbox: str = "",
    by_operator: bool = False,
) -> Plan:
    """Check a launch without starting it. Raises BadLaunch with every problem at once.

    `by_operator` says that whoever asks may name folders and programs of this machine, and the sandbox;
    an empty `sandbox` is the one that the installation asks for.
    """
    problems: dict[str, str] = {}
    chosen = _chosen_tasks(benchmark, tasks, problems)
    given = {**benchmark.settings, **(settings or {})}
    complete: dict[str, Any] = {}
    try:
        complete = protocol(benchmark.protocol).complete_settings(given)
    except BadSetting as error:
        problems["settings"] = str(error)
    full_agent = _adapter_settings("agent", agent, agent_settings or {}, problems)
    full_judge = _adapter_settings("judge", judge, judge_settings or {}, problems)
    if agent == "replay" and "agent" not in problems:
        full_agent = _replayed(benchmark, full_agent, problems, by_operator=by_operator)
        if "agent_settings" not in problems:
            _check_recorded(chosen, str(full_agent["candidate"]), problems)
    elif not by_operator and "agent" not in problems:
        problems["agent"] = (
            f"The code agent {agent!r} starts programs on this machine, which takes a staff account "
            "or the command line."
        )
    if not 1 <= repeats <= MOST_REPEATS:
        problems["repeats"] = f"Repeats is {repeats}; it takes 1 to {MOST_REPEATS}."
    level = SandboxLevel.NONE
    if not problems or set(problems) == {"repeats"}:
        level = _level(benchmark, agent, full_agent, sandbox, problems, by_operator=by_operator)
    if problems:
        raise BadLaunch(problems)
    return Plan(
        benchmark=benchmark,
        tasks=tuple(chosen),
        agent=agent,
        agent_settings=full_agent,
        judge=judge,
        judge_settings=full_judge,
        settings=complete,
        repeats=repeats,
        sandbox=level,
        warnings=(*_warnings(chosen, judge), *_no_wall(level)),
    )


def launch(checked: Plan, *, by: AbstractBaseUser | None = None, name: str = "") -> Run:
    """Make the run with its trials and ring for the workers once it is committed."""
    agent_label = checked.agent
    if candidate := checked.agent_settings.get("candidate"):
        agent_label = Path(str(candidate)).name
    with transaction.atomic():
        run = Run.objects.create(
            benchmark=checked.benchmark,
            benchmark_hash=checked.benchmark.content_hash,
            protocol=checked.benchmark.protocol,
            name=_storable(name)[:LONGEST_NAME],
            code_agent=checked.agent,
            code_agent_label=agent_label[:LONGEST_NAME],
            code_agent_settings=dict(checked.agent_settings),
            judge=checked.judge,
            judge_settings=dict(checked.judge_settings),
            settings=dict(checked.settings),
            repeats=checked.repeats,
            sandbox=checked.sandbox,
            launched_by=by,  # type: ignore[misc]
        )
        Trial.objects.bulk_create(
            Trial(run=run, task=task, repeat=repeat)
            for task in checked.tasks
            for repeat in range(1, checked.repeats + 1)
        )
        announce(
            run=run, kind=RunEventKind.RUN, text=f"The run was launched with {len(checked.tasks)} tasks."
        )
        audit.note(by, "launch", f"run:{run.pk}")  # type: ignore[arg-type]
        ring_after_commit()
    return run


def cancel(run: Run) -> bool:
    """End a run's processes within seconds, keep what is recorded and store its numbers; False if it was over."""
    with transaction.atomic():
        was_open = models.cancel(run, now=timezone.now())
        if was_open:
            announce(run=run, kind=RunEventKind.RUN, text="The run was cancelled. What is recorded stays.")
    if was_open:
        scoring.store_if_possible(run)
    return was_open


def retry(run: Run) -> int:
    """Go on with what is missing or error and return how many trials that concerns.

    Marks that were given stay; an error for want of a script is left alone.
    """
    release_claims_of_the_dead()
    with transaction.atomic():
        models.lock_trials(run)
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        concerned = set(
            Trial.objects.filter(run=locked, state__in=[TrialState.PAUSED, TrialState.CANCELLED]).values_list(
                "pk", flat=True
            )
        )
        in_error = Judging.objects.filter(
            round__trial__run=locked, is_primary=True, verdicts__mark=Mark.ERROR
        ).filter(~Q(round__trial__state=TrialState.RUNNING))
        for judging in in_error.select_related("round").distinct():
            if judgings.set_errors_aside(judging):
                concerned.add(judging.round.trial_id)
        if not concerned:
            return 0
        Trial.objects.filter(pk__in=concerned).update(
            state=TrialState.QUEUED,
            finished_at=None,
            trouble="",
            attempts=0,
            not_before=None,
        )
        # A worker that was told to stop a moment ago may not have noticed: it must not go on beside
        # the next one, nor save into what was set aside for that one.
        Trial.objects.filter(pk__in=concerned).exclude(claimed_by="").update(
            claimed_by="", claimed_until=timezone.now() + WORKER_GIVES_UP_WITHIN
        )
        locked.state = RunState.QUEUED
        locked.cancelled_at = None
        locked.finished_at = None
        locked.save(update_fields=["state", "cancelled_at", "finished_at"])
        announce(run=locked, kind=RunEventKind.RUN, text=f"{len(concerned)} trials are tried again.")
        ring_after_commit()
    return len(concerned)


def _storable(name: str) -> str:
    """A name as every database takes it: without NUL, and with a sign for half a character."""
    return name.replace("\0", "").encode("utf-8", "replace").decode()


def _chosen_tasks(benchmark: Benchmark, keys: Sequence[str] | None, problems: dict[str, str]) -> list[Task]:
    tasks = list(benchmark.tasks.order_by("position"))
    if keys is None:
        if not tasks:
            problems["tasks"] = f"{benchmark} has no task."
        return tasks
    by_key = {task.key: task for task in tasks}
    unknown = [key for key in keys if key not in by_key]
    if unknown:
        shown = ", ".join(list(by_key)[:8]) + (", ..." if len(by_key) > 8 else "")
        problems["tasks"] = f"{benchmark} has no task {unknown[0]!r}; it has {shown}."
    elif not keys:
        problems["tasks"] = "No task was chosen; choose one at least."
    return [by_key[key] for key in dict.fromkeys(keys) if key in by_key]


def _adapter_settings(
    field: str, name: str, given: Mapping[str, Any], problems: dict[str, str]
) -> dict[str, Any]:
    # Nothing is started, so any level does.
    tools = standard_toolbox(SandboxLevel.NONE)
    try:
        kind = code_agent(name) if field == "agent" else judge_kind(name)
        complete = dict(kind.complete(given))
        # Built and thrown away: an adapter may refuse what single settings do not show.
        if field == "agent":
            tools.code_agent(name, complete, lambda *_: None)
        else:
            tools.judge(name, complete)
        return complete
    except LookupError as error:
        problems[field] = str(error)
    except ValueError as error:
        problems[f"{field}_settings"] = str(error)
    return {}


def _replayed(
    benchmark: Benchmark, given: dict[str, Any], problems: dict[str, str], *, by_operator: bool
) -> dict[str, Any]:
    """Choose the recorded candidate where only one can be meant; check a folder's path."""
    names = candidates_of(benchmark)
    candidate = str(given.get("candidate") or (names[0] if names else ""))
    if candidate in names:
        return {**given, "candidate": candidate}
    # Of os.path: these two answer False where pathlib would raise on a name that cannot be.
    folder = os.path.expanduser(candidate)  # noqa: PTH111
    if by_operator and candidate and os.path.isdir(folder):  # noqa: PTH112
        return {**given, "candidate": str(Path(folder).absolute())}
    known = f"it has {', '.join(names)}" if names else "it has none"
    meant = f"no recorded candidate {candidate!r}" if candidate else "no recorded candidate"
    problems["agent_settings"] = (
        f"{benchmark} has {meant} ({known}), and there is no such folder; "
        "name one with --workspaces PATH, where PATH/<task>/round_1 holds the files."
    )
    return given


def _check_recorded(tasks: Sequence[Task], candidate: str, problems: dict[str, str]) -> None:
    """Refuse tasks that nothing is recorded for: leaving them out is for the researcher to say."""
    if Path(candidate).is_absolute():
        find = folder_workspaces(Path(candidate))
        recorded = {task.pk for task in tasks if find(task.key, 1) is not None}
    else:
        recorded = set(
            RecordedWorkspace.objects.filter(
                task__in=[task.pk for task in tasks], candidate=candidate, round_number=1
            ).values_list("task_id", flat=True)
        )
    missing = [task.key for task in tasks if task.pk not in recorded]
    if missing:
        there = [task.key for task in tasks if task.pk in recorded]
        way_out = f"name the tasks to run, such as {','.join(there[:5])}" if there else "record some"
        problems["tasks"] = (
            f"{len(missing)} of {len(tasks)} tasks have no round 1 recorded in {candidate!r} "
            f"({', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}); {way_out}."
        )


def _level(
    benchmark: Benchmark,
    agent: str,
    agent_settings: Mapping[str, Any],
    asked: str,
    problems: dict[str, str],
    *,
    by_operator: bool,
) -> SandboxLevel:
    """The level of isolation that a launch comes to; a choice of one's own takes an operator."""
    try:
        choice = SandboxChoice(asked) if asked else site_choice()
    except ValueError:
        problems["sandbox"] = f"There is no sandbox {asked[:40]!r}; choose one of {', '.join(SandboxChoice)}."
        return SandboxLevel.NONE
    if choice is not site_choice() and not by_operator:
        problems["sandbox"] = (
            f"The sandbox of this installation is {site_choice().value!r}; choosing another one takes a "
            "staff account or the command line."
        )
        return SandboxLevel.NONE
    candidate = str(agent_settings.get("candidate", ""))

    def is_own_sample() -> bool:
        # A folder that somebody named may hold anything.
        is_recorded = agent == "replay" and not Path(candidate).is_absolute()
        return is_recorded and samples.is_shipped(benchmark, candidate=candidate)

    try:
        return level_for(choice, look, may_do_without=is_own_sample)
    except NoSandbox as missing:
        problems["sandbox"] = str(missing)
        return SandboxLevel.NONE


def _no_wall(level: SandboxLevel) -> list[str]:
    if level is not SandboxLevel.NONE:
        return []
    reach = "its agents and candidates can read and reach whatever the account of the bench can"
    return [f"This run is made without a sandbox: {reach}. Every page and table of the run will say so."]


def _warnings(tasks: Sequence[Task], judge: str) -> list[str]:
    warnings: list[str] = []
    if judge == "scripted":
        bare = ExpectedOutcome.objects.filter(
            criterion__task__in=[task.pk for task in tasks], script__isnull=True
        ).count()
        if bare:
            warnings.append(
                f"{bare} expected outcomes have no script: the scripted judge will mark them "
                "error (no_script), never fail."
            )
    vague = [task.key for task in tasks if task.facts.get("underspecified") is False]
    if vague:
        warnings.append(f"{len(vague)} tasks are not underspecified: their request is the full instruction.")
    return warnings
