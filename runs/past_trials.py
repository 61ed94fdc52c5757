"""Read how long past trials of the same kind took, and say what a planned run will need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db.models import OuterRef, Q, Subquery

from benchmark.models import Benchmark
from benchmark.rules.vocabulary import StageName, TrialState
from runs.adapters.deployers import Limits as DeployLimits
from runs.capacity import Estimate, Limits, Need, PastTrial, Wish, estimate
from runs.models import Round, StageRecord, TrajectoryEvent, Trial

MOST_PAST = 60
"""How many of the newest trials are looked at: enough for a median, and of the present agent and machine."""
LAST_EVENTS = 20
"""An agent that counts its tokens says so at the end of its work."""

_NEEDS = {StageName.CODE: Need.AGENT, StageName.DEPLOY: Need.DEPLOY, StageName.JUDGE: Need.JUDGE}


def estimated(
    benchmark: Benchmark,
    *,
    agent: str,
    agent_settings: Mapping[str, Any],
    judge: str,
    judge_settings: Mapping[str, Any],
    protocol_settings: Mapping[str, Any],
    trials: int,
) -> Estimate:
    """Return what a run will need: by past trials of this benchmark, agent and judge, in four queries at most."""
    wish = Wish(
        trials=trials,
        rounds=rounds_at_most(protocol_settings),
        workers=settings.WORKER_THREADS,
        browsers=settings.BROWSERS_AT_ONCE,
        criteria_at_once=max(1, int(_number(judge_settings.get("concurrency")) or 1)),
        limits=_limits(agent_settings, judge_settings),
    )
    return estimate(wish, past_trials(benchmark, agent=agent, judge=judge))


def rounds_at_most(protocol_settings: Mapping[str, Any]) -> int:
    """How many rounds a trial may have under these settings."""
    # With the clarified requirements as the request there is one round by definition.
    if protocol_settings.get("request") == "prd":
        return 1
    return max(1, int(_number(protocol_settings.get("max_rounds")) or 1))


def past_trials(benchmark: Benchmark, *, agent: str, judge: str) -> list[PastTrial]:
    """Return the newest finished trials of one benchmark, code agent and judge."""
    finished = Trial.objects.filter(
        run__benchmark=benchmark, run__code_agent=agent, run__judge=judge, state=TrialState.FINISHED
    )
    ids = list(finished.order_by("-pk").values_list("pk", flat=True)[:MOST_PAST])
    if not ids:
        return []
    seconds: dict[int, dict[Need, float]] = defaultdict(lambda: defaultdict(float))
    records = StageRecord.objects.filter(round__trial__in=ids, finished_at__isnull=False).order_by()
    for trial, stage, began, ended in records.values_list(
        "round__trial_id", "stage", "started_at", "finished_at"
    ):
        need = _NEEDS.get(StageName(stage), Need.OTHER)
        if ended is not None:
            seconds[trial][need] += max(0.0, (ended - began).total_seconds())
    rounds, tokens, cost = _reported(ids)
    return [
        PastTrial(seconds=dict(seconds[pk]), rounds=rounds[pk], tokens=tokens.get(pk), cost=cost.get(pk))
        for pk in ids
        if pk in seconds
    ]


def _reported(trials: Sequence[int]) -> tuple[dict[int, int], dict[int, int], dict[int, float]]:
    """Rounds by trial, and tokens and cost of those whose agent reported them at the end of a round."""
    newest = TrajectoryEvent.objects.filter(round=OuterRef("pk")).order_by("-position").values("position")[:1]
    rows = Round.objects.filter(trial__in=trials).order_by().annotate(last=Subquery(newest))
    rounds: dict[int, int] = defaultdict(int)
    at_the_end = Q()
    trial_of: dict[int, int] = {}
    for pk, trial, last in rows.values_list("pk", "trial_id", "last"):
        rounds[trial] += 1
        if last is not None:
            trial_of[pk] = trial
            at_the_end |= Q(round=pk, position__gt=last - LAST_EVENTS)
    tokens: dict[int, int] = {}
    cost: dict[int, float] = {}
    if not trial_of:
        return rounds, tokens, cost
    said: dict[int, list[Any]] = defaultdict(list)
    for round_, data in TrajectoryEvent.objects.filter(at_the_end).values_list("round_id", "data"):
        said[round_].append(data)
    for round_, given in said.items():
        trial = trial_of[round_]
        if (counted := tokens_of(given)) is not None:
            tokens[trial] = tokens.get(trial, 0) + counted
        if (spent := cost_of(given)) is not None:
            cost[trial] = cost.get(trial, 0.0) + spent
    return rounds, tokens, cost


def tokens_of(events: Iterable[Any]) -> int | None:
    """The tokens of a round, by the largest count among its last events; None where none counts any.

    Command-line agents close with an event whose `usage` holds `input_tokens` and `output_tokens`; what they
    read from a cache is told beside those and left out, because it is priced otherwise.
    """
    counts = []
    for event in events:
        usage = event.get("usage") if isinstance(event, dict) else None
        if isinstance(usage, dict):
            parts = [_number(usage.get(name)) for name in ("input_tokens", "output_tokens")]
            if any(part is not None for part in parts):
                counts.append(int(sum(part or 0 for part in parts)))
    return max(counts, default=None)


def cost_of(events: Iterable[Any]) -> float | None:
    """What a round cost, as an agent's last events say in `total_cost_usd`; None where none says it."""
    said = [_number(event.get("total_cost_usd")) for event in events if isinstance(event, dict)]
    return max((each for each in said if each is not None), default=None)


def _limits(agent_settings: Mapping[str, Any], judge_settings: Mapping[str, Any]) -> Limits:
    deploying = DeployLimits()
    return Limits(
        seconds={
            Need.AGENT: _number(agent_settings.get("wall_clock")) or 0.0,
            Need.DEPLOY: deploying.install + deploying.build + deploying.start,
            Need.JUDGE: _number(judge_settings.get("time_limit")) or 0.0,
        }
    )


def _number(given: Any) -> float | None:
    """A number that is none of the odd ones, also as text; None for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        number = float(given)
    except ValueError:
        return None
    return number if 0 <= number < 1e15 else None
