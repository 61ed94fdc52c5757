"""The demo's run: what it prints is what the report says, and repeating it is harmless."""

from __future__ import annotations

import re
import shutil

import pytest

from benchmark.protocols import protocol
from tests.whole.bench import Bench
from tests.whole.published import need_chromium

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.node]

HEADLINE = protocol("asuka").tables[0]


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
        cells = re.split(r"\s{2,}", lines[f"R{at['round']}"])[1:]
        for name, cell in zip(HEADLINE.metrics, cells, strict=True):
            value = at[name]["value"]
            expected = f"{value:g}" if at[name]["half_width"] is None else f"{100 * value:.1f}"
            assert cell.split()[0] == expected, name
    wanted = {"task_pass_rate", "criteria_pass_rate", "project_completion_rate", "implemented_rate"}
    assert wanted | {"regressions"} <= set(HEADLINE.metrics)
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
