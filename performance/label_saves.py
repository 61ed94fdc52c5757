"""How long a mark takes to be saved, and how many are saved a second, beside the bare database write.

Run it with `make bench`, or: python -m performance.label_saves
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

from tests.annotation.crowd import Annotator, Scene, prepare
from tests.whole.bench import Bench

SAVES = 300
TOGETHER = 100
BATCH = 30
LIMIT_MS = 500


def main() -> int:
    """Measure and print; 0 when every mark was saved and the median of one at a time is below the limit."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(data=Path(folder) / "data")
        bench.data.mkdir()
        try:
            bench.command("migrate", "-v", "0")
            scene = prepare(bench, tasks=8, criteria=20, overlap=1)
            return _measured(bench, scene)
        finally:
            bench.end_all()


def _measured(bench: Bench, scene: Scene) -> int:
    address = bench.serve("--no-worker")
    with _crowd(address, scene) as crowd:
        desks = [_Desk(one, scene.campaign) for one in crowd]
        alone = [desks[0].save(1) for _ in range(SAVES)]
        began = time.perf_counter()
        with ThreadPoolExecutor(len(desks)) as threads:
            busy = [took for each in threads.map(_Desk.save_many, desks) for took in each]
        together = len(busy) / (time.perf_counter() - began)
        batches = [desks[0].save(BATCH) for _ in range(20)]
        failures = [failure for one in crowd for failure in one.failures]
    bench.stop()
    bare = _bare_writes(bench.data / "proofroom.sqlite3")
    print(f"cores: {os.cpu_count()}; {SAVES} marks one by one, {len(busy)} by {len(desks)} people at once")
    print(f"bare database write: {_words(bare)}, {1 / statistics.mean(bare):.0f} a second")
    print(f"one person: {_words(alone)}, {_ratio(alone, bare):.1f} bare writes")
    print(f"{len(desks)} people at once: {_words(busy)}, {together:.0f} saves a second,")
    print(f"  {together * statistics.mean(bare):.3f} of what the database writes by itself")
    print(f"{BATCH} marks in one request, as after a time without network: {_words(batches)}, ")
    print(f"  {BATCH / statistics.mean(batches):.0f} saves a second")
    print(f"not saved: {len(failures)}")
    return 0 if not failures and 1000 * statistics.median(alone) < LIMIT_MS else 1


class _Desk:
    """An annotator with a set, who marks its outcomes over and over."""

    def __init__(self, annotator: Annotator, campaign: int) -> None:
        self.annotator = annotator
        taken = annotator.ask("POST", f"/campaigns/{campaign}/take").json()["assignment"]
        self.path = f"/assignments/{taken}"
        document = annotator.ask("GET", self.path).json()
        self.versions = {annotation["id"]: 0 for annotation in document["annotations"]}
        self.turn = 0

    def save(self, amount: int) -> float:
        """Save marks in one request and return how long that took, in seconds."""
        chosen = [list(self.versions)[(self.turn + step) % len(self.versions)] for step in range(amount)]
        self.turn += amount
        marks = [
            self.annotator.mark({"id": pk}, mark=("pass", "fail")[self.turn % 2], base=self.versions[pk])
            for pk in chosen
        ]
        began = time.perf_counter()
        self.annotator.save(self.path, marks)
        took = time.perf_counter() - began
        for pk in chosen:
            self.versions[pk] += 1
        return took

    def save_many(self) -> list[float]:
        """Save marks one by one."""
        return [self.save(1) for _ in range(TOGETHER)]


@contextmanager
def _crowd(address: str, scene: Scene) -> Iterator[list[Annotator]]:
    crowd = [Annotator(address=address, name=name) for name in scene.names]
    try:
        for one in crowd:
            one.sign_in()
        yield crowd
    finally:
        for one in crowd:
            one.client.close()


def _bare_writes(path: Path) -> list[float]:
    """The rows of one saved mark, written to the same file without anything around it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("pragma synchronous=normal")
        columns = [row[1] for row in database.execute("pragma table_info(annotation_revision)")]
        row = dict(
            zip(
                columns, database.execute("select * from annotation_revision limit 1").fetchone(), strict=True
            )
        )
        names = [name for name in columns if name != "id"]
        places = ", ".join("?" * len(names))
        insert = f"insert into annotation_revision ({', '.join(names)}) values ({places})"
        took = []
        for number in range(SAVES):
            fresh = row | {"operation": uuid4().hex, "sequence": 10**6 + number, "version": 10**6 + number}
            began = time.perf_counter()
            database.execute("begin immediate")
            database.execute(insert, [fresh[name] for name in names])
            database.execute(
                "update annotation_annotation set mark = ?, version = ?, saved_at = ? where id = ?",
                ("pass", number, row["saved_at"], row["annotation_id"]),
            )
            database.execute(
                "update annotation_assignment set sequence = ?, lease_until = ? where id = ?",
                (number, row["saved_at"], row["assignment_id"]),
            )
            database.execute("commit")
            took.append(time.perf_counter() - began)
    return took


def _words(seconds: Sequence[float]) -> str:
    median, most = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    return f"median {1000 * median:.2f} ms, 95% below {1000 * most:.2f} ms"


def _ratio(seconds: Sequence[float], bare: Sequence[float]) -> float:
    return statistics.median(seconds) / statistics.median(bare)


if __name__ == "__main__":
    sys.exit(main())
