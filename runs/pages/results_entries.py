"""Read what a results page says of each run beside its numbers: its tasks, trials and state."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from benchmark.display import counted
from benchmark.rules.vocabulary import RunState, TrialState
from runs.models import Run, Trial
from runs.pages.numbers import RunNumbers
from runs.pages.results import Entry, names_of


def entries_of(runs: Sequence[Run], numbers: Mapping[int, RunNumbers]) -> list[Entry]:
    """An entry for each run, in one query."""
    trials: dict[int, dict[str, int]] = defaultdict(dict)
    open_tasks: dict[int, set[str]] = defaultdict(set)
    rows = Trial.objects.filter(run__in=[run.pk for run in runs]).order_by("task__position", "-repeat")
    for run_id, key, pk, state in rows.values_list("run_id", "task__key", "pk", "state"):
        trials[run_id][key] = pk
        if not TrialState(state).has_ended:
            open_tasks[run_id].add(key)
    names = names_of({run.pk: run.agent_label for run in runs})
    labels = Counter(run.agent_label for run in runs)
    return [
        Entry(
            run=run.pk,
            name=names[run.pk],
            agent=run.agent_label,
            under=_under(run, is_shared=labels[run.agent_label] > 1),
            href=run.get_absolute_url(),
            state_words=_state(run, tasks=len(trials[run.pk]), unfinished=len(open_tasks[run.pk])),
            is_over=not run.is_unfinished,
            tasks=tuple(trials[run.pk]),
            trials=trials[run.pk],
            numbers=numbers[run.pk],
        )
        for run in runs
    ]


def _under(run: Run, *, is_shared: bool) -> str:
    parts = [f"run {run.pk}"]
    if run.code_agent != run.agent_label:
        parts.append(run.code_agent)
    if run.name:
        parts.append(run.name)
    elif is_shared:
        parts.append(f"{run.created_at:%d %b}")
    return ", ".join(parts)


def _state(run: Run, *, tasks: int, unfinished: int) -> str:
    """Empty for a run that is finished."""
    if run.is_unfinished:
        return f"{run.state}: over {counted(tasks - unfinished, 'finished task')} of {tasks}"
    return "" if run.state == RunState.FINISHED else f"{run.state}: what was recorded counts"
