"""A backup of a site whose worker is in the middle of judging goes on, elsewhere, to the same numbers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.whole import small
from tests.whole.bench import Bench
from tests.whole.published import need_chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(
        not os.environ.get("PROOFROOM_WHOLE_DEMO"),
        reason="takes a minute: set PROOFROOM_WHOLE_DEMO=1, as `make soak` does",
    ),
]

AT_THE_SLOW_ONE = "select 1 from runs_runevent where run_id = ? and kind = 'begin' and criterion = 'c1'"


def bench(folder: Path) -> Bench:
    folder.mkdir()
    return Bench(data=folder)


def test_a_site_is_backed_up_in_the_middle_of_a_run_and_goes_on_in_another_place(tmp_path):
    need_chromium()
    here, there = bench(tmp_path / "here"), bench(tmp_path / "there")
    for key, last in (("quick", small.ABSENT), ("slow", small.SLOWER)):
        here.command("import", str(small.pack(tmp_path, key=key, scripts={"c0": small.QUICK, "c1": last})))
    quick = str(here.json("launch", "quick", "--agent", "replay", "--wait")["run"])
    slow = str(here.json("launch", "slow", "--agent", "replay")["run"])
    worker = here.begun("work")
    try:
        here.wait_for(AT_THE_SLOW_ONE, slow)
        here.json("backup", str(tmp_path / "site.tar"))
        in_the_middle = here.rows("select state from runs_run where id = ?", slow)
        worker.wait(240)
    finally:
        here.end_all()

    there.json("restore", str(tmp_path / "site.tar"))
    first_marks = there.rows("select id, mark from runs_verdict where id <= ?", 3)
    claims = there.rows("select claimed_by from runs_trial where claimed_by <> ''")
    there.json("work")

    assert in_the_middle == [("running",)]
    assert claims == []
    assert [mark for _, mark in first_marks] == ["pass", "fail", "pass"]
    for run in (quick, slow):
        assert there.json("report", run) == here.json("report", run)
    assert there.rows("pragma foreign_key_check") == []
    assert there.leftovers() == []
