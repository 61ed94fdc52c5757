"""Read what a run's page shows, in a number of queries that does not grow with its trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Case, Count, IntegerField, QuerySet, Value, When

from benchmark.models import Criterion
from benchmark.rules.vocabulary import Mark, RoundState, StageName, TrialState
from runs.history import marks_of_trials
from runs.models import Round, Run, RunEvent, RunEventKind, Trial, Verdict
from runs.pages.grid import GridCriterion, GridRound, GridTrial
from runs.pages.progress import Progress

TRIALS_A_PAGE = 50
MOST_CRITERIA_READ = 200
"""A task with more criteria is shown by counts of outcomes, and its marks are not read one by one."""

_UNFINISHED_FIRST = Case(
    When(state=TrialState.PAUSED, then=Value(0)),
    When(state=TrialState.RUNNING, then=Value(1)),
    When(state=TrialState.QUEUED, then=Value(2)),
    default=Value(3),
    output_field=IntegerField(),
)


def trials_in_order(run: Run) -> QuerySet[Trial]:
    """Trials in rubric order; a run with more than one page of them has the unfinished ones first."""
    trials = Trial.objects.filter(run=run).select_related("task")
    if trials.count() > TRIALS_A_PAGE:
        return trials.order_by(_UNFINISHED_FIRST, "task__position", "repeat")
    return trials.order_by("task__position", "repeat")


def progress_of(run: Run) -> Progress:
    """Trials of a run by what they are doing."""
    return progress_of_runs([run.pk])[run.pk]


def progress_of_runs(run_ids: Sequence[int]) -> dict[int, Progress]:
    """Run → its trials by what they are doing, in one query."""
    counts: dict[int, Counter[str]] = {pk: Counter() for pk in run_ids}
    rows = Trial.objects.filter(run__in=run_ids).order_by().values_list("run_id", "state")
    for run_id, state, count in rows.annotate(Count("pk")):
        counts[run_id][state] = count
    return {
        pk: Progress(
            finished=count[TrialState.FINISHED] + count[TrialState.AUDIT_FAILED],
            working=count[TrialState.RUNNING],
            paused=count[TrialState.PAUSED],
            queued=count[TrialState.QUEUED],
            cancelled=count[TrialState.CANCELLED],
        )
        for pk, count in counts.items()
    }


def errors_of(run: Run) -> int:
    """Marks of the primary judgings that are error."""
    return Verdict.objects.filter(
        judging__round__trial__run=run, judging__is_primary=True, mark=Mark.ERROR
    ).count()


def grid_trials(trials: Sequence[Trial]) -> list[GridTrial]:
    """Read rounds, criteria and marks of these trials: five queries, whatever their number."""
    ids = [trial.pk for trial in trials]
    criteria = _criteria({trial.task_id for trial in trials})
    rounds: dict[int, list[Round]] = defaultdict(list)
    fields = ("trial_id", "number", "state", "opened_at", "closed_at")
    for round_ in Round.objects.filter(trial__in=ids).only(*fields).order_by("trial_id", "number"):
        rounds[round_.trial_id].append(round_)
    large = [trial.pk for trial in trials if len(criteria[trial.task_id]) > MOST_CRITERIA_READ]
    marks = marks_of_trials([pk for pk in ids if pk not in set(large)])
    tallies = _tallies(large)
    running = _running(trials)
    return [
        GridTrial(
            pk=trial.pk,
            task_key=trial.task.key,
            task_title=trial.task.title,
            repeat=trial.repeat,
            state=TrialState(trial.state),
            stage=StageName(trial.stage) if trial.stage else None,
            trouble=trial.trouble,
            href=trial.get_absolute_url(),
            criteria=criteria[trial.task_id],
            rounds=[
                GridRound(
                    number=round_.number,
                    state=RoundState(round_.state),
                    opened_at=round_.opened_at,
                    closed_at=round_.closed_at,
                    marks=marks.get(trial.pk, {}).get(round_.number, {}),
                    running=running.get((trial.pk, round_.number), frozenset()),
                    tally=tallies.get((trial.pk, round_.number), {}) if trial.pk in large else None,
                )
                for round_ in rounds[trial.pk]
            ],
        )
        for trial in trials
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlinedCriterion:
    """A criterion of a task with its prerequisites, without outcomes."""

    key: str
    title: str
    kind: str
    weight: int
    needs: tuple[str, ...]


def outline_of(task_id: int) -> list[OutlinedCriterion]:
    """The rubric of a task without its outcomes, in two queries."""
    needs: dict[str, list[str]] = defaultdict(list)
    criteria = Criterion.objects.filter(task=task_id)
    edges = criteria.exclude(prerequisites=None).order_by("prerequisites__pk")
    for key, need in edges.values_list("key", "prerequisites__needs__key"):
        needs[key].append(need)
    return [
        OutlinedCriterion(key=key, title=title, kind=kind, weight=weight, needs=tuple(needs[key]))
        for key, title, kind, weight in criteria.order_by("position").values_list(
            "key", "title", "kind", "weight"
        )
    ]


def _criteria(task_ids: Iterable[int]) -> Mapping[int, list[GridCriterion]]:
    criteria: dict[int, list[GridCriterion]] = defaultdict(list)
    rows = Criterion.objects.filter(task__in=list(task_ids)).order_by("task_id", "position")
    for task_id, key, weight in rows.values_list("task_id", "key", "weight"):
        criteria[task_id].append(GridCriterion(key=key, weight=weight))
    return criteria


def _tallies(trial_ids: Sequence[int]) -> dict[tuple[int, int], dict[Mark, int]]:
    found: dict[tuple[int, int], dict[Mark, int]] = defaultdict(dict)
    if not trial_ids:
        return found
    rows = (
        Verdict.objects.filter(judging__round__trial__in=trial_ids, judging__is_primary=True)
        .order_by()
        .values_list("judging__round__trial_id", "judging__round__number", "mark")
        .annotate(Count("pk"))
    )
    for trial_id, number, mark, count in rows:
        found[trial_id, number][Mark(mark)] = count
    return found


def _running(trials: Sequence[Trial]) -> dict[tuple[int, int], frozenset[str]]:
    """What a judge began in a trial that is being judged; what has marks by now is left out later."""
    judging = [
        trial.pk for trial in trials if trial.state == TrialState.RUNNING and trial.stage == StageName.JUDGE
    ]
    if not judging:
        return {}
    found: dict[tuple[int, int], set[str]] = defaultdict(set)
    rows = RunEvent.objects.filter(kind=RunEventKind.BEGIN, trial__in=judging).order_by("pk")
    for trial_id, number, key in rows.values_list("trial_id", "round_number", "criterion"):
        if number is not None:
            found[trial_id, number].add(key)
    last = {trial_id: max(number for t, number in found if t == trial_id) for trial_id, _ in found}
    return {place: frozenset(keys) for place, keys in found.items() if place[1] == last[place[0]]}
