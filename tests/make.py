"""Plain builders: name what matters to a test, the rest is supplied."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from benchmark.importing import import_spec
from benchmark.models import Benchmark
from benchmark.packs.specs import BenchmarkFacts, PackSpec, PackTask
from benchmark.protocols import protocol
from benchmark.rules.records import CriterionSpec, OutcomeSpec, TaskSpec
from runs.adapters.scripted import (
    ScriptedAgent,
    ScriptedDeployer,
    ScriptedFeedback,
    ScriptedJudge,
)
from runs.models import Run, Trial
from runs.toolbox import Toolbox

_numbers = count(1)


def criterion(
    key: str,
    *,
    outcomes: int = 1,
    needs: Sequence[str] = (),
    weight: int = 1,
    kind: str = "functionality",
    script: Sequence[dict[str, Any]] | None = ({"expect_visible": "body"},),
) -> CriterionSpec:
    """A criterion whose outcomes all have the same small script."""
    return CriterionSpec(
        key=key,
        title=f"Title of {key}",
        kind=kind,
        weight=weight,
        needs=tuple(needs),
        outcomes=tuple(
            OutcomeSpec(text=f"{key} does thing {index}", script=None if script is None else tuple(script))
            for index in range(outcomes)
        ),
    )


def task(key: str = "t1", *criteria: CriterionSpec) -> TaskSpec:
    """A task with the given criteria, or with one."""
    return TaskSpec(
        key=key,
        title=f"Title of {key}",
        request=f"Please build {key}.",
        prd=f"What {key} has to do.",
        criteria=criteria or (criterion("c0"),),
    )


def benchmark(*tasks: TaskSpec, key: str = "", settings: dict[str, Any] | None = None) -> Benchmark:
    """An imported benchmark under a key of its own."""
    number = next(_numbers)
    spec = PackSpec(
        facts=BenchmarkFacts(
            key=key or f"bench-{number}",
            version="1",
            title=f"Benchmark {number}",
            protocol="asuka",
            settings=settings or {},
        ),
        tasks=tuple(PackTask(spec=given) for given in (tasks or (task(),))),
    )
    return import_spec(spec).benchmark


def run(of: Benchmark | None = None, *, repeats: int = 1, **settings: Any) -> Run:
    """A launched run whose adapters are the scripted ones of `toolbox`."""
    of = of or benchmark()
    made = Run.objects.create(
        benchmark=of,
        benchmark_hash=of.content_hash,
        protocol=of.protocol,
        code_agent="scripted",
        judge="planned",
        settings=protocol(of.protocol).complete_settings({**of.settings, **settings}),
        repeats=repeats,
        sandbox="bubblewrap",
    )
    for row in of.tasks.order_by("position"):
        for repeat in range(1, repeats + 1):
            Trial.objects.create(run=made, task=row, repeat=repeat)
    return made


def toolbox(
    scratch: Path,
    *,
    judge: ScriptedJudge | None = None,
    agent: ScriptedAgent | None = None,
    deployer: ScriptedDeployer | None = None,
) -> Toolbox:
    """A toolbox that asks nothing of the outside world."""
    planned, agent = judge or ScriptedJudge(), agent or ScriptedAgent()
    return Toolbox(
        scratch=scratch,
        code_agent=lambda name, settings, find: agent,
        judge=lambda name, settings: planned,
        deployer=deployer or ScriptedDeployer(),
        feedback_writer=ScriptedFeedback(),
    )
