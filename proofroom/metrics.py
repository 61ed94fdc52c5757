"""Numbers for Prometheus: a handful of queries each time, whichever process is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import redis
from django.db import DatabaseError
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from annotation.models import Revision
from benchmark.rules.vocabulary import TrialState
from runs import liveness, previews, workers
from runs.adapters.previews import PreviewState
from runs.models import Trial, Verdict
from runs.queues import Queue

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

own = CollectorRegistry()
"""What this process alone knows: how long its answers took."""

REQUEST_SECONDS = Histogram(
    "proofroom_request_seconds",
    "Seconds until an answer's head was ready, by the name of the view (never the path).",
    ["view", "status"],
    buckets=BUCKETS,
    registry=own,
)


def observe(request: HttpRequest, response: HttpResponse, *, seconds: float) -> None:
    """Count one answer."""
    match = request.resolver_match
    view = match.view_name if match is not None and match.view_name else "none"
    REQUEST_SECONDS.labels(view=view, status=f"{response.status_code // 100}xx").observe(seconds)


def exposition() -> bytes:
    """Everything in Prometheus' text format."""
    return generate_latest(own) + generate_latest(_shared)


class _Shared(Collector):
    """What every process would answer alike, read when it is asked for."""

    def collect(self) -> Iterable[Metric]:
        yield from _read("database", _of_database, DatabaseError)
        yield from _read("redis", _of_redis, redis.RedisError)
        yield from _of_previews()


def _read(name: str, source: Callable[[], Iterator[Metric]], trouble: type[Exception]) -> Iterator[Metric]:
    up = GaugeMetricFamily(f"proofroom_{name}_up", f"Whether the {name} answered this time.")
    try:
        found = list(source())
    except trouble:
        up.add_metric([], 0)
        found = []
    else:
        up.add_metric([], 1)
    yield up
    yield from found


def _of_database() -> Iterator[Metric]:
    trials = GaugeMetricFamily("proofroom_trials", "Trials by state.", labels=["state"])
    counted = dict(Trial.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in TrialState:
        trials.add_metric([state.value], counted.get(state.value, 0))
    yield trials
    steps = workers.steps_by_queue(now=timezone.now())
    waiting = GaugeMetricFamily(
        "proofroom_steps_waiting", "Steps that a worker could take now, by queue.", labels=["queue"]
    )
    running = GaugeMetricFamily("proofroom_steps_running", "Steps at work, by queue.", labels=["queue"])
    for queue, found in steps.items():
        waiting.add_metric([queue.value], found.waiting)
        running.add_metric([queue.value], found.running)
    yield waiting
    yield running
    yield _ever(
        "proofroom_verdicts", "Verdicts given (numbers that were taken and given back count).", Verdict
    )
    yield _ever("proofroom_label_saves", "Marks that people saved (likewise).", Revision)


def _ever(name: str, text: str, model: type[Verdict | Revision]) -> Metric:
    # The highest number is one step in an index; counting the rows would be all of them.
    highest = model.objects.order_by().aggregate(highest=Max("pk"))["highest"]
    return CounterMetricFamily(name, text, value=highest or 0)


def _of_redis() -> Iterator[Metric]:
    living = liveness.living()
    takers = GaugeMetricFamily(
        "proofroom_workers", "Worker processes that told of themselves lately, by queue.", labels=["queue"]
    )
    for queue in Queue:
        takers.add_metric([queue.value], sum(queue in worker.queues for worker in living))
    yield takers
    yield GaugeMetricFamily(
        "proofroom_worker_threads",
        "Trials that all of them can advance at once.",
        sum(w.threads for w in living),
    )
    yield GaugeMetricFamily("proofroom_browsers", "Browsers of judges.", sum(w.browsers for w in living))
    yield CounterMetricFamily(
        "proofroom_lease_expiries",
        "Trials that were taken over from a silent worker.",
        value=liveness.counts().get(liveness.LEASE_EXPIRIES, 0),
    )


def _of_previews() -> Iterator[Metric]:
    family = GaugeMetricFamily("proofroom_previews", "Previews of this process by state.", labels=["state"])
    found = previews.numbers()
    for state in (PreviewState.QUEUED, PreviewState.STARTING, PreviewState.RUNNING):
        family.add_metric([state.value], found.get(state, 0))
    yield family


_shared = CollectorRegistry(auto_describe=False)
_shared.register(_Shared())
