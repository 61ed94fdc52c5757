"""Every number of a report as one row: stable columns, shares in [0, 1], undefined ones with reason."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from benchmark.rules.records import Estimate
from people.plain_cells import begins_formula
from runs.reporting.tables import Scored

COLUMNS = (
    "run",
    "agent",
    "protocol",
    "task",
    "round",
    "metric",
    "value",
    "half_width",
    "n",
    "denominator",
    "reason",
    "caution",
)


def csv_text(runs: Sequence[Scored]) -> str:
    """Rows for all tasks together (task empty), each round, and each task."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run in runs:
        for task, round_number, metrics in _scopes(run):
            for name, estimate in metrics.items():
                writer.writerow(_row(run, task, round_number, name, estimate))
    return out.getvalue()


def neutral(text: str) -> str:
    """A text that a spreadsheet does not run as a formula; numbers are never passed here."""
    return f"'{text}" if begins_formula(text) else text


def _scopes(run: Scored) -> Iterator[tuple[str, str, Mapping[str, Estimate]]]:
    yield "", "", run.scores.metrics
    for at in run.scores.per_round:
        yield "", str(at.round), at.metrics
    for task, metrics in run.scores.per_task.items():
        yield task, "", metrics


def _row(run: Scored, task: str, round_number: str, name: str, estimate: Estimate) -> list[object]:
    return [
        run.run,
        neutral(run.agent),
        run.protocol.name,
        neutral(task),
        round_number,
        name,
        "" if estimate.value is None else repr(estimate.value),
        "" if estimate.half_width is None else repr(estimate.half_width),
        estimate.n,
        "" if estimate.denominator is None else f"{estimate.denominator:.10g}",
        neutral(estimate.reason or ""),
        run.caution,
    ]
