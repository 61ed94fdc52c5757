"""The demo's run: what it prints is what the report says, and repeating it is harmless."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.whole.bench import Bench
from tests.whole.published import need_chromium

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.node]

HEADLINE = ("task_pass_rate", "criteria_pass_rate", "project_completion_rate", "implemented_rate")


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> tuple[Bench, str]:
    need_chromium()
    if shutil.which("node") is None:
        pytest.skip("no Node.js on PATH for the sample that Vite builds")
    bench = Bench(data=tmp_path_factory.mktemp("demo"))
    return bench, bench.command("demo", "--no-serve", timeout=1500)


def test_the_demo_prints_per_round_the_numbers_of_the_report(demo):
    bench, printed = demo
    run = str(bench.json("runs")["runs"][0]["run"])

    scores = bench.json("report", run)["runs"][run]

    lines = {found[1]: line for line in printed.splitlines() if (found := re.match(r"(R\d)\s", line))}
    assert list(lines) == ["R1", "R2", "R3"]
    for at in scores["per_round"]:
        line = lines[f"R{at['round']}"]
        for name in HEADLINE:
            assert f"{100 * at[name]['value']:.1f}" in line, name
        assert line.split()[-1] == f"{at['regressions']['value']:g}"
    assert scores["per_round"][1]["regressions"]["value"] >= 1
    assert scores["errors"] == 0


def test_repeating_the_demo_makes_no_second_run_and_changes_no_number(demo):
    bench, printed = demo

    again = bench.command("demo", "--no-serve", timeout=600)

    assert len(bench.json("runs")["runs"]) == 1
    assert [line for line in again.splitlines() if re.match(r"R\d\s", line)] == [
        line for line in printed.splitlines() if re.match(r"R\d\s", line)
    ]
    assert bench.leftovers() == []
