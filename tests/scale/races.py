"""A program: claims and whole trials raced by many threads on the configured database; prints JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proofroom.settings")
django.setup()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from runs import engine, launching  # noqa: E402
from runs.models import Run, Trial, Verdict  # noqa: E402
from runs.toolbox import Toolbox  # noqa: E402
from tests import make  # noqa: E402

TRIES = 20
THREADS = 4


def raced(act: Callable[[str], bool]) -> int:
    """Let THREADS workers act at the same moment and return how many of them got their way."""
    start = threading.Barrier(THREADS)
    won: list[bool] = []

    def race(number: int) -> None:
        # Connected before the start, so that the race is about the row.
        connection.ensure_connection()
        start.wait()
        won.append(act(f"worker-{number}"))
        connection.close()

    threads = [threading.Thread(target=race, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(won)


def claim(trial: Trial) -> Callable[[str], bool]:
    return lambda name: trial.claim(worker=name, now=timezone.now(), lease=timedelta(seconds=30))


def advance(trial: Trial, tools: Toolbox) -> Callable[[str], bool]:
    return lambda name: engine.advance(trial.pk, toolbox=tools, worker=name)


def cancel(run: Run) -> Callable[[str], bool]:
    return lambda _name: launching.cancel(run)


def main() -> None:
    benchmark = make.benchmark(make.task("t1", make.criterion("c0"), make.criterion("c1")), key="raced")
    claims = [raced(claim(make.run(benchmark).trials.get())) for _ in range(TRIES)]
    advanced = []
    with tempfile.TemporaryDirectory() as scratch:
        tools = make.toolbox(Path(scratch))
        for _ in range(TRIES):
            trial = make.run(benchmark, max_rounds=1).trials.get()
            advanced.append(raced(advance(trial, tools)))
    settled = Run.objects.filter(state="finished").count()
    cancelled = [raced(cancel(make.run(benchmark))) for _ in range(TRIES)]
    document = {
        "claims": claims,
        "advanced": advanced,
        "finished": settled,
        "verdicts": Verdict.objects.count(),
        "cancelled": cancelled,
    }
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main()
