"""Charts of agreement: where things stand, on the screen and on paper."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from annotation.agreement.values import Reason, Undefined, Value
from annotation.calibration import Answer
from annotation.reports.chart_parts import Block, DriftLine, ForestRow, Ink, Kind, Panel, Scale, Voice
from annotation.reports.charts import NARROW, confusion, forest, written
from annotation.reports.people_shown import drift_lines
from annotation.reports.plan_chart import plan_curve
from annotation.reports.score_charts import drift, scatter
from annotation.reports.svg import as_svg

ROWS = [
    ForestRow(name="All outcomes", n=412, kind=Kind.ALL),
    ForestRow(name="heron & <b>", n=92, href="?group=heron"),
    ForestRow(name="nothing", n=12),
]


def value(number: float, low: float | None = None, high: float | None = None) -> Value:
    return Value(value=number, n=10, low=low, high=high)


def panels() -> list[Panel]:
    return [
        Panel(
            title="Accuracy",
            scale=Scale.SHARE,
            estimates=(value(0.93, 0.9, 0.96), value(0.72, 0.61, 0.8), value(1.0)),
            baselines=(0.94, 0.97, 1.0),
            baseline_words="always Pass",
        ),
        Panel(
            title="Kappa",
            scale=Scale.COEFFICIENT,
            estimates=(value(0.39, 0.18, 0.58), value(-0.4, -0.7, 0.2), Undefined(Reason.NO_VARIATION)),
        ),
    ]


def ends(chart, ink: Ink) -> list[tuple[float, float]]:
    """Where horizontal lines of an ink begin and end."""
    found = [re.match(r"M([\d.]+) [\d.]+H([\d.]+)", path.d) for path in chart.paths if path.ink is ink]
    return [(float(each[1]), float(each[2])) for each in found if each]


@pytest.mark.parametrize("width", [884, 620, NARROW])
def test_everything_of_a_forest_plot_lies_inside_it(width):
    chart = forest(ROWS, panels(), width=width, words="A finding.")

    for path in chart.paths:
        xs = [float(x) for x in re.findall(r"[MHL](-?[\d.]+)", path.d)]
        assert all(0 <= x <= width for x in xs), path
        ys = [float(y) for y in re.findall(r"(?:V|[ML]-?[\d.]+ )(-?[\d.]+)", path.d)]
        assert ys
        assert all(0 <= y <= chart.height for y in ys), path
    for word in chart.texts:
        assert 0 <= word.x <= width
        assert 0 < word.y <= chart.height


def test_a_whisker_reaches_from_low_to_high_around_its_value():
    chart = forest(ROWS, panels(), width=884, words="")

    (low, high), *_ = ends(chart, Ink.WHISKER_GROUP)
    ticks = {word.text: word.x for word in chart.texts if word.voice is Voice.TICK}
    # The axis begins at 60 per cent, so 80 and 100 tell its scale.
    unit = (ticks["100"] - ticks["80"]) / 0.2

    assert low == pytest.approx(ticks["100"] - 0.39 * unit, abs=0.1)
    assert high == pytest.approx(ticks["100"] - 0.2 * unit, abs=0.1)


def test_an_undefined_estimate_is_written_in_its_row_in_words():
    chart = forest(ROWS, panels(), width=884, words="")

    assert [word.text for word in chart.texts if word.voice is Voice.REASON] == [
        "undefined: only one label was ever given"
    ]


def test_each_row_has_the_tick_of_always_pass():
    chart = forest(ROWS, panels(), width=884, words="")

    # One in each row, and one beside the words that name it.
    assert sum(path.ink is Ink.BASELINE for path in chart.paths) == len(ROWS) + 1


def test_a_chart_for_paper_is_one_document_without_styles_and_with_its_words_escaped():
    text = as_svg(forest(ROWS, panels(), width=884, words="heron < marlin & co"))

    root = ET.fromstring(text)  # our own text
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "heron < marlin & co"
    assert "heron & <b>" in [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "style=" not in text.replace("font-style=", "")
    assert "class=" not in text
    assert "href" not in text


@pytest.mark.parametrize("ink", list(Ink))
def test_every_ink_has_a_look_on_screen_and_on_paper(ink):
    from annotation.reports.chart_parts import Chart, Path
    from tests.test_promises import ROOT

    chart = Chart(width=10, height=10, words="", paths=(Path(ink=ink, d="M0 0H1"),), texts=())

    assert "<path" in as_svg(chart)
    sheet = (ROOT / "static" / "css" / "agreement.css").read_text()
    # Shades of cells are those of the table on the screen, which draws no path.
    assert f".ink-{ink} " in sheet or ink.startswith(("heat", "agrees", "axis", "band"))


def test_a_confusion_for_paper_holds_counts_shares_and_margins():
    chart = confusion([[4, 1], [5, 90]], ["fail", "pass"], words="", rows="People", columns="Judge")

    texts = [word.text for word in chart.texts]
    assert {"90", "95%", "5", "5%", "4", "80%", "1", "20%", "95", "91", "9", "100"} <= set(texts)
    assert sum(path.ink is Ink.AGREES for path in chart.paths) == 2


def test_values_are_written_with_a_minus_and_never_as_a_negative_zero():
    assert written(-0.0001, Scale.COEFFICIENT) == "0.00"
    assert written(-0.25, Scale.COEFFICIENT) == "−0.25"
    assert written(0.9335, Scale.SHARE) == "93.3"


def test_labels_of_people_whose_lines_end_together_do_not_touch():
    lines = [
        DriftLine(name=f"person {n}", blocks=(Block(at=0, right=4, n=5), Block(at=9, right=4, n=5)))
        for n in range(4)
    ]

    chart = drift(lines, width=560, words="")

    ys = sorted(word.y for word in chart.texts if word.voice is Voice.NAME)
    assert all(after - before >= 15 for before, after in pairwise(ys))


def test_answers_are_cut_into_successive_blocks_of_each_person():
    start = datetime(2026, 5, 1, tzinfo=UTC)
    answers = [
        Answer(annotator=1, saved_at=start + timedelta(hours=hour), is_right=hour < 8) for hour in range(12)
    ] + [Answer(annotator=2, saved_at=start, is_right=True)]

    first, second = drift_lines(answers, {1: "ann", 2: "ben"})

    assert [(block.right, block.n) for block in first.blocks] == [(4, 4), (4, 4), (0, 4)]
    assert [(block.right, block.n) for block in second.blocks] == [(1, 1)]


def test_limits_of_agreement_run_beside_the_line_of_equal_scores():
    chart = scatter(
        [(10, 20), (50, 60)],
        names=("ann", "ben"),
        ends=(0, 100),
        bias=10,
        limits=(0, 20),
        width=420,
        words="",
    )

    def starts(ink: Ink) -> list[tuple[float, ...]]:
        lines = [re.findall(r"M([\d.]+) ([\d.]+)L", path.d) for path in chart.paths if path.ink is ink]
        return [tuple(map(float, line[0])) for line in lines]

    ((x, y),) = starts(Ink.SAME)
    (_, upper) = starts(Ink.LIMIT)
    # The scale is 320 pixels long, so 20 points are 64 of them.
    assert upper[0] == x
    assert upper[1] == pytest.approx(y - 64)
    assert sum(path.ink is Ink.POINT for path in chart.paths) == 2


def test_the_curve_of_a_plan_marks_what_was_asked_for():
    chart = plan_curve([(0.1, 2000), (0.2, 500), (0.4, 130)], wanted=(0.2, 500), width=620, words="")

    assert "500 outcomes" in [word.text for word in chart.texts]
