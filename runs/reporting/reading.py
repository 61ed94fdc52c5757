"""From stored runs to what a report says of them."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.protocols import protocol
from benchmark.rules.vocabulary import RunState, TrialState
from runs import history
from runs.isolation import NO_SANDBOX
from runs.models import Run
from runs.reporting.as_text import text_lines
from runs.reporting.tables import Scored, Table, comparison, tables_of


def scored(run: Run) -> Scored:
    """A run's numbers as they stand now; its benchmark is expected to be loaded."""
    recipe = protocol(run.protocol)
    scores = history.scores(run)
    over = run.trials.filter(
        state__in=[TrialState.FINISHED, TrialState.CANCELLED, TrialState.AUDIT_FAILED]
    ).count()
    trials = run.trials.count()
    settings = ", ".join(f"{name} = {value}" for name, value in run.settings.items())
    state = "" if run.state == RunState.FINISHED else f", {run.state}: {over} of {trials} trials over"
    return Scored(
        run=run.pk,
        agent=run.agent_label,
        protocol=recipe,
        scores=scores,
        facts=(
            (
                f"Run {run.pk}: {run.agent_label} ({run.code_agent}) on {run.benchmark.key} "
                f"v{run.benchmark.version}, content {run.benchmark_hash[:12]}{state}"
            ),
            f"Judge {run.judge}; sandbox {run.sandbox}; settings {settings}",
            (
                f"{len(scores.per_task)} tasks, {trials} trials, {scores.errors} errors, "
                f"{scores.skipped} skipped, {scores.infrastructure_failures} infrastructure failures, "
                f"{scores.audit_failed} audit failures"
            ),
        ),
        decisions=recipe.decisions(run.settings),
        caution=f"Run {run.pk} was {NO_SANDBOX}." if run.is_without_sandbox else "",
    )


def report_tables(runs: Sequence[Scored]) -> list[Table]:
    """One run: all its tables. Several: each protocol's comparison first, then each run's tables."""
    if len(runs) == 1:
        return list(tables_of(runs[0]))
    by_protocol: dict[str, list[Scored]] = {}
    for run in runs:
        by_protocol.setdefault(run.protocol.name, []).append(run)
    return [comparison(together) for together in by_protocol.values()] + [
        table for run in runs for table in tables_of(run)
    ]


def headline_lines(run: Run) -> list[str]:
    """The first declared table of a run as lines for a terminal."""
    fresh = Run.objects.select_related("benchmark").get(pk=run.pk)
    given = scored(fresh)
    return [given.facts[2], *text_lines(tables_of(given)[0])]
