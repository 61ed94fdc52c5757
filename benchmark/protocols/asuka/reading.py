"""Read an Asuka marks file into trials, refusing what the rules would have to guess at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.protocols.asuka.metrics import KINDS
from benchmark.protocols.asuka.settings import SETTINGS, AsukaSettings, settings_from
from benchmark.rules.graph import in_dependency_order
from benchmark.rules.marks import Reach, reachability
from benchmark.rules.marksfile import BadMarks, FileRules, FileTrial, tasks_in, trials_in
from benchmark.rules.protocol import BadSetting
from benchmark.rules.records import TrialRecord
from benchmark.rules.vocabulary import Mark, Mode, TrialState

MARKS = (Mark.PASS, Mark.FAIL, Mark.ERROR)
WEIGHTS = (1, 5)


def read_marks(document: Mapping[str, Any]) -> tuple[TrialRecord, ...]:
    """Return a finished trial for each task and repeat of the file.

    Raises BadMarks with one sentence that names the value and the way out.
    """
    given = document.get("settings", {})
    settings = _settings(given)
    rules = FileRules(kinds=KINDS, marks=MARKS, weights=WEIGHTS, may_skip=settings.mode is Mode.DAG)
    tasks = tasks_in(document, rules=rules)
    trials = trials_in(document, tasks=tasks, rules=rules)
    for trial in trials:
        _check_skips(trial, settings=settings)
    return tuple(
        TrialRecord(
            task=trial.task,
            repeat=trial.repeat,
            rounds=trial.rounds,
            state=TrialState.FINISHED,
            settings=given,
        )
        for trial in trials
    )


def _settings(given: object) -> AsukaSettings:
    if not isinstance(given, Mapping):
        raise BadMarks(f"`settings` is {given!r}; it must be an object.")
    known = [spec.name for spec in SETTINGS]
    for name in given:
        if name not in known:
            raise BadMarks(f"Asuka has no setting {name!r}; it has {', '.join(known)}.")
    try:
        return settings_from(given)
    except BadSetting as trouble:
        raise BadMarks(str(trouble)) from trouble


def _check_skips(trial: FileTrial, *, settings: AsukaSettings) -> None:
    """Refuse a supplied skip that nothing explains: its criterion should have been judged."""
    for round_, supplied in zip(trial.rounds, trial.supplied_skips, strict=True):
        if not supplied:
            continue
        absent = {criterion.key: (Mark.ERROR,) * len(criterion.outcomes) for criterion in trial.task.criteria}
        reaches = reachability(
            trial.task.criteria,
            absent | dict(round_.marks),
            threshold=settings.threshold,
            mode=settings.mode,
        )
        for criterion in in_dependency_order(trial.task.criteria):
            if criterion.key in supplied and reaches[criterion.key] is Reach.REACHED:
                raise BadMarks(
                    f"Round {round_.number} of task {trial.task.key!r} marks {criterion.key!r} as "
                    f"skipped, but its prerequisites are all satisfied at threshold "
                    f"{settings.threshold:g}; give its marks, or error."
                )
