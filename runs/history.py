"""Read rows into plain records: a few queries a trial, none of them hidden, no evidence loaded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from django.db.models import FETCH_RAISE, Count

from benchmark.models import Criterion, ExpectedOutcome, Task
from benchmark.protocols import protocol
from benchmark.rules.records import (
    CriterionSpec,
    OutcomeSpec,
    RoundRecord,
    Scores,
    TaskSpec,
    TrialRecord,
)
from benchmark.rules.vocabulary import ExitReason, Mark, Role, StageName, TrialState
from runs.models import Round, Run, StageRecord, Trial, Verdict

type MarksByRound = Mapping[int, Mapping[str, tuple[Mark, ...]]]


def trial_record(trial: Trial) -> TrialRecord:
    """One trial with scripts and rationales, as planning, judging and feedback need it."""
    task = Task.objects.get(pk=trial.task_id).spec()
    run = Run.objects.get(pk=trial.run_id)
    records = _records([trial], {trial.task_id: task}, settings=run.settings)
    return _with_rationales(records[0], trial)


def trial_records(run: Run) -> list[TrialRecord]:
    """All trials of a run in task order, without scripts and texts: enough for every number."""
    trials = list(Trial.objects.filter(run=run).order_by("task__position", "repeat").fetch_mode(FETCH_RAISE))
    tasks = _task_outlines({trial.task_id for trial in trials})
    return _records(trials, tasks, settings=run.settings)


def trial_records_of(runs: Sequence[Run]) -> dict[int, list[TrialRecord]]:
    """Run → its trials as `trial_records` reads them, in a number of queries that does not grow with the runs."""
    settings = {run.pk: run.settings for run in runs}
    trials = list(
        Trial.objects.filter(run__in=list(settings))
        .order_by("run_id", "task__position", "repeat")
        .fetch_mode(FETCH_RAISE)
    )
    tasks = _task_outlines({trial.task_id for trial in trials})
    found: dict[int, list[TrialRecord]] = {pk: [] for pk in settings}
    for trial, record in zip(trials, _records(trials, tasks, settings={}), strict=True):
        found[trial.run_id].append(replace(record, settings=settings[trial.run_id]))
    return found


def scores(run: Run) -> Scores:
    """Every number of a run as it stands now, computed from its marks."""
    recipe = protocol(run.protocol)
    return recipe.score(trial_records(run), run.settings)


def marks_by_round(trial: Trial) -> MarksByRound:
    """Marks per outcome of one trial: round number → criterion key → marks (primary judging)."""
    return marks_of_trials([trial.pk]).get(trial.pk, {})


def marks_of_trials(
    trial_ids: Sequence[int],
) -> dict[int, dict[int, dict[str, tuple[Mark, ...]]]]:
    """Final marks of primary judgings: trial id → round number → criterion key → marks."""
    rows = (
        Verdict.objects.filter(judging__round__trial__in=trial_ids, judging__is_primary=True)
        .order_by("outcome__criterion__position", "outcome__index")
        .values_list(
            "judging__round__trial_id",
            "judging__round__number",
            "outcome__criterion__key",
            "outcome__index",
            "role",
            "mark",
        )
    )
    final: dict[tuple[int, int, str, int], tuple[bool, Mark]] = {}
    for trial_id, number, key, index, role, mark in rows.iterator():
        place = (trial_id, number, key, index)
        # The refuter's verdict, where there is one, is the final one.
        is_final = role == Role.REFUTED
        if place not in final or is_final:
            final[place] = (is_final, Mark(mark))
    result: dict[int, dict[int, dict[str, tuple[Mark, ...]]]] = {}
    for (trial_id, number, key, _index), (_, mark) in final.items():
        by_key = result.setdefault(trial_id, {}).setdefault(number, {})
        by_key[key] = (*by_key.get(key, ()), mark)
    return result


def _records(
    trials: Sequence[Trial], tasks: Mapping[int, TaskSpec], *, settings: Mapping[str, object]
) -> list[TrialRecord]:
    ids = [trial.pk for trial in trials]
    marks = marks_of_trials(ids)
    rounds: dict[int, list[Round]] = defaultdict(list)
    for round_ in Round.objects.filter(trial__in=ids).order_by("trial_id", "number"):
        rounds[round_.trial_id].append(round_)
    completed: dict[int, set[StageName]] = defaultdict(set)
    done = StageRecord.objects.filter(round__trial__in=ids).exclude(finished_at=None)
    for round_id, stage in done.values_list("round_id", "stage"):
        completed[round_id].add(StageName(stage))
    return [
        TrialRecord(
            task=tasks[trial.task_id],
            repeat=trial.repeat,
            rounds=tuple(
                RoundRecord(
                    number=round_.number,
                    marks=marks.get(trial.pk, {}).get(round_.number, {}),
                    completed=frozenset(completed[round_.pk]),
                    request=round_.request,
                    feedback=round_.feedback,
                    exit_reason=ExitReason(round_.exit_reason) if round_.exit_reason else None,
                )
                for round_ in rounds[trial.pk]
            ),
            state=TrialState(trial.state),
            settings=settings,
        )
        for trial in trials
    ]


def _with_rationales(record: TrialRecord, trial: Trial) -> TrialRecord:
    rows = (
        Verdict.objects.filter(judging__round__trial=trial, judging__is_primary=True, role=Role.PRIMARY)
        .order_by("outcome__criterion__position", "outcome__index")
        .values_list("judging__round__number", "outcome__criterion__key", "rationale")
    )
    rationales: dict[int, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for number, key, rationale in rows:
        rationales[number][key] = (*rationales[number].get(key, ()), rationale)
    return replace(
        record,
        rounds=tuple(replace(round_, rationales=rationales[round_.number]) for round_ in record.rounds),
    )


def _task_outlines(task_ids: Iterable[int]) -> dict[int, TaskSpec]:
    """Tasks with keys, kinds, weights, prerequisites and outcome counts; texts are left out."""
    ids = list(task_ids)
    needs: dict[int, list[str]] = defaultdict(list)
    edges = Criterion.objects.filter(task__in=ids).exclude(prerequisites=None)
    for pk, key in edges.values_list("pk", "prerequisites__needs__key"):
        needs[pk].append(key)
    counted = ExpectedOutcome.objects.filter(criterion__task__in=ids).order_by()
    outcomes = dict(counted.values_list("criterion_id").annotate(Count("pk")))
    criteria: dict[int, list[CriterionSpec]] = defaultdict(list)
    rows = Criterion.objects.filter(task__in=ids).order_by("task_id", "position")
    for pk, task_id, key, kind, weight in rows.values_list("pk", "task_id", "key", "kind", "weight"):
        criteria[task_id].append(
            CriterionSpec(
                key=key,
                kind=kind,
                weight=weight,
                needs=tuple(needs[pk]),
                outcomes=(OutcomeSpec(text=""),) * outcomes[pk],
            )
        )
    return {
        pk: TaskSpec(key=key, title=title, request="", criteria=tuple(criteria[pk]))
        for pk, key, title in Task.objects.filter(pk__in=ids).values_list("pk", "key", "title")
    }
