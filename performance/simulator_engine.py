"""The real engine on a virtual clock: workers take turns, and their fake stages sleep without waiting."""

from __future__ import annotations

import heapq
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from greenlet import getcurrent, greenlet  # type: ignore[import-untyped]  # it carries no types

from performance.simulator_world import Durations, Outcome, Shape, phase

BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)
BEATS_A_SECOND = 1.0
"""How often a worker asks whether its claim still stands (runs/engine.py), counted and not carried out."""


class Clock:
    """A time that jumps from one sleeper's end to the next one's."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._hub = getcurrent()
        self._sleeping: list[tuple[float, int, greenlet]] = []
        self._order = 0

    def now(self) -> datetime:
        """The virtual time."""
        return BEGINNING + timedelta(seconds=self.seconds)

    def spawn(self, work: Callable[[], None], *, after: float = 0.0) -> None:
        """Begin something later."""
        self._push(greenlet(work), after)

    def sleep(self, seconds: float) -> None:
        """Let the others go on for so long."""
        self._push(getcurrent(), seconds)
        self._hub.switch()

    def run(self, *, until: Callable[[], bool]) -> None:
        """Go on until all have ended, or `until` says so."""
        while self._sleeping and not until():
            at, _, sleeper = heapq.heappop(self._sleeping)
            self.seconds = max(self.seconds, at)
            sleeper.switch()

    def _push(self, sleeper: greenlet, after: float) -> None:
        self._order += 1
        heapq.heappush(self._sleeping, (self.seconds + after, self._order, sleeper))


@dataclass(slots=True)
class Load:
    """What the database was asked."""

    queries: int = 0
    writes: int = 0
    beats: float = 0.0
    by_minute: Counter[int] = field(default_factory=Counter)
    busy: float = 0.0
    deaths: int = 0
    failures: int = 0
    finished: int = 0
    rows: int = 0
    is_complete: bool = True


class Simulation:
    """One scenario: its rows are made in the configured database, then the workers go through them."""

    def __init__(self, shape: Shape, durations: Durations, *, workers: int, browsers: int) -> None:
        self.shape, self.durations = shape, durations
        self.workers, self.browsers = workers, browsers
        self.clock = Clock()
        self.outcome, self.load = Outcome(), Load()
        self._chance = random.Random(durations.seed)
        self._free = browsers
        self._judges_waiting: list[greenlet] = []
        self._idle: list[greenlet] = []
        self._abandoned: list[greenlet] = []
        self._place: dict[int, tuple[int, int]] = {}
        self._at_work: dict[greenlet, Any] = {}
        self._dies_at: dict[greenlet, float] = {}
        self._claimed: set[int] = set()
        self._runs: list[int] = []

    def run(self, *, seconds: float) -> None:
        """Go through everything, or stop after so many seconds of processor time: then it is not complete."""
        from django.db import connection
        from django.utils import timezone

        real = timezone.now
        timezone.now = self.clock.now
        try:
            self._launch()
            cpu = time.process_time()
            with connection.execute_wrapper(self._note):
                for number in range(self.workers):
                    self.clock.spawn(lambda number=number: self._work(f"worker-{number}"))  # type: ignore[misc]
                self.clock.spawn(self._sweep)
                self.clock.run(until=lambda: self._is_over() or time.process_time() - cpu > seconds)
            self.load.busy = time.process_time() - cpu
            self.load.is_complete = self._is_over()
            self._count_rows()
            self._leave()
        finally:
            timezone.now = real
        self.outcome.makespan = self.clock.seconds

    def _leave(self) -> None:
        """Leave nothing open for the next simulation in the same database."""
        from runs import models
        from runs.models import Run

        for run in Run.objects.filter(pk__in=self._runs):
            models.cancel(run, now=self.clock.now())

    def _launch(self) -> None:
        from benchmark.protocols import protocol
        from runs.models import Run, Trial
        from tests import campaigns

        of = campaigns.benchmark(tasks=self.shape.tasks, criteria=3, outcomes=2)
        settings = protocol(of.protocol).complete_settings({"max_rounds": self.shape.rounds})
        for configuration in range(self.shape.configurations):
            run = Run.objects.create(
                benchmark=of,
                benchmark_hash=of.content_hash,
                protocol=of.protocol,
                code_agent="simulated",
                judge="simulated",
                settings=settings,
            )
            self._runs.append(run.pk)
            tasks = list(of.tasks.order_by("position"))
            trials = Trial.objects.bulk_create(Trial(run=run, task=task) for task in tasks)
            for number, trial in enumerate(trials):
                self._place[trial.pk] = (configuration, number)

    def _work(self, name: str) -> None:
        from django.utils import timezone

        from runs import engine, workers

        me = getcurrent()
        life = self.durations.worker_life
        self._dies_at[me] = self.clock.seconds + self._chance.expovariate(1 / life) if life else float("inf")
        with tempfile.TemporaryDirectory() as folder:
            while True:
                found = workers.open_trials(now=timezone.now(), at_most=1)
                if not found:
                    self._idle.append(me)
                    self.clock._hub.switch()  # noqa: SLF001 - a worker without work waits for the sweep
                    continue
                trial = found[0].pk
                if trial not in self._claimed:
                    self._claimed.add(trial)
                    self.outcome.worker_waits.append(self.clock.seconds)
                tools = _toolbox(self, trial, Path(folder))
                engine.advance(trial, toolbox=tools, worker=name, held=self._held)
                self._wake(1)

    def _sweep(self) -> None:
        """Wake idle workers for what has come free: failures after their wait, and leases that ran out."""
        from django.conf import settings
        from django.utils import timezone

        from runs import workers

        while True:
            self.clock.sleep(settings.SWEEP_SECONDS)
            if self._idle:
                self._wake(len(workers.open_trials(now=timezone.now(), at_most=len(self._idle))))

    def _wake(self, most: int) -> None:
        for _ in range(min(most, len(self._idle))):
            self.clock._push(self._idle.pop(), 0.0)  # noqa: SLF001 - as above

    @contextmanager
    def _held(self, trial: Any, worker: str, lease: timedelta) -> Iterator[Any]:
        from runs.context import Claim

        me = getcurrent()
        self._at_work[me] = (trial, worker, lease)
        yield Claim(trial=trial, worker=worker, is_lost=lambda: False)
        # Not in a `finally`: the greenlet of a dead worker is closed in the end and must not give back.
        self._at_work.pop(me)
        trial.release(worker=worker)

    def spend(self, seconds: float) -> None:
        """Work for so long under the claim, with a heartbeat; the worker may die on the way and never return."""
        me = getcurrent()
        trial, worker, lease = self._at_work[me]
        lives = min(seconds, self._dies_at[me] - self.clock.seconds)
        # One write in the place of those that a heartbeat sends: the claim ends where the last would leave it.
        trial.extend(worker=worker, now=self.clock.now() + timedelta(seconds=max(0.0, lives)), lease=lease)
        self.load.beats += max(0.0, lives) * BEATS_A_SECOND
        if lives < seconds:
            self.load.deaths += 1
            self._abandoned.append(me)
            self._at_work.pop(me)
            self.clock.spawn(lambda: self._work(f"{worker}'"), after=max(0.0, lives) + 30.0)
            self.clock._hub.switch()  # noqa: SLF001 - for ever
        self.clock.sleep(seconds)

    @contextmanager
    def browser(self) -> Iterator[None]:
        """Wait for one of the browsers."""
        began = self.clock.seconds
        while not self._free:
            self._judges_waiting.append(getcurrent())
            trial, worker, lease = self._at_work[getcurrent()]
            trial.extend(worker=worker, now=self.clock.now() + timedelta(days=30), lease=lease)
            self.clock._hub.switch()  # noqa: SLF001 - until a browser is given back
        self._free -= 1
        self.outcome.browser_waits.append(self.clock.seconds - began)
        yield
        self._free += 1
        if self._judges_waiting:
            self.clock._push(self._judges_waiting.pop(0), 0.0)  # noqa: SLF001 - as above

    def drawn(self, trial: int, number: int) -> Any:
        """The seconds of a round of a trial."""
        configuration, task = self._place[trial]
        return phase(self.durations, configuration=configuration, task=task, number=number)

    def fails(self) -> bool:
        """Whether the bench has trouble this time."""
        failing = self._chance.random() < self.durations.failing
        self.load.failures += failing
        return failing

    def _is_over(self) -> bool:
        return len(self._idle) == self.workers and not self._at_work and not _any_open(self._runs)

    def _note(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001 - Django's way
        self.load.queries += 1
        if sql.lstrip()[:6].upper() in ("INSERT", "UPDATE", "DELETE"):
            self.load.writes += 1
            self.load.by_minute[int(self.clock.seconds // 60)] += 1
        return execute(sql, params, many, context)

    def _count_rows(self) -> None:
        from benchmark.rules.vocabulary import TrialState
        from runs.models import Round, RunEvent, StageRecord, Trial, Verdict

        trials = Trial.objects.filter(run__in=self._runs)
        self.load.finished = trials.filter(state=TrialState.FINISHED).count()
        counted: tuple[tuple[Any, str], ...] = (
            (Round, "trial__run__in"),
            (StageRecord, "round__trial__run__in"),
            (Verdict, "judging__round__trial__run__in"),
            (RunEvent, "run__in"),
        )
        for model, way in counted:
            self.load.rows += model.objects.filter(**{way: self._runs}).count()


def _any_open(runs: Sequence[int]) -> bool:
    from runs.models import OPEN_TRIALS, Trial

    return Trial.objects.filter(run__in=runs, state__in=OPEN_TRIALS).exists()


def _toolbox(simulation: Simulation, trial: int, scratch: Path) -> Any:
    from benchmark.rules.vocabulary import ExitReason, Mark
    from runs.adapters.scripted import ScriptedFeedback, ScriptedJudge
    from runs.errors import StageError
    from runs.ports import AgentTurn, DeploymentReport, RunningApp
    from runs.toolbox import Toolbox

    round_number = [1]

    class Agent:
        name = "simulated"

        def work(self, brief: Any, *, record: Any, is_cancelled: Any, **_more: Any) -> Any:
            round_number[0] = brief.round_number
            simulation.spend(simulation.drawn(trial, brief.round_number).agent)
            if simulation.fails():
                raise StageError("The simulated bench had trouble.")
            (brief.workspace / "index.html").write_text("simulated")
            return AgentTurn(exit_reason=ExitReason.FINISHED)

    class Deployer:
        @contextmanager
        def serve(self, folder: Path, **_more: Any) -> Iterator[Any]:
            simulation.spend(simulation.drawn(trial, round_number[0]).deploy)
            report = DeploymentReport(kind=None, healthy=True)
            yield RunningApp(
                address="http://127.0.0.1:9", port=9, report=report, server_log=str, is_alive=lambda: True
            )

    class Judge(ScriptedJudge):
        @contextmanager
        def session(self, app: Any, **more: Any) -> Iterator[Any]:
            with simulation.browser(), ScriptedJudge.session(self, app, **more) as inner:
                simulation.spend(simulation.drawn(trial, round_number[0]).judge)
                yield inner

    # One criterion fails in every round, so that every trial goes through all of them.
    marks: Mapping[str, Sequence[Mark]] = {"c2": (Mark.FAIL, Mark.PASS)}
    return Toolbox(
        scratch=scratch,
        code_agent=lambda *_: Agent(),
        judge=lambda *_: Judge(plans=(marks,)),
        deployer=Deployer(),
        feedback_writer=ScriptedFeedback(),
    )
