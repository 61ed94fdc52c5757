"""Reports: the same numbers in every format, whatever agents and tasks are called."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from benchmark.protocols import protocol
from benchmark.protocols.scorefile import score_document
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import Mark, Unit
from runs import history
from runs.models import Run
from runs.reporting import as_csv, as_latex
from runs.reporting.numbers import half_width_text, value_text
from runs.reporting.reading import headline_lines, scored
from tests import make
from tests.runs import judged

pytestmark = pytest.mark.django_db

FAIL = (Mark.FAIL,)
HOSTILE = r'_x & 50% $y$ #1 \input{/etc/passwd} {a} ^b ~c <img src=x onerror=alert(1)> "q" 🚀 测试 é ½'


def reported(*words: object) -> str:
    out = StringIO()
    call_command("report", *map(str, words), stdout=out, stderr=StringIO())
    return out.getvalue()


def two_tasks(**settings: Any) -> Any:
    return make.benchmark(
        make.task(
            "t1",
            make.criterion("c0", weight=2, kind="presence"),
            make.criterion("c1", weight=3, needs=["c0"], outcomes=2),
        ),
        make.task("t2", make.criterion("c0", weight=5)),
        settings=settings,
    )


ROUNDS: list[judged.Marks] = [
    {"c0": FAIL, "c1": (Mark.SKIPPED, Mark.SKIPPED)},
    {"c1": (Mark.PASS, Mark.FAIL)},
]


def hostile_run() -> Run:
    run = judged.finished_run(two_tasks(), rounds=[{}])
    Run.objects.filter(pk=run.pk).update(code_agent_label=HOSTILE)
    return Run.objects.select_related("benchmark").get(pk=run.pk)


def test_json_has_the_numbers_that_score_gives_for_the_same_marks():
    run = judged.finished_run(two_tasks(), rounds=ROUNDS)
    marks_file = {
        "protocol": "asuka",
        "settings": run.settings,
        "tasks": [
            {
                "key": "t1",
                "criteria": [
                    {"key": "c0", "kind": "presence", "weight": 2, "needs": [], "outcomes": 1},
                    {"key": "c1", "kind": "functionality", "weight": 3, "needs": ["c0"], "outcomes": 2},
                ],
            },
            {"key": "t2", "criteria": [{"key": "c0", "kind": "functionality", "weight": 5, "outcomes": 1}]},
        ],
        "rounds": [
            {"task": "t1", "round": 1, "marks": {"c0": "fail", "c1": "skipped"}},
            {"task": "t1", "round": 2, "marks": {"c0": "pass", "c1": ["pass", "fail"]}},
            {"task": "t2", "round": 1, "marks": {"c0": "fail"}},
            {"task": "t2", "round": 2, "marks": {"c0": "pass"}},
        ],
    }

    document = json.loads(reported(run.pk, "--format", "json"))

    expected = score_document(marks_file, protocol="asuka").as_json()
    assert document == {"runs": {str(run.pk): expected}}
    # t1 passes 2 of 5 after round 2, t2 all of 5.
    assert expected["metrics"]["task_pass_rate"]["value"] == pytest.approx((2 / 5 + 1) / 2)


def test_what_a_terminal_prints_at_the_end_of_the_demo_is_what_json_says():
    run = judged.finished_run(two_tasks(), rounds=ROUNDS)
    by_round = json.loads(reported(run.pk, "--json"))["runs"][str(run.pk)]["per_round"]

    lines = headline_lines(run)

    for at in by_round:
        (line,) = [line for line in lines if line.startswith(f"R{at['round']} ")]
        cells = re.split(r"\s{2,}", line)[1:]
        for name, cell in zip(protocol("asuka").tables[0].metrics, cells, strict=True):
            value = at[name]["value"]
            expected = f"{value:g}" if at[name]["half_width"] is None else f"{100 * value:.1f}"
            assert cell.split()[0] == expected, name


def test_csv_has_the_same_columns_for_every_run_and_every_number_once():
    run = judged.finished_run(two_tasks(), rounds=ROUNDS)
    scores = history.scores(run)

    rows = list(csv.DictReader(io.StringIO(reported(run.pk, "--format", "csv"))))

    assert list(rows[0]) == [
        *("run", "agent", "protocol", "task", "round", "metric", "value", "half_width"),
        *("n", "denominator", "reason", "caution"),
    ]
    places = [(row["task"], row["round"], row["metric"]) for row in rows]
    assert len(places) == len(set(places))
    overall = {row["metric"]: row for row in rows if not row["task"] and not row["round"]}
    assert set(overall) == set(scores.metrics)
    assert float(overall["task_pass_rate"]["value"]) == scores.metrics["task_pass_rate"].value
    undefined = overall["dag_gap"]
    assert (undefined["value"], bool(undefined["reason"])) == ("", True)


def test_a_spreadsheet_is_given_no_formula_and_negative_numbers_stay_numbers():
    run = judged.finished_run(two_tasks(mode="flat"), rounds=[{"c0": FAIL}])
    Run.objects.filter(pk=run.pk).update(code_agent_label='=HYPERLINK("http://x","y")')

    text = reported(run.pk, "--format", "csv")

    agents = {row["agent"] for row in csv.DictReader(io.StringIO(text))}
    assert agents == {'\'=HYPERLINK("http://x","y")'}
    for start in ("=", "+", "-", "@", "\t", "\r", "\n"):
        assert as_csv.neutral(f"{start}1+1") == f"'{start}1+1"
    assert as_csv.neutral("a=1") == "a=1"
    given = scored(Run.objects.select_related("benchmark").get(pk=run.pk))
    given.scores.metrics["dag_gap"] = Estimate(value=-0.25, n=2)  # type: ignore[index]
    gap = next(
        row for row in csv.DictReader(io.StringIO(as_csv.csv_text([given]))) if row["metric"] == "dag_gap"
    )
    assert float(gap["value"]) == -0.25


def test_several_runs_are_laid_beside_each_other():
    first = judged.finished_run(two_tasks(), rounds=ROUNDS)
    second = judged.finished_run(two_tasks(), rounds=[{}])

    text = reported(first.pk, second.pk, first.pk)
    document = json.loads(reported(first.pk, second.pk, first.pk, "--json"))

    assert list(document["runs"]) == [str(first.pk), str(second.pk)]
    assert f"(run {first.pk})" in text
    assert f"(run {second.pk})" in text


def test_html_escapes_every_name_and_opens_without_anything_outside():
    page = reported(hostile_run().pk, "--format", "html")

    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    tags = Tags()
    tags.feed(page)
    assert not tags.names & {"script", "link", "iframe", "object", "img"}
    assert not tags.addresses


class Tags(HTMLParser):
    """Names of all tags, and every address that they would load."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.addresses += [
            value for name, value in attrs if name in {"src", "href", "action", "style"} and value
        ]


def test_latex_writes_each_special_character_as_text():
    assert as_latex.escaped(r"_&%$#\{}^~") == (
        r"\_\&\%\$\#\textbackslash{}\{\}\textasciicircum{}\textasciitilde{}"
    )
    assert as_latex.escaped("a\nb\u202e🚀测é") == "a b????é".replace("????", "???")


@pytest.mark.parametrize("options", [(), ("--fragment",)], ids=["document", "fragment"])
def test_latex_compiles_whatever_agents_and_tasks_are_called(tmp_path, options):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not here: apt install texlive-latex-recommended")
    run = hostile_run()
    other = judged.finished_run(two_tasks(), rounds=ROUNDS)
    run.benchmark.tasks.filter(key="t1").update(key="a_b.C~1")

    text = reported(run.pk, other.pk, "--format", "latex", *options)

    printed = _compiled(text if not options else _around(text), tmp_path)
    assert "a_b.C" in printed
    assert "root:" not in printed


def _around(fragment: str) -> str:
    return (
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}\\usepackage{textcomp}"
        f"\\usepackage{{booktabs,graphicx}}\\begin{{document}}\n{fragment}\n\\end{{document}}"
    )


def _compiled(text: str, folder: Path) -> str:
    (folder / "report.tex").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "report.tex"],
        cwd=folder,
        capture_output=True,
        timeout=120,
        check=False,
    )
    log = done.stdout.decode(errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert (folder / "report.pdf").stat().st_size > 5000
    if shutil.which("pdftotext") is None:
        return text.replace("\\_", "_")
    read = subprocess.run(
        ["pdftotext", "report.pdf", "-"], cwd=folder, capture_output=True, text=True, timeout=60, check=True
    )
    return read.stdout


def test_a_report_is_written_whole_to_a_file(tmp_path):
    run = judged.finished_run(two_tasks())

    reported(run.pk, "--format", "json", "-o", tmp_path / "report.json")

    assert json.loads((tmp_path / "report.json").read_text()) == json.loads(reported(run.pk, "--json"))
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


def test_the_facts_name_benchmark_content_judge_settings_and_what_was_left_out():
    run = judged.finished_run(two_tasks(), rounds=ROUNDS)

    text = reported(run.pk)

    assert f"content {run.benchmark_hash[:12]}" in text
    assert "threshold = 0.5, mode = dag, max_rounds = 3, request = query" in text
    assert "2 tasks, 2 trials, 0 errors, 0 skipped, 0 infrastructure failures, 0 audit failures" in text


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.8364, Unit.SHARE, "83.6"),
        (-0.0001, Unit.SHARE, "0.0"),
        (-0.125, Unit.SHARE, "−12.5"),
        (4.0, Unit.COUNT, "4"),
        (None, Unit.SHARE, "–"),
    ],
)
def test_a_number_is_written_as_papers_write_it(value, unit, shown):
    estimate = Estimate(value=value, n=3, reason="no task" if value is None else None)

    assert value_text(estimate, unit) == shown
    assert half_width_text(estimate, unit) == ""
