"""Runs as rows of a list: progress and leading figures of many runs in two queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from benchmark.display import Figure, figure
from benchmark.protocols import protocol
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import RunState, TrialState
from runs.models import Run, Trial
from runs.pages import figures
from runs.pages.progress import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """One run of a list; `look` is the shape of its state, empty where none is needed."""

    run: Run
    progress: Progress
    label: str
    figure: Figure
    look: str
    state: str


def listed_runs(runs: Sequence[Run]) -> list[ListedRun]:
    """Rows for runs whose benchmarks are loaded."""
    ids = [run.pk for run in runs]
    progress = _progress(ids)
    numbers = figures.headline(ids)
    return [
        ListedRun(
            run=run,
            progress=progress[run.pk],
            label=_label(run),
            figure=_figure(run, numbers.get(run.pk, {})),
            look={RunState.RUNNING: "running", RunState.QUEUED: "waiting"}.get(RunState(run.state), ""),
            state=run.get_state_display(),
        )
        for run in runs
    ]


def _progress(run_ids: Sequence[int]) -> Mapping[int, Progress]:
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows = (
        Trial.objects.filter(run__in=run_ids).order_by().values_list("run_id", "state").annotate(Count("pk"))
    )
    for run_id, state, count in rows:
        counts[run_id][state] = count
    return {
        pk: Progress(
            finished=counts[pk][TrialState.FINISHED] + counts[pk][TrialState.AUDIT_FAILED],
            working=counts[pk][TrialState.RUNNING],
            paused=counts[pk][TrialState.PAUSED],
            queued=counts[pk][TrialState.QUEUED],
            cancelled=counts[pk][TrialState.CANCELLED],
        )
        for pk in run_ids
    }


def _label(run: Run) -> str:
    """What the run's leading figure is called, empty where its protocol is not known here."""
    try:
        return figures.leading_metrics(protocol(run.protocol), most=1)[0].label
    except LookupError:
        return ""


def _figure(run: Run, estimates: Mapping[str, Estimate]) -> Figure:
    absent = Estimate(
        value=None, n=0, reason="no task has finished yet" if run.is_unfinished else "nothing was scored"
    )
    try:
        spec = figures.leading_metrics(protocol(run.protocol), most=1)[0]
    except LookupError as unknown:
        return Figure(value="–", reason=str(unknown))
    return figure(estimates.get(spec.name, absent), unit=spec.unit)
