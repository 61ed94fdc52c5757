"""Runs as rows of a list: progress and leading figures of many runs in two queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.display import UNDEFINED, Figure, Look, figure
from benchmark.protocols import protocol
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import RunState
from runs.models import Run
from runs.pages import figures
from runs.pages.progress import Progress
from runs.pages.run_rows import progress_of_runs

_LOOKS = {RunState.RUNNING: Look.RUNNING, RunState.QUEUED: Look.WAITING}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRun:
    """One run of a list; `look` is the shape of its state, None where none is needed."""

    run: Run
    progress: Progress
    label: str
    figure: Figure
    look: Look | None
    state: str


def listed_runs(runs: Sequence[Run]) -> list[ListedRun]:
    """Rows for runs whose benchmarks are loaded."""
    ids = [run.pk for run in runs]
    progress = progress_of_runs(ids)
    numbers = figures.headline(ids)
    return [
        ListedRun(
            run=run,
            progress=progress[run.pk],
            label=_label(run),
            figure=_figure(run, numbers.get(run.pk, {})),
            look=_LOOKS.get(RunState(run.state)),
            state=run.get_state_display(),
        )
        for run in runs
    ]


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
        return Figure(value=UNDEFINED, reason=str(unknown))
    return figure(estimates.get(spec.name, absent), unit=spec.unit)
