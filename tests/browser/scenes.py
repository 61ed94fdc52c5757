"""Scenes for the browser tests: each builds rows and answers with their numbers."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, User
from django.utils import timezone

from benchmark.models import Task
from benchmark.rules.vocabulary import Mark, RunState, StageName, TrialState
from people.models import Preferences
from runs import scoring
from runs.announcements import announce
from runs.models import ContainmentRow, Evidence, Judging, Round, Run, RunEventKind, TrajectoryEvent, Trial
from tests.browser import campaign_stage, stage_set
from tests.browser.person import NAME, PASSWORD


def world() -> dict[str, Any]:
    """A person, a benchmark with a live run, and one with three finished runs."""
    User.objects.create_user(NAME, password=PASSWORD, is_staff=True)
    live = stage_set.live_run()
    finished = stage_set.finished_runs()
    trial = finished[0].trials.order_by("task__position").first()
    assert trial is not None
    evidence = Evidence.objects.filter(verdict__judging__round__trial=trial)
    return {
        "live": live.pk,
        "judged_trial": live.trials.get(task__key="seed-library").pk,
        "paused_trial": live.trials.get(task__key="tool-loan").pk,
        "queued_trial": live.trials.get(task__key="bread-log").pk,
        "benchmark": live.benchmark_id,
        "compared": finished[0].benchmark_id,
        "finished": [run.pk for run in finished],
        "trial": trial.pk,
        "picture": evidence.filter(kind="screenshot").values_list("pk", flat=True)[0],
        "actions": evidence.filter(kind="actions").values_list("pk", flat=True)[0],
    }


def without_sandbox() -> dict[str, Any]:
    """A finished run without a sandbox beside one with: a first round left things, a second one nothing."""
    of = stage_set.benchmark(f"bare-{Run.objects.count()}", tasks=("seed-library",))
    bare, walled = stage_set.run(of), stage_set.run(of, agent="osprey-1")
    Run.objects.filter(pk=bare.pk).update(sandbox="none", name="Quick look")
    trials = [stage_set.trial(run, "seed-library", ["ppffsppfpfsspa"] * 2) for run in (bare, walled)]
    for run in (bare, walled):
        scoring.store(run)
    memory = {"kind": "memory", "limit": 4 << 30, "seen": (4 << 30) + (90 << 20)}
    first, second = trials[0].rounds.order_by("number")
    common = {"round": first, "level": "none"}
    ContainmentRow.objects.create(**common, stage="code", use="agent", seconds_to_end=2.1)
    ContainmentRow.objects.create(**common, stage="deploy", use="build", limits_hit=[memory])
    ContainmentRow.objects.create(
        **common, stage="judge", use="serve", processes_left=1, ports_left=[3000], files_left=["/tmp/kept"]
    )
    for use, stage in (("agent", "code"), ("install", "deploy"), ("serve", "deploy")):
        ContainmentRow.objects.create(
            round=second, stage=stage, use=use, level="bubblewrap", seconds_to_end=0.2
        )
    return {"run": bare.pk, "walled": walled.pk, "trial": trials[0].pk}


def deliver_keys() -> dict[str, Any]:
    """Every key as it was delivered, for everybody."""
    Preferences.objects.all().delete()
    return {}


def small_live_run() -> dict[str, Any]:
    """A run of two trials of which one is being judged: for tests that change it."""
    of = stage_set.benchmark(f"small-{Run.objects.count()}", tasks=("seed-library", "tide-table"))
    run = stage_set.run(of, state=RunState.RUNNING)
    trial = stage_set.trial(
        run, "seed-library", ["pp............"], state=TrialState.RUNNING, stage=StageName.JUDGE
    )
    stage_set.trial(run, "tide-table", state=TrialState.QUEUED)
    return {"run": run.pk, "trial": trial.pk}


def judge_next(*, trial: int, letters: str) -> dict[str, Any]:
    """Save verdicts for the criteria after those that have some, and announce each."""
    shown = Trial.objects.select_related("run", "task").get(pk=trial)
    judging = Judging.objects.get(round__trial=shown, is_primary=True)
    done = judging.verdicts.values("outcome__criterion").distinct().count()
    stage_set.judge(judging, "." * done + letters, with_evidence=False)
    criteria = list(shown.task.criteria.order_by("position")[done : done + len(letters)])
    for criterion, letter in zip(criteria, letters, strict=True):
        mark: Mark = stage_set.LETTERS[letter]
        announce(
            run=shown.run, trial=shown, round_number=1, kind=RunEventKind.VERDICT, criterion=criterion.key, mark=mark,
            text=f"{criterion}: {mark.value}.",
        )  # fmt: skip
    return {"judged": done + len(letters)}


def finish(*, run: int) -> dict[str, Any]:
    """End a run as the engine would."""
    now = timezone.now()
    Trial.objects.filter(run=run).update(state=TrialState.FINISHED, finished_at=now, stage="")
    Run.objects.filter(pk=run).update(state=RunState.FINISHED, finished_at=now)
    announce(run=Run.objects.get(pk=run), kind=RunEventKind.RUN, text="The run is finished.")
    return {"run": run}


def hostile_texts() -> dict[str, Any]:
    """A task and a transcript that try to be markup, and hide control characters."""
    of = stage_set.benchmark(f"hostile-{Run.objects.count()}", tasks=("seed-library",))
    nasty = "<img src=x onerror=\"document.title='owned'\"> \x1b[31mred\x00 \u202eevil"
    Task.objects.filter(benchmark=of).update(title=nasty, request=nasty, prd=nasty)
    run = stage_set.run(of, agent=nasty[:60])
    trial = stage_set.trial(run, "seed-library", ["ppffsppfpfsspa"])
    Round.objects.filter(trial=trial).update(feedback=nasty, request=nasty)
    TrajectoryEvent.objects.filter(round__trial=trial).update(text=nasty)
    return {"run": run.pk, "trial": trial.pk, "benchmark": of.pk}


def large_run(*, trials: int) -> dict[str, Any]:
    """A run with many trials, for the window of the grid."""
    keys = tuple(f"task-{number:03d}" for number in range(trials))
    rubric = stage_set.RUBRIC[:2]
    of = stage_set.benchmark(f"large-{trials}", tasks=keys, rubric=rubric)
    run = stage_set.run(of, state=RunState.RUNNING)
    for place, key in enumerate(keys):
        is_done = place < trials - 3
        state = TrialState.FINISHED if is_done else TrialState.QUEUED
        stage_set.trial(run, key, ["pf"] if is_done else [], state=state, with_evidence=False)
    return {"run": run.pk}


def campaigns() -> dict[str, Any]:
    """A draft, a campaign at work and one with free sets, over the finished runs of the world."""
    by, runs = User.objects.get(username=NAME), _finished()
    people = campaign_stage.annotators()
    at_work = campaign_stage.at_work(runs, people, by=by)
    free = campaign_stage.queue_of_sets(runs[:1], people, by=by)
    return draft_campaign() | {"at_work": at_work.pk, "free": free.pk}


def crowd() -> dict[str, Any]:
    """More runs, tasks and annotators than a choice shows at once."""
    keys = tuple(f"task-{number}" for number in range(12))
    of = stage_set.benchmark(f"crowd-{Run.objects.count()}", tasks=keys, rubric=stage_set.RUBRIC[:2])
    group, _ = Group.objects.get_or_create(name="annotator")
    for number in range(12):
        run = stage_set.run(of, agent=f"agent-{number}")
        for key in keys:
            stage_set.trial(run, key, ["pf"], with_evidence=False)
        User.objects.create_user(f"marker-{number}").groups.add(group)
    return {"run": run.pk}


def draft_campaign() -> dict[str, Any]:
    """A campaign that is planned and can be opened."""
    by = User.objects.get(username=NAME)
    return {"draft": campaign_stage.draft(_finished(), campaign_stage.annotators(), by=by).pk}


def _finished() -> list[Run]:
    runs = Run.objects.filter(state=RunState.FINISHED, trials__rounds__isnull=False)
    return list(runs.distinct().order_by("pk")[:3])
