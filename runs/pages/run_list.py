"""The list of runs: filters from the address, keyset paging, counts of trials in one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from benchmark.rules.vocabulary import RunState, TrialState
from runs.models import Run, Trial

RUNS_A_PAGE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """What the address asks for; an unknown value is left out rather than refused."""

    query: str = ""
    state: str = ""
    benchmark: str = ""
    agent: str = ""
    before: int | None = None

    @classmethod
    def from_address(cls, given: Mapping[str, str]) -> RunFilter:
        before = given.get("before", "")
        state = given.get("state", "")
        benchmark = given.get("benchmark", "")
        return cls(
            query=given.get("q", "").strip()[:200],
            state=state if state in RunState else "",
            benchmark=benchmark if benchmark.isdecimal() else "",
            agent=given.get("agent", "")[:200],
            before=int(before) if before.isdecimal() else None,
        )

    @property
    def is_set(self) -> bool:
        return bool(self.query or self.state or self.benchmark or self.agent)

    def apply(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        if self.state:
            runs = runs.filter(state=self.state)
        if self.benchmark:
            runs = runs.filter(benchmark=int(self.benchmark))
        if self.agent:
            runs = runs.filter(code_agent_label=self.agent)
        if self.query:
            runs = runs.filter(_matches(self.query))
        return runs


def _matches(query: str) -> Q:
    found = (
        Q(name__icontains=query)
        | Q(code_agent_label__icontains=query)
        | Q(code_agent__icontains=query)
        | Q(benchmark__key__icontains=query)
        | Q(trials__task__key__icontains=query)
    )
    number = query.lower().removeprefix("run").strip().removeprefix("#")
    return found | Q(pk=int(number)) if number.isdecimal() and len(number) < 18 else found


def trial_counts(runs: Sequence[Run]) -> dict[int, dict[str, int]]:
    """Run → state → number of its trials, in one query."""
    counts: dict[int, dict[str, int]] = {run.pk: {} for run in runs}
    rows = Trial.objects.filter(run__in=runs).order_by().values_list("run", "state").annotate(Count("pk"))
    for run_id, state, count in rows:
        counts[run_id][state] = count
    return counts


def finished_of(counts: Mapping[str, int]) -> tuple[int, int]:
    """Finished trials and all trials."""
    finished = counts.get(TrialState.FINISHED, 0) + counts.get(TrialState.AUDIT_FAILED, 0)
    return finished, sum(counts.values())
