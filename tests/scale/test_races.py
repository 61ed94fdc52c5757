"""Races for a trial on PostgreSQL: one worker wins, every time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.scale.conftest import ScaledBench
from tests.scale.races import TRIES
from tests.whole.bench import ROOT

pytestmark = [pytest.mark.scale, pytest.mark.slow]


def test_of_many_workers_one_claims_works_and_cancels_and_verdicts_are_given_once(scaled: ScaledBench):
    done = subprocess.run(
        [sys.executable, "-m", "tests.scale.races"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=scaled._environment() | {"REDIS_URL": ""},
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["claims"] == [1] * TRIES
    assert seen["advanced"] == [1] * TRIES
    assert (seen["finished"], seen["verdicts"]) == (TRIES, 2 * TRIES)
    assert seen["cancelled"] == [1] * TRIES


def test_texts_of_any_kind_are_stored_as_they_came(scaled: ScaledBench):
    """A command's output may hold anything; PostgreSQL takes no NUL and no half character."""
    program = r"import sys; sys.stdout.buffer.write(b'a\x00b\xed\xa0\x80\xff\n{\"k\": \"\\u0000\"}\n')"
    document = scaled.json(
        *(
            "launch",
            "quick",
            "--agent",
            "command",
            "--command",
            f'"{sys.executable}" -c "{_quoted(program)}"',
        ),
        *("--name", "a🚀", "--rounds", "1", "--wait"),
    )

    run = document["run"]
    events = scaled.rows(
        "select text from runs_trajectoryevent e join runs_round r on r.id = e.round_id"
        " join runs_trial t on t.id = r.trial_id where t.run_id = ?",
        run,
    )
    assert scaled.rows("select state from runs_run where id = ?", run) == [("finished",)]
    assert any("a" in text and "b" in text for (text,) in events)


def _quoted(program: str) -> str:
    return program.replace("\\", "\\\\").replace('"', '\\"')
