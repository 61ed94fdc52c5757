"""50 signed-in readers and 8 annotators at one real server, alone and while a run is judged beside them.

Run it with `make bench ARGS=load`, or: python -m performance.load [--seconds N] [--readers N] [--annotators N]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.protocols import samples
from performance.load_people import Person, Tally, annotate, listen, read
from performance.load_scene import Scene, prepare, scene_of
from tests.whole.bench import Bench

ALONE_LIMIT, RUNNING_LIMIT = 1.0, 3.0
"""Seconds that 99 of 100 answers are to take at most: of a site alone, and while a run goes."""
WATCHING = 5
"""How many of the readers have the page of the run that goes open; the others hold its socket only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One stretch of load: what people met, and what it cost the server."""

    title: str
    tally: Tally
    took: float
    cpu: float
    load: tuple[float, ...]

    @property
    def seconds(self) -> list[float]:
        """Every answer's time."""
        return [each for some in self.tally.seconds.values() for each in some]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How much load, and for how long."""

    seconds: float
    readers: int
    annotators: int
    pause: float
    tasks: str
    data: Path | None
    runs: bool


def main(words: Sequence[str] = ()) -> int:
    """Measure and print; 0 when nothing failed and both limits hold."""
    wanted = _wanted(words)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(data=wanted.data or Path(folder) / "data")
        bench.data.mkdir(parents=True, exist_ok=True)
        # One trial and one browser at a time is what a machine of two cores has room for beside people.
        bench.environment = {"PROOFROOM_WORKER_THREADS": "1", "PROOFROOM_BROWSERS_AT_ONCE": "1"}
        try:
            return _measured(bench, wanted)
        finally:
            bench.end_all()


def _measured(bench: Bench, wanted: Wanted) -> int:
    scene = _scene(bench, wanted)
    bench.serve()
    alone = _stretch("alone", bench, scene, wanted, live=scene.run)
    print(f"cores: {os.cpu_count()}; {wanted.readers} readers, {wanted.annotators} annotators, ", end="")
    print(f"a page each {wanted.pause:g} s")
    _print(alone)
    holds = _holds(alone, ALONE_LIMIT)
    if not wanted.runs:
        return 0 if holds else 1
    live = _launched(bench, wanted.tasks, wait=False)
    during = _stretch("while a run goes", bench, scene, wanted, live=live)
    _print(during)
    print(f"the run that went is {bench.json('show', str(live))['state']}; ", end="")
    ratio = _percentile(during.seconds, 50) / _percentile(alone.seconds, 50)
    print(f"a median answer takes {ratio:.1f} times as long while it goes")
    return 0 if _holds(during, RUNNING_LIMIT) and holds else 1


def _scene(bench: Bench, wanted: Wanted) -> Scene:
    """The scene that was made in this folder before, or a new one."""
    kept = bench.data / "load_scene.json"
    if kept.exists():
        return scene_of(kept.read_text())
    print("preparing: a sample run in a real browser, accounts, a campaign", flush=True)
    bench.command("demo", "--prepare")
    run = _launched(bench, wanted.tasks, wait=True)
    text = prepare(bench, run=run, readers=wanted.readers, annotators=wanted.annotators)
    kept.write_text(text)
    return scene_of(text)


def _launched(bench: Bench, tasks: str, *, wait: bool) -> int:
    words = ["launch", samples()[0].name, "--agent", "replay", "--set", "judge.concurrency=1"]
    if tasks:
        words += ["--tasks", tasks]
    if not wait:
        return int(bench.json(*words)["run"])
    return int(bench.json(*words, "--wait", timeout=1800)["run"])


def _stretch(
    title: str,
    bench: Bench,
    scene: Scene,
    wanted: Wanted,
    *,
    live: int,
) -> Measured:
    assert bench.server is not None
    # A server that has just begun loads its code with its first pages.
    asyncio.run(_crowd(bench.address, scene, Tally(), wanted, live=live, warms_up=True))
    tally = Tally()
    cpu, began = _cpu(bench.server.pid), time.monotonic()
    asyncio.run(_crowd(bench.address, scene, tally, wanted, live=live))
    return Measured(
        title=title,
        tally=tally,
        took=time.monotonic() - began,
        cpu=_cpu(bench.server.pid) - cpu,
        load=os.getloadavg(),
    )


async def _crowd(
    address: str,
    scene: Scene,
    tally: Tally,
    wanted: Wanted,
    *,
    live: int,
    warms_up: bool = False,
) -> None:
    until = time.monotonic() + wanted.seconds
    readers, annotators = (
        [
            Person(
                address=address,
                session=session,
                tally=tally,
                pause=wanted.pause,
                chance=random.Random(f"{session} {live}"),
            )
            for session in sessions
        ]
        for sessions in (scene.readers, scene.annotators)
    )
    if warms_up:
        for name, paths in scene.pages.items():
            await readers[0].ask(name, "GET", paths[0])
        return
    work = [read(person, scene.pages, until=until) for person in readers]
    work += [
        listen(person, live, until=until, refreshes=number < WATCHING)
        for number, person in enumerate(readers)
    ]
    work += [annotate(person, scene.campaign, until=until) for person in annotators]
    try:
        await asyncio.gather(*work)
    finally:
        for person in (*readers, *annotators):
            await person.client.aclose()


def _print(measured: Measured) -> None:
    tally, answers = measured.tally, len(measured.seconds)
    print(f"\n{measured.title}: {answers} answers in {measured.took:.0f} s, {tally.rings} rings, ", end="")
    print(f"{len(tally.failures)} failures; load average {measured.load[0]:.1f}")
    print(f"the server used {measured.cpu / measured.took:.2f} cores, ", end="")
    print(f"{1000 * measured.cpu / max(1, answers):.1f} ms of CPU an answer")
    print("| page | answers | p50 ms | p95 ms | p99 ms | worst ms |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    rows = sorted(tally.seconds.items(), key=lambda each: -statistics.median(each[1]))
    for name, seconds in [*rows, ("all", measured.seconds)]:
        cells = [f"{1000 * _percentile(seconds, part):.0f}" for part in (50, 95, 99, 100)]
        print(f"| {name} | {len(seconds)} | {' | '.join(cells)} |")
    for failure in tally.failures[:10]:
        print(f"failed: {failure}")


def _holds(measured: Measured, limit: float) -> bool:
    p99 = _percentile(measured.seconds, 99)
    holds = p99 < limit and not measured.tally.failures
    print(f"{measured.title}: p99 is {p99 / limit:.2f} of the limit of {limit:g} s, ", end="")
    print(f"{len(measured.tally.failures)} failures: {'holds' if holds else 'does not hold'}")
    return holds


def _percentile(values: Sequence[float], part: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * part // 100)]


def _cpu(pid: int) -> float:
    """Seconds of CPU of one process so far, without its children's."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wanted(words: Sequence[str]) -> Wanted:
    parser = argparse.ArgumentParser(prog="python -m performance.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="Length of each of the two stretches.")
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--annotators", type=int, default=8)
    parser.add_argument("--pause", type=float, default=5, help="Seconds between two pages of one person.")
    parser.add_argument(
        "--data", type=Path, help="A folder that is kept, so that the next time begins at once."
    )
    parser.add_argument("--alone", action="store_true", help="Leave out the stretch with a run.")
    parser.add_argument("--tasks", default="", help="Tasks of the sample run, separated by commas.")
    given = parser.parse_args(words)
    return Wanted(
        seconds=given.seconds,
        readers=given.readers,
        annotators=given.annotators,
        pause=given.pause,
        tasks=given.tasks,
        data=given.data.absolute() if given.data else None,
        runs=not given.alone,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
