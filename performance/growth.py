"""What a trial's steps and the pages cost the database as trials pile up: 1,000, 10,000 and so on.

Run it with `make bench ARGS=growth`, or: python -m performance.growth [--most TRIALS]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

TASKS, UNFINISHED_RUNS, AT_WORK = 20, 12, 24
FIRST, MOST, TIMES = 1_000, 100_000, 7
ALLOWED_GROWTH, LEAST_MS = 3.0, 1.0
"""A step may take so many times its first time before it counts as growing; below a millisecond is noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One step: how many queries, and the median of its processor time and its time, in milliseconds."""

    queries: int
    cpu_ms: float
    took_ms: float


def main(words: Sequence[str] = ()) -> int:
    """Measure in a process of its own, whose database is thrown away; 0 when no step grows."""
    parser = argparse.ArgumentParser(prog="python -m performance.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=MOST, help="The largest number of trials.")
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PROOFROOM")}
        kept |= {"PROOFROOM_DATA_DIR": folder, "DATABASE_URL": ""}
        done = subprocess.run(
            [sys.executable, "-m", "performance.growth", "--here", str(given.most)],
            env=kept | {"REDIS_URL": ""},
            cwd=Path(__file__).resolve().parent.parent,
            check=False,
        )
    return done.returncode


def _measured(most: int) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    scene = _Scene()
    sizes: list[int] = []
    costs: list[dict[str, Cost]] = []
    wanted = FIRST
    while wanted <= most:
        began = time.monotonic()
        scene.grow_to(wanted)
        made = time.monotonic() - began
        sizes.append(scene.trials())
        costs.append({name: _cost(step) for name, step in scene.steps().items()})
        print(
            f"{sizes[-1]} trials: made in {made:.0f} s, measured in {time.monotonic() - began - made:.0f} s",
            flush=True,
        )
        wanted *= 10
    return _print(sizes, costs)


class _Scene:
    """A database of finished runs, all like one, with a few unfinished ones on top."""

    def __init__(self) -> None:
        from benchmark.rules.vocabulary import RunState, TrialState
        from people.roles import SiteRole
        from runs.models import Run, Trial
        from tests import campaigns

        self._model = campaigns.run(campaigns.benchmark(tasks=TASKS, criteria=2, outcomes=1))
        self._reader = campaigns.person("reader", SiteRole.READER)
        self._open: list[Run] = []
        for number in range(UNFINISHED_RUNS):
            run = Run.objects.get(pk=self._model.pk)
            run.pk, run.state, run.name = None, RunState.RUNNING, f"open {number}"
            run.finished_at = None
            run.save()
            tasks = self._model.trials.values_list("task_id", flat=True)
            Trial.objects.bulk_create(Trial(run=run, task_id=task, state=TrialState.QUEUED) for task in tasks)
            self._open.append(run)
        self._claim_some()

    def trials(self) -> int:
        """How many trials there are."""
        from runs.models import Trial

        return Trial.objects.count()

    def grow_to(self, trials: int) -> None:
        """Copy the finished run until there are so many trials: rows of every table a page reads."""
        from django.db import connection

        more = max(0, (trials - self.trials()) // TASKS)
        with connection.cursor() as cursor:
            for table, columns, source in _copies(self._model.pk, more):
                names = ", ".join(columns)
                cursor.execute(f"INSERT INTO {table} ({names}) {source}")
            # What a database does by itself from time to time.
            cursor.execute("ANALYZE")

    def steps(self) -> dict[str, Callable[[], object]]:
        """What is measured, by what a table calls it."""
        from django.conf import settings
        from django.test import Client
        from django.utils import timezone

        from benchmark.protocols import protocol
        from benchmark.rules.planning import next_step
        from runs import engine, history, workers
        from runs.models import Trial
        from runs.queues import Queue

        client = Client(HTTP_HOST=settings.SITE_HOST)
        client.force_login(self._reader)
        trial = Trial.objects.filter(run=self._open[0]).order_by("-pk")[0]
        recipe = protocol(self._model.protocol)
        lease = timedelta(seconds=30)

        def claimed() -> None:
            assert trial.claim(worker="bench", now=timezone.now(), lease=lease)
            trial.release(worker="bench")

        def page(path: str) -> Callable[[], object]:
            def asked() -> None:
                answer = client.get(path)
                assert answer.status_code == 200, (path, answer.status_code)

            return asked

        finished = Trial.objects.filter(run=self._model).order_by("pk")[0]
        return {
            "find the next trial": lambda: workers.open_trials(now=timezone.now(), at_most=1),
            "find one for a judge": lambda: workers.open_trials(
                now=timezone.now(), at_most=1, queues=frozenset({Queue.JUDGE})
            ),
            "free claims of the dead": workers.release_claims_of_the_dead,
            "claim and release": claimed,
            "next step of a trial": lambda: next_step(recipe, history.trial_record(trial)),
            "end of a trial": lambda: engine.settle(self._open[0]),
            "first page": page("/"),
            "run list": page("/runs/"),
            "run page": page(f"/runs/{self._model.pk}/"),
            "trial page": page(f"/runs/{self._model.pk}/trials/{finished.pk}/"),
            "results page": page(f"/results/?benchmark={self._model.benchmark_id}"),
            "API, runs": page("/api/v1/runs"),
        }

    def _claim_some(self) -> None:
        from django.utils import timezone

        from runs.models import Trial

        until = timezone.now() + timedelta(days=1)
        chosen = Trial.objects.filter(run__in=self._open).order_by("repeat", "task_id", "run_id")[:AT_WORK]
        Trial.objects.filter(pk__in=list(chosen.values_list("pk", flat=True))).update(
            claimed_by="elsewhere|bench", claimed_until=until, state="running"
        )


def _copies(model: int, more: int) -> Iterator[tuple[str, list[str], str]]:
    """Table, its columns, and the rows of one run again for each new run; every copy is found by its name."""
    from runs.models import Judging, MetricValue, Round, Run, Trial, Verdict

    def columns(of: Any, *but: str) -> list[str]:
        fields = of._meta.concrete_fields  # noqa: SLF001 - Django's documented way to a model's columns
        return [field.column for field in fields if field.column not in ("id", *but)]

    from django.db.models import Max

    last = Run.objects.aggregate(last=Max("pk"))["last"]
    names = columns(Run)
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {more})"
    source = f"{numbers} SELECT {_of('r', names)} FROM runs_run r, n WHERE r.id = {model}"
    if more:
        yield "runs_run", names, source
    new = f"x.id > {last}"
    names = columns(Trial, "run_id")
    yield (
        "runs_trial",
        ["run_id", *names],
        f"SELECT x.id, {_of('t', names)} FROM runs_run x, runs_trial t WHERE {new} AND t.run_id = {model}",
    )
    names = columns(MetricValue, "run_id")
    yield (
        "runs_metricvalue",
        ["run_id", *names],
        f"SELECT x.id, {_of('m', names)} FROM runs_run x, runs_metricvalue m WHERE {new} AND m.run_id = {model}",
    )
    # Written as CROSS JOIN because SQLite then keeps the order: new runs first, each row by its index.
    twins = (
        f"FROM runs_run x CROSS JOIN runs_trial t2 ON t2.run_id = x.id CROSS JOIN runs_trial t ON t.run_id = {model}"
        " AND t.task_id = t2.task_id AND t.repeat = t2.repeat"
    )
    names = columns(Round, "trial_id")
    yield (
        "runs_round",
        ["trial_id", *names],
        f"SELECT t2.id, {_of('r', names)} {twins} CROSS JOIN runs_round r ON r.trial_id = t.id WHERE {new}",
    )
    twins += (
        " CROSS JOIN runs_round r2 ON r2.trial_id = t2.id"
        " CROSS JOIN runs_round r ON r.trial_id = t.id AND r.number = r2.number"
    )
    names = columns(Judging, "round_id")
    yield (
        "runs_judging",
        ["round_id", *names],
        f"SELECT r2.id, {_of('j', names)} {twins} CROSS JOIN runs_judging j ON j.round_id = r.id WHERE {new}",
    )
    twins += (
        " CROSS JOIN runs_judging j2 ON j2.round_id = r2.id CROSS JOIN runs_judging j ON j.round_id = r.id"
    )
    names = columns(Verdict, "judging_id")
    yield (
        "runs_verdict",
        ["judging_id", *names],
        f"SELECT j2.id, {_of('v', names)} {twins} CROSS JOIN runs_verdict v ON v.judging_id = j.id WHERE {new}",
    )


def _of(alias: str, names: Sequence[str]) -> str:
    return ", ".join(f"{alias}.{name}" for name in names)


def _cost(step: Callable[[], object]) -> Cost:
    step()
    with _counted() as asked:
        step()
    took: list[float] = []
    busy: list[float] = []
    for _ in range(TIMES):
        began, cpu = time.perf_counter(), time.process_time()
        step()
        took.append(time.perf_counter() - began)
        busy.append(time.process_time() - cpu)
    return Cost(
        queries=len(asked),
        cpu_ms=1000 * statistics.median(busy),
        took_ms=1000 * statistics.median(took),
    )


@contextmanager
def _counted() -> Iterator[list[str]]:
    from django.db import connection

    asked: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001 - Django's own way
        asked.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield asked


def _print(sizes: Sequence[int], costs: Sequence[dict[str, Cost]]) -> int:
    print(f"\nload average {os.getloadavg()[0]:.1f}; queries, and milliseconds of processor time")
    print(f"| trials | {' | '.join(map(str, sizes))} | growth |")
    print(f"| --- |{' ---: |' * (len(sizes) + 1)}")
    growing = []
    for name in costs[0]:
        row = [cost[name] for cost in costs]
        growth = max(row[-1].cpu_ms, LEAST_MS) / max(row[0].cpu_ms, LEAST_MS)
        if growth > ALLOWED_GROWTH or row[-1].queries > row[0].queries + 2:
            growing.append(name)
        cells = " | ".join(f"{cost.queries}, {cost.cpu_ms:.1f}" for cost in row)
        print(f"| {name} | {cells} | {growth:.1f} |")
    print(f"growing: {', '.join(growing) or 'nothing'}")
    return 1 if growing else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        sys.exit(_measured(int(sys.argv[2])))
    sys.exit(main(sys.argv[1:]))
