"""What the run page shows, worked out from plain values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from benchmark.display import Look
from benchmark.rules.vocabulary import Mark, RoundState, StageName, TrialState
from runs.pages.criterion_graph import GraphCriterion, graph_of
from runs.pages.grid import CellShows, GridCriterion, GridRound, GridTrial, rows_of
from runs.pages.progress import stalled_for, time_left
from runs.pages.timeline import StageSpan, stage_bars

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _round(marks: Mapping[str, tuple[Mark, ...]], **given) -> GridRound:
    return GridRound(
        number=given.get("number", 1),
        state=given.get("state", RoundState.CLOSED),
        opened_at=NOON,
        closed_at=NOON + timedelta(minutes=14),
        marks=marks,
        running=given.get("running", frozenset()),
        tally=given.get("tally"),
    )


def _trial(
    *rounds: GridRound, criteria: int = 3, state: TrialState = TrialState.FINISHED, **given
) -> GridTrial:
    return GridTrial(
        pk=1,
        task_key="t1",
        task_title="Task",
        repeat=1,
        state=state,
        stage=given.get("stage"),
        trouble=given.get("trouble", ""),
        href="/runs/1/trials/1/",
        criteria=[GridCriterion(key=f"c{n}", weight=n + 1) for n in range(criteria)],
        rounds=rounds,
    )


def _rows(trial: GridTrial, *, columns: int = 1, shows: CellShows = CellShows.MARKS):
    return rows_of([trial], columns=columns, shows=shows, selected=None, now=NOON + timedelta(minutes=20))


def test_a_cell_holds_one_shape_a_criterion_in_rubric_order_and_the_weighted_share():
    marks = {"c2": (Mark.PASS,), "c0": (Mark.FAIL,), "c1": (Mark.PASS, Mark.FAIL)}

    cell = _rows(_trial(_round(marks)))[0].cells[0]

    assert cell.looks == (Look.FAIL, Look.PARTIAL, Look.PASS)
    # Weights 1, 2, 3; only c2 passes whole: 3 / 6.
    assert cell.figure == "50%"
    assert cell.words == "1 pass, 1 partial, 1 fail"


def test_above_twenty_four_criteria_a_cell_becomes_a_mix_bar_that_fills_its_width():
    marks = {f"c{n}": ((Mark.PASS,) if n < 20 else (Mark.FAIL,)) for n in range(25)}

    cell = _rows(_trial(_round(marks), criteria=25))[0].cells[0]

    assert cell.looks == ()
    assert [segment.look for segment in cell.mix] == [Look.PASS, Look.FAIL]
    assert cell.mix[1].x == pytest.approx(80)


def test_a_very_large_rubric_is_shown_by_counts_of_outcomes():
    round_ = _round({}, tally={Mark.PASS: 300, Mark.FAIL: 100})

    cell = _rows(_trial(round_))[0].cells[0]

    assert (cell.figure, cell.words) == ("75%", "300 pass, 100 fail")


def test_a_round_that_is_being_judged_says_how_far_it_is():
    round_ = _round({"c0": (Mark.PASS,)}, state=RoundState.OPEN, running=frozenset({"c0", "c1"}))
    trial = _trial(round_, state=TrialState.RUNNING, stage=StageName.JUDGE)

    row = _rows(trial)[0]

    assert row.cells[0].figure == "1/3"
    assert row.cells[0].looks == (Look.PASS, Look.RUNNING, Look.WAITING)
    assert (row.now.words, row.now.detail) == ("Judge", "c1")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (TrialState.FINISHED, "not needed"),
        (TrialState.RUNNING, "waiting"),
        (TrialState.CANCELLED, "not run"),
    ],
)
def test_a_round_that_is_not_there_says_why(state, words):
    trial = _trial(_round({"c0": (Mark.PASS,)}), state=state, stage=StageName.CODE)

    assert _rows(trial, columns=2)[0].cells[1].absent == words


def test_a_paused_trial_shows_the_benchs_trouble_and_no_fail():
    trial = _trial(state=TrialState.PAUSED, trouble="The browser closed three times.")

    now = _rows(trial)[0].now

    assert (now.words, now.detail) == ("Paused", "The browser closed three times.")
    assert now.look is not Look.FAIL


def test_cells_can_show_time():
    assert _rows(_trial(_round({"c0": (Mark.PASS,)})), shows=CellShows.TIME)[0].cells[0].figure == "14 min"


def test_time_left_shares_work_among_workers_and_spreads_by_quarter_points():
    # Four trials took 60 to 120 s, mean 90. One runs since 30 s, three wait: (60 + 270) / 2 workers.
    left = time_left([60, 80, 100, 120], [30], queued=3, workers=2)

    assert left is not None
    assert left.likely == pytest.approx(165)
    # At the first quarter point, 60 s: (30 + 180) / 2.  At the third, 100 s: (70 + 300) / 2.
    assert left.least == pytest.approx(105)
    assert left.most == pytest.approx(185)


def test_time_left_is_unknown_until_a_trial_has_finished():
    assert time_left([], [10], queued=3, workers=2) is None


def test_a_run_without_a_sign_for_ninety_seconds_is_called_stalled():
    assert stalled_for(last_event=NOON, now=NOON + timedelta(seconds=89)) == ""
    assert stalled_for(last_event=NOON, now=NOON + timedelta(minutes=4)) == "no sign for 4 min"


def test_the_graphs_sentence_names_what_stopped_most():
    graph = graph_of(
        [
            GraphCriterion(key="c0", title="Layout", needs=(), look=Look.PASS),
            GraphCriterion(key="c1", title="Search", needs=("c0",), look=Look.FAIL),
            GraphCriterion(key="c2", title="Filter", needs=("c1",), look=Look.SKIPPED),
            GraphCriterion(key="c3", title="Both", needs=("c2",), look=Look.SKIPPED),
        ],
        width=468,
    )

    assert graph.sentence.startswith("c1 Search is not satisfied, so c2 was skipped.")
    assert "1 more is skipped" in graph.sentence


def test_stage_bars_share_the_line_by_time_and_the_shortest_can_still_be_seen():
    spans = [
        StageSpan(stage=StageName.BRIEF, started_at=NOON, finished_at=NOON + timedelta(seconds=1)),
        StageSpan(stage=StageName.CODE, started_at=NOON, finished_at=NOON + timedelta(minutes=9)),
    ]

    bars = stage_bars(spans, now=NOON)

    assert bars[0].width > 50
    assert bars[1].x + bars[1].width <= 1000
    assert (bars[0].label, bars[1].label) == ("", "Code")
