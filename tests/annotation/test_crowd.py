"""Eight people mark one campaign at the same time over real HTTP, on one SQLite file."""

from __future__ import annotations

import pytest

from tests.annotation import crowd
from tests.whole.bench import Bench

pytestmark = pytest.mark.slow


def test_of_eight_annotators_at_once_every_item_gets_two_marks_and_none_is_lost(tmp_path):
    bench = Bench(data=tmp_path / "var")
    bench.data.mkdir()
    try:
        bench.command("migrate", "-v", "0")
        scene = crowd.prepare(bench)
        people = crowd.at_work(bench.serve("--no-worker"), scene)

        crowd.check(bench, scene, people)
        log = (bench.data / "server.log").read_text()
        assert "Traceback" not in log
        assert "locked" not in log
    finally:
        bench.end_all()
