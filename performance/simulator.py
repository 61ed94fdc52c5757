"""How long large runs take on 1 to 500 workers, what the database is asked meanwhile, and who waits for what.

The real engine is driven on a virtual clock with stages that only take time; a plain model of its schedule,
checked against it in the same breath, answers for the numbers of workers that would take too long.
Run it with `make bench ARGS=simulator`, or: python -m performance.simulator [--seconds N] [--help]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from performance.simulator_engine import Simulation
from performance.simulator_world import Durations, Outcome, Shape, ideal, scheduled, world

SCENARIOS = {
    "13 code agents x 50 tasks x 3 rounds": Shape(configurations=13, tasks=50, rounds=3),
    "480 tasks x 12 configurations": Shape(configurations=12, tasks=480, rounds=1),
}
WORKERS = (1, 10, 50, 100, 200, 500)
CHECKED = Shape(configurations=2, tasks=8, rounds=3)
CHECKED_WORKERS = (1, 6)
TOLERANCE = 0.02
"""How far the engine's makespan may be from the model's: it works in its own order where two are alike."""


def main(words: Sequence[str] = ()) -> int:
    """Simulate in a process of its own, whose database is thrown away; 0 when model and engine agree."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PROOFROOM")}
        kept |= {"PROOFROOM_DATA_DIR": folder, "DATABASE_URL": "", "REDIS_URL": ""}
        done = subprocess.run(
            [sys.executable, "-m", "performance.simulator", "--here", *words],
            env=kept,
            cwd=Path(__file__).resolve().parent.parent,
            check=False,
        )
    return done.returncode


def _simulated(given: argparse.Namespace) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    durations = Durations(
        agent=given.agent, deploy=given.deploy, judge=given.judge, spread=given.spread, seed=given.seed
    )
    fine = _check(durations, seconds=given.seconds)
    for title, shape in SCENARIOS.items():
        _print_model(title, shape, durations, browsers_a_worker=given.browsers)
    return 0 if fine else 1


def _check(durations: Durations, *, seconds: float) -> bool:
    """Drive the engine through a small scenario, plain and with troubles, and lay the model beside it."""
    print(f"the engine on a virtual clock: {CHECKED.trials} trials of {CHECKED.rounds} rounds each")
    print(
        "| workers | browsers | makespan h | model h | of ideal | queries a trial | rows a trial |"
        " heartbeats a trial | CPU ms a trial | most writes a minute |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    fine = True
    trials = world(CHECKED, durations)
    troubled = Durations(
        agent=durations.agent,
        deploy=durations.deploy,
        judge=durations.judge,
        spread=durations.spread,
        seed=durations.seed,
        failing=0.05,
        worker_life=3600.0,
    )
    kept: list[Simulation] = []
    for number in CHECKED_WORKERS:
        browsers = max(1, number // 2)
        simulation = Simulation(CHECKED, durations, workers=number, browsers=browsers)
        simulation.run(seconds=seconds / (len(CHECKED_WORKERS) + 1))
        kept.append(simulation)
        model = scheduled(trials, workers=number, browsers=browsers)
        best = ideal(trials, workers=number, browsers=browsers)
        _print_engine(simulation, model, best)
        is_near = abs(simulation.outcome.makespan / model.makespan - 1) <= TOLERANCE
        fine = fine and (not simulation.load.is_complete or is_near)
    simulation = Simulation(CHECKED, troubled, workers=CHECKED_WORKERS[-1], browsers=CHECKED_WORKERS[-1])
    simulation.run(seconds=seconds / (len(CHECKED_WORKERS) + 1))
    kept.append(simulation)
    load = simulation.load
    print(
        f"with troubles, {simulation.workers} workers: {load.finished} of {CHECKED.trials} trials finished "
        f"after {simulation.outcome.makespan / 3600:.2f} h, {load.failures} failures of the bench, "
        f"{load.deaths} workers died and their trials went on elsewhere"
    )
    return fine and (not load.is_complete or load.finished == CHECKED.trials)


def _print_engine(simulation: Simulation, model: Outcome, best: float) -> None:
    load, trials = simulation.load, max(1, simulation.load.finished)
    made = simulation.outcome.makespan
    cells = [
        str(simulation.workers),
        str(simulation.browsers),
        f"{made / 3600:.2f}" + ("" if load.is_complete else " (cut)"),
        f"{model.makespan / 3600:.2f}",
        f"{made / best:.2f}",
        f"{load.queries / trials:.0f}",
        f"{load.rows / trials:.0f}",
        f"{load.beats / trials:.0f}",
        f"{1000 * load.busy / trials:.0f}",
        str(max(load.by_minute.values(), default=0)),
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def _print_model(title: str, shape: Shape, durations: Durations, *, browsers_a_worker: float) -> None:
    trials = world(shape, durations)
    print(f"\n{title}: {shape.trials} trials; medians of a round: agent {durations.agent:g} s, ", end="")
    print(f"build and start {durations.deploy:g} s, judge {durations.judge:g} s")
    print("| workers | browsers | makespan h | ideal h | of ideal | wait for a worker h | for a browser s |")
    print("| ---: | ---: | ---: | ---: | ---: | --- | --- |")
    for workers in WORKERS:
        browsers = max(1, round(workers * browsers_a_worker))
        outcome = scheduled(trials, workers=workers, browsers=browsers)
        best = ideal(trials, workers=workers, browsers=browsers)
        cells = [
            str(workers),
            str(browsers),
            f"{outcome.makespan / 3600:.2f}",
            f"{best / 3600:.2f}",
            f"{outcome.makespan / best:.2f}",
            _waits(outcome.worker_waits, unit=3600.0),
            _waits(outcome.browser_waits, unit=1.0),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def _waits(waits: Sequence[float], *, unit: float) -> str:
    high = statistics.quantiles(waits, n=20)[-1]
    return f"median {statistics.median(waits) / unit:.1f}, p95 {high / unit:.1f}"


def _given(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m performance.simulator", description=__doc__)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "--seconds", type=float, default=40, help="Processor seconds for the engine, at most."
    )
    parser.add_argument("--agent", type=float, default=600, help="Median seconds of a round's code agent.")
    parser.add_argument("--deploy", type=float, default=20, help="Median seconds of building and starting.")
    parser.add_argument("--judge", type=float, default=120, help="Median seconds of judging a round.")
    parser.add_argument(
        "--spread", type=float, default=0.5, help="How widely they spread (log-normal sigma)."
    )
    parser.add_argument("--browsers", type=float, default=0.5, help="Browsers a worker.")
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args(words)


if __name__ == "__main__":
    if "--here" in sys.argv:
        sys.exit(_simulated(_given(sys.argv[1:])))
    _given(sys.argv[1:])
    sys.exit(main(sys.argv[1:]))
