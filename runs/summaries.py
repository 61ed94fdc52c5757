"""A run as one plain document: what commands and API answer about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from benchmark.rules.marks import criterion_mark
from benchmark.rules.vocabulary import RoundState
from runs import containments
from runs.history import marks_of_trials
from runs.models import ContainmentRow, Round, Run, Trial


def run_document(run: Run) -> dict[str, Any]:
    """The run with its trials, rounds and marks, in a number of queries that does not grow."""
    trials = list(Trial.objects.filter(run=run).select_related("task").order_by("task__position", "repeat"))
    marks = marks_of_trials([trial.pk for trial in trials])
    rounds: dict[int, list[Round]] = defaultdict(list)
    for round_ in Round.objects.filter(trial__run=run).order_by("trial_id", "number"):
        rounds[round_.trial_id].append(round_)
    held: dict[int, list[ContainmentRow]] = defaultdict(list)
    for row in ContainmentRow.objects.filter(round__trial__run=run).order_by("pk"):
        held[row.round_id].append(row)
    return run_facts(run) | {
        "trials": [
            {
                "trial": trial.pk,
                "task": trial.task.key,
                "repeat": trial.repeat,
                "state": trial.state,
                "stage": trial.stage,
                "trouble": trial.trouble,
                "rounds": [
                    _round_document(round_, marks.get(trial.pk, {}).get(round_.number, {}), held[round_.pk])
                    for round_ in rounds[trial.pk]
                ],
            }
            for trial in trials
        ],
    }


def run_facts(run: Run) -> dict[str, Any]:
    """What a list says of a run; its benchmark is expected to be loaded."""
    return {
        "run": run.pk,
        "state": run.state,
        "name": run.name,
        "benchmark": {
            "key": run.benchmark.key,
            "version": run.benchmark.version,
            "hash": run.benchmark_hash,
        },
        "protocol": run.protocol,
        "agent": run.code_agent,
        "agent_label": run.agent_label,
        "agent_settings": run.code_agent_settings,
        "judge": run.judge,
        "judge_settings": run.judge_settings,
        "settings": run.settings,
        "repeats": run.repeats,
        "sandbox": run.sandbox,
        "cautions": run.cautions,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }


def _round_document(round_: Round, marks: dict[str, Any], held: Sequence[ContainmentRow]) -> dict[str, Any]:
    return {
        "round": round_.number,
        "complete": round_.state == RoundState.CLOSED,
        "exit": round_.exit_reason or None,
        "snapshot": round_.snapshot or None,
        "containment": [containments.as_json(row) for row in held],
        "criteria": {key: criterion_mark(given).value for key, given in marks.items()},
        "outcomes": {key: [mark.value for mark in given] for key, given in marks.items()},
    }
