"""The Asuka sample over three worker processes with queues and data folders of their own: the same numbers."""

from __future__ import annotations

import json
import os

import pytest

from benchmark.protocols import samples
from runs.adapters.deployers import find_node
from tests.samples.asuka_mini_marks import EXPECTED
from tests.scale.conftest import ScaledBench
from tests.whole.published import need_chromium
from tests.whole.test_demo import marks_file

pytestmark = [pytest.mark.scale, pytest.mark.slow, pytest.mark.browser, pytest.mark.node]

# All tasks and rounds take minutes of two processors: `make soak` runs them, a test of every day one round.
IS_WHOLE = bool(os.environ.get("PROOFROOM_WHOLE_DEMO"))
PART = () if IS_WHOLE else ("--tasks", "score-atlas", "--rounds", "1")
FINISHED = "select 1 from runs_run where id = ? and state = 'finished'"
TWICE = "select 1 from runs_verdict group by judging_id, outcome_id, role having count(*) > 1"


@pytest.fixture
def bench(scaled: ScaledBench):
    need_chromium()
    if isinstance(found := find_node(), str):
        pytest.skip(f"no Node.js: {found}")
    yield scaled
    scaled.end_workers()


def test_three_workers_of_different_queues_give_the_marks_and_numbers_of_one_process(bench, tmp_path):
    bench.command("import", str(samples()[0]))
    workers = [bench.worker(queues=queues, apart=True) for queues in ("light,agent", *["preview,judge"] * 2)]

    run = str(
        bench.json("launch", "asuka-mini", "--agent", "replay", "--workspaces", "recorded", *PART)["run"]
    )
    bench.wait_for(FINISHED, run, within=1500 if IS_WHOLE else 300)

    document = bench.json("show", run)
    assert bench.rows(TWICE) == []
    assert all(worker.poll() is None for worker in workers)
    for trial in document["trials"]:
        for round_ in trial["rounds"]:
            expected = EXPECTED["recorded", trial["task"], round_["round"]]
            assert round_["outcomes"] == {
                key: [mark.value for mark in marks] for key, marks in expected.items()
            }
    if IS_WHOLE:
        (tmp_path / "marks.json").write_text(json.dumps(marks_file()))
        scored = bench.json("score", str(tmp_path / "marks.json"), "--protocol", "asuka")
        assert bench.json("report", run)["runs"][run] == scored


def test_every_byte_of_the_run_went_through_the_store_and_none_through_a_folder(bench):
    folders = [bench.data, *bench.data.parent.glob("apart-*")]

    assert len(folders) == 4
    assert [found for folder in folders for found in folder.glob("blobs/**/*")] == []
    assert {key for (key,) in bench.rows("select digest from runs_evidence")} <= bench.stored()
    assert {
        key for (key,) in bench.rows("select snapshot from runs_round where snapshot <> ''")
    } <= bench.stored()
