"""Every number of an Asuka run, from the records of its trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from benchmark.protocols.asuka.metrics import (
    CUMULATIVE,
    KINDS,
    METRIC_SPECS,
    judged_metric,
    kind_metric,
    state_metric,
)
from benchmark.protocols.asuka.settings import AsukaSettings, settings_from
from benchmark.protocols.asuka.trials import JudgedTrial, is_settled, judged_trial
from benchmark.rules.intervals import (
    Ratio,
    average,
    mean_gap,
    mean_over_tasks,
    pooled_ratio,
    total,
    undefined,
)
from benchmark.rules.records import Estimate, RoundScores, Scores, TrialRecord
from benchmark.rules.vocabulary import Mark, Mode

NO_TASK = "There is no task to average over."
NO_KNOWN_CRITERION = "Every criterion of every task is error in all rounds."
NO_EARLIER_ROUND = "There is no earlier round in which something could have failed."
NOTHING_FAILED = "Nothing that was executed failed in the round before."
NOT_FLAT = "The gap needs a flat evaluation, which judges every criterion; this one skips."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """The trials of one task: one for each repeat. Numbers are averaged over them first."""

    key: str
    trials: tuple[JudgedTrial, ...]

    def share(self, of: Callable[[JudgedTrial], float | None]) -> float | None:
        return average([of(trial) for trial in self.trials])

    def ratio(self, of: Callable[[JudgedTrial], Ratio]) -> Ratio:
        ratios = [of(trial) for trial in self.trials]
        return Ratio(
            part=fsum(ratio.part for ratio in ratios) / len(ratios),
            whole=fsum(ratio.whole for ratio in ratios) / len(ratios),
        )

    def count(self, of: Callable[[JudgedTrial], int]) -> float:
        return sum(of(trial) for trial in self.trials) / len(self.trials)


def score(trials: Sequence[TrialRecord], settings: Mapping[str, Any]) -> Scores:
    """Return every metric of one run, over all its trials.

    While a trial still goes on the run is unfinished: only trials that have ended count then, and
    one of them without a judged mark is left out instead of counting 0.
    Raises BadSetting for a setting that cannot be, ValueError for marks that do not fit the rubric.
    """
    chosen = settings_from(settings)
    is_finished = all(is_settled(record) for record in trials)
    settled = [judged_trial(record, settings=chosen) for record in trials if is_settled(record)]
    counted = [trial for trial in settled if is_finished or trial.has_judged_mark]
    tasks = _by_task(counted)
    last = max((len(trial.rounds) for trial in counted), default=0)
    per_round = tuple(
        RoundScores(round=number, metrics=_metrics(tasks, number=number, settings=chosen))
        for number in range(1, last + 1)
    )
    return Scores(
        metrics=per_round[-1].metrics if per_round else _metrics(tasks, number=0, settings=chosen),
        per_task={task.key: _defined(_metrics([task], number=last, settings=chosen)) for task in tasks},
        per_round=per_round,
        criteria=_criterion_marks(counted, number=last),
        errors=sum(trial.marked_at(last, mark=Mark.ERROR) for trial in counted),
        skipped=sum(trial.marked_at(last, mark=Mark.SKIPPED) for trial in counted),
        infrastructure_failures=sum(not trial.has_judged_mark for trial in counted),
        unfinished=len({record.task.key for record in trials} - {task.key for task in tasks}),
    )


def _by_task(trials: Sequence[JudgedTrial]) -> tuple[_Task, ...]:
    by_key: dict[str, list[JudgedTrial]] = {}
    for trial in trials:
        by_key.setdefault(trial.task, []).append(trial)
    return tuple(_Task(key=key, trials=tuple(of_task)) for key, of_task in by_key.items())


def _metrics(tasks: Sequence[_Task], *, number: int, settings: AsukaSettings) -> dict[str, Estimate]:
    """Return every metric at the end of a round, in the order in which they are declared."""
    found = {
        **_means(tasks, number=number),
        **_fix_rates(tasks, number=number),
        **_regressions(tasks, number=number),
        **_gaps(tasks, number=number, settings=settings),
    }
    return {spec.name: found[spec.name] for spec in METRIC_SPECS}


def _means(tasks: Sequence[_Task], *, number: int) -> dict[str, Estimate]:
    """Return the means over tasks, each with the reason that holds where it is undefined."""
    reasons = dict.fromkeys((*CUMULATIVE, *map(state_metric, CUMULATIVE)), NO_TASK)
    reasons |= dict.fromkeys(map(judged_metric, CUMULATIVE), NO_KNOWN_CRITERION)
    reasons |= {kind_metric(kind): f"No task has a criterion of kind {kind}." for kind in KINDS}
    shares = [[trial.shares_at(number) for trial in task.trials] for task in tasks]
    return {
        name: mean_over_tasks(
            [average([of_trial.get(name) for of_trial in of_task]) for of_task in shares],
            if_none=reason if tasks else NO_TASK,
        )
        for name, reason in reasons.items()
    }


def _fix_rates(tasks: Sequence[_Task], *, number: int) -> dict[str, Estimate]:
    """Return the fix rates of the step into a round. (Asuka-Bench, appendix E)"""
    if number < 2:
        return dict.fromkeys(("task_fix_rate", "criteria_fix_rate"), undefined(NO_EARLIER_ROUND))
    criteria = [task.ratio(lambda trial: trial.criterion_fixes_at(number)) for task in tasks]
    outcomes = [task.ratio(lambda trial: trial.outcome_fixes_at(number)) for task in tasks]
    return {
        "task_fix_rate": pooled_ratio(criteria, if_none=NOTHING_FAILED),
        "criteria_fix_rate": pooled_ratio(outcomes, if_none=NOTHING_FAILED),
    }


def _regressions(tasks: Sequence[_Task], *, number: int) -> dict[str, Estimate]:
    failed = [task.count(lambda trial: trial.regressions_at(number, mark=Mark.FAIL)) for task in tasks]
    skipped = [task.count(lambda trial: trial.regressions_at(number, mark=Mark.SKIPPED)) for task in tasks]
    return {
        "regressions": total(failed, if_none=NO_TASK),
        "regressions_unreached": total(skipped, if_none=NO_TASK),
    }


def _gaps(tasks: Sequence[_Task], *, number: int, settings: AsukaSettings) -> dict[str, Estimate]:
    """Return full minus simulated pass rate, at the run's threshold and at 1. (Asuka-Bench, appendix A)"""
    thresholds = {"dag_gap": settings.threshold, "dag_gap_strict": 1.0}
    if settings.mode is not Mode.FLAT:
        return dict.fromkeys(thresholds, undefined(NOT_FLAT))
    full = [task.share(lambda trial: trial.pass_rate_at(number)) for task in tasks]

    def gap(threshold: float) -> Estimate:
        skipping = [
            task.share(lambda trial: trial.simulated_pass_rate_at(number, threshold=threshold))
            for task in tasks
        ]
        return mean_gap(full, skipping, if_none=NO_TASK)

    return {name: gap(threshold) for name, threshold in thresholds.items()}


def _defined(metrics: Mapping[str, Estimate]) -> dict[str, Estimate]:
    return {name: estimate for name, estimate in metrics.items() if estimate.is_defined}


def _criterion_marks(trials: Sequence[JudgedTrial], *, number: int) -> dict[str, dict[str, Mark]]:
    """Return the marks of the last round by task; a repeat after a task's first one is `task#2`."""
    marks: dict[str, dict[str, Mark]] = {}
    for trial in trials:
        name = trial.task if trial.task not in marks else f"{trial.task}#{trial.repeat}"
        states = trial.state_at(number)
        marks[name] = {each.key: states[each.key].mark for each in trial.criteria if each.key in states}
    return marks
