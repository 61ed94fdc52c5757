"""The results page: ranking, paired differences with sums by hand, reasons, files and queries."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.test import Client
from django.urls import reverse

from benchmark.protocols import protocol
from benchmark.rules.records import Estimate
from benchmark.rules.vocabulary import RunState, TrialState
from runs import history, scoring
from runs.chart_parts import Style
from runs.models import Run
from runs.pages import results
from runs.pages.numbers import RunNumbers, at_round
from runs.pages.results import Entry, FigureKind
from runs.pages.results_reading import differing_settings, tasks_left_out
from tests.browser import stage_set

ASUKA = protocol("asuka")
RATE = "task_pass_rate"


def entry(
    name: str, *, run: int = 1, mean: float | None = None, is_over: bool = True, **by_task: float
) -> Entry:
    """A run with one rate a task; its mean is that of the tasks unless it is given."""
    value = mean if mean is not None else sum(by_task.values()) / len(by_task)
    return Entry(
        run=run,
        name=name,
        agent=name,
        under="",
        href=f"/runs/{run}/",
        state_words="",
        is_over=is_over,
        tasks=tuple(by_task),
        trials={},
        numbers=RunNumbers(
            metrics={RATE: Estimate(value=value, half_width=0.1, n=len(by_task))},
            per_round={},
            per_task={key: {RATE: Estimate(value=rate, n=1)} for key, rate in by_task.items()},
            counts={"errors": 0},
        ),
    )


def test_the_difference_to_the_leader_is_paired_task_by_task():
    leader = entry("heron", t1=1.0, t2=1.0, t3=1.0)
    other = entry("tern", t1=1.0, t2=0.5, t3=0.0)

    found = results.difference_of(other, leader, metric=RATE)

    # Differences 0, -0.5, -1: mean -0.5, s = 0.5; half-width 1.959964 * 0.5 / sqrt(3) = 0.56579.
    assert found.value == "−50.0"
    assert found.interval == "[−106.6, +6.6]"
    assert not found.is_established


def test_a_difference_whose_interval_leaves_out_0_is_established():
    leader = entry("heron", t1=0.9, t2=0.8, t3=0.7)
    other = entry("tern", t1=0.4, t2=0.2, t3=0.3)

    found = results.difference_of(other, leader, metric=RATE)

    # Differences -0.5, -0.6, -0.4: mean -0.5, s = 0.1; half-width 1.959964 * 0.1 / sqrt(3) = 0.11316.
    assert (found.value, found.interval) == ("−50.0", "[−61.3, −38.7]")
    assert found.is_established


def test_only_tasks_that_both_runs_have_enter_the_difference():
    leader = entry("heron", t1=1.0, t2=1.0, t9=0.0)
    other = entry("tern", t1=0.5, t2=0.5, t7=1.0)

    found = results.difference_of(other, leader, metric=RATE)

    assert (found.value, found.over) == ("−50.0", "2 tasks")


def test_one_common_task_gives_a_difference_without_an_interval_which_establishes_nothing():
    found = results.difference_of(entry("tern", t1=0.5), entry("heron", t1=1.0), metric=RATE)

    assert (found.value, found.interval, found.is_established) == ("−50.0", "", False)


def test_two_runs_without_a_common_task_have_no_difference():
    found = results.difference_of(entry("tern", t1=0.5), entry("heron", t2=1.0), metric=RATE)

    assert (found.value, found.words) == ("–", "No task has a number in both runs.")


def test_runs_are_ranked_and_at_most_three_are_coloured():
    entries = [entry(f"a{run}", run=run, t1=run / 10) for run in range(1, 6)]

    board = results.board_of(entries, recipe=ASUKA, kind=FigureKind.CUMULATIVE, picked=[])

    assert [row.entry.run for row in board.rows] == [5, 4, 3, 2, 1]
    assert [row.style for row in board.rows] == [
        Style.FIRST,
        Style.SECOND,
        Style.THIRD,
        Style.OTHER,
        Style.OTHER,
    ]
    assert board.rows[0].difference is None


def test_picked_runs_are_coloured_in_the_order_of_the_ranking():
    assert results.styles_of([5, 4, 3, 2], picked=[2, 4]) == {
        5: Style.OTHER,
        4: Style.FIRST,
        3: Style.OTHER,
        2: Style.SECOND,
    }


def test_a_missing_number_is_a_dash_with_a_letter_that_leads_to_its_reason():
    board = results.board_of([entry("heron", t1=1.0)], recipe=ASUKA, kind=FigureKind.CUMULATIVE, picked=[])

    assert {cell.value for cell in board.rows[0].cells} == {"–"}
    assert board.footnotes.lines == [("a", "Not computed for this run.")]


def test_runs_that_share_an_agent_are_told_apart_by_their_number():
    assert results.names_of({1: "heron", 2: "tern", 3: "heron"}) == {
        1: "heron (1)",
        2: "tern",
        3: "heron (3)",
    }


def test_settings_in_which_runs_differ_are_named_with_the_runs():
    given = {2: {"threshold": 0.5, "mode": "dag"}, 1: {"threshold": 1.0, "mode": "dag"}}

    assert differing_settings(given) == ["Threshold differs: 0.5 (run 2), 1 (run 1)."]


def test_tasks_that_leave_a_mean_are_named():
    half = entry("heron", t1=1.0, t2=0.5)
    given = Entry(
        **{name: getattr(half, name) for name in Entry.__dataclass_fields__} | {"tasks": ("t1", "t2", "t3")}
    )

    assert tasks_left_out([given], metric=ASUKA.metric(RATE)) == [
        "Task Pass Rate of heron is over 2 of 3 tasks: it cannot be computed for t3."
    ]


@pytest.fixture
def client(settings, django_user_model, tmp_path) -> Client:
    settings.STATIC_ROOT = tmp_path  # whitenoise warns about a folder that is not there
    signed_in = Client(headers={"host": settings.SITE_HOST})
    signed_in.force_login(django_user_model.objects.create_user("reader"))
    return signed_in


@pytest.fixture
def runs(db) -> list[Run]:
    # The agents differ in the last criteria of the rubric only, so all of it is needed.
    small = stage_set.benchmark("seed-race", tasks=("seed-library", "score-atlas"))
    return stage_set.finished_runs(small)


def address(**query: object) -> str:
    return reverse("runs:results", query={name: str(value) for name, value in query.items()})


def test_the_page_ranks_the_runs_of_a_benchmark(client, runs):
    page = client.get(address(benchmark=runs[0].benchmark_id)).content.decode()

    assert page.index("heron-2") < page.index("quill-34b") < page.index("tern-9b")
    assert "95% intervals over tasks" in page
    assert "How to read these numbers" in page
    assert "style=" not in page


def test_without_a_benchmark_the_one_with_the_newest_finished_run_is_shown(client, runs):
    assert "seed-race" in client.get(address()).content.decode()


def test_the_same_number_of_queries_serves_three_and_six_runs(client, runs, django_assert_max_num_queries):
    one = address(benchmark=runs[0].benchmark_id)
    with django_assert_max_num_queries(16) as before:
        client.get(one)
    for agent in ("a", "b", "c"):
        more = stage_set.run(runs[0].benchmark, agent=agent)
        stage_set.trial(more, "seed-library", ["pppppppppppppp"], with_evidence=False)
        scoring.store(more)

    with django_assert_max_num_queries(len(before)):
        response = client.get(one)

    assert len(response.context["board"].rows) == 6


def test_numbers_after_an_earlier_round_are_those_stored_for_that_round(client, runs):
    for number in (1, 2):
        cut = at_round(runs, number, names=())
        for run in runs:
            for at in history.scores(run).per_round:
                if at.round == number:
                    assert cut[run.pk].metrics == at.metrics


def test_a_round_switch_shows_an_earlier_round_and_says_so(client, runs):
    response = client.get(address(benchmark=runs[0].benchmark_id, round=1))

    first = response.context["board"].rows[0]
    stored = history.scores(Run.objects.get(pk=first.entry.run)).per_round[0].metrics[RATE]
    assert first.mean.value == f"{100 * (stored.value or 0):.1f}"
    assert "As it stood after round 1." in response.content.decode()


@pytest.mark.parametrize(("figure", "metric"), [("state", f"{RATE}_state"), ("judged", f"{RATE}_judged")])
def test_a_figure_switch_ranks_by_that_figure(client, runs, figure, metric):
    board = client.get(address(benchmark=runs[0].benchmark_id, figure=figure)).context["board"]

    assert board.leading.name == metric


def test_a_figure_or_round_that_does_not_exist_falls_back(client, runs):
    response = client.get(address(benchmark=runs[0].benchmark_id, figure="best", round="many", pick="x"))

    assert response.context["board"].leading.name == RATE


def test_runs_of_another_benchmark_and_unknown_ones_are_named_and_left_out(client, runs):
    response = client.get(address(benchmark=runs[0].benchmark_id, runs=f"{runs[0].pk},{runs[1].pk},987654"))

    assert len(response.context["board"].rows) == 2
    assert "Not shown: run 987654" in response.content.decode()


def test_compare_selected_leads_to_the_picked_runs_alone(client, runs):
    response = client.get(
        f"{address(benchmark=runs[0].benchmark_id)}&pick={runs[0].pk}&pick={runs[2].pk}&only=1"
    )

    assert response.status_code == 302
    assert f"runs={runs[0].pk}%2C{runs[2].pk}" in response["Location"]


def test_errors_and_skips_are_those_of_the_scores(client, runs):
    rows = client.get(address(benchmark=runs[0].benchmark_id)).context["board"].rows

    for row in rows:
        scores = history.scores(Run.objects.get(pk=row.entry.run))
        assert row.errors == scores.errors
        assert row.entry.numbers.counts["skipped"] == scores.skipped


def test_an_unfinished_run_says_over_how_many_tasks_it_is(client, db):
    run = stage_set.run(stage_set.benchmark(rubric=stage_set.RUBRIC[:3]), state=RunState.RUNNING)
    stage_set.trial(run, "seed-library", ["ppp"], with_evidence=False)
    stage_set.trial(run, "score-atlas", state=TrialState.QUEUED)
    scoring.store(run)

    page = client.get(address(benchmark=run.benchmark_id)).content.decode()

    assert "running: over 1 finished task of 2" in page


def test_no_finished_run_names_the_running_ones(client, db):
    run = stage_set.run(stage_set.benchmark(), state=RunState.RUNNING)

    page = client.get(address(benchmark=run.benchmark_id)).content.decode()

    assert "No finished run yet" in page
    assert f"Run {run.pk}, heron-2" in page


def test_a_protocol_that_is_not_installed_is_a_sentence_and_no_crash(client, runs):
    benchmark = runs[0].benchmark
    benchmark.protocol = "tides"
    benchmark.save()

    response = client.get(address(benchmark=benchmark.pk))

    assert response.status_code == 200
    assert "Unknown protocol" in response.content.decode()


@pytest.mark.parametrize("query", [{"benchmark": "99999"}, {"benchmark": "x"}, {"runs": "99999"}])
def test_what_does_not_exist_is_not_found(client, runs, query):
    assert client.get(address(**query)).status_code == 404


@pytest.mark.parametrize("wanted", ["csv", "latex", "json", "html"])
def test_every_file_holds_the_runs_asked_for(client, runs, wanted):
    response = client.get(address(runs=f"{runs[0].pk},{runs[1].pk}", format=wanted))

    text = response.content.decode()
    assert response["Content-Disposition"].startswith("attachment")
    if wanted == "json":
        assert set(json.loads(text)["runs"]) == {str(runs[0].pk), str(runs[1].pk)}
        return
    assert "heron-2" in text
    assert "quill-34b" in text
    assert "tern-9b" not in text


def test_an_unknown_file_format_is_not_found(client, runs):
    assert client.get(address(benchmark=runs[0].benchmark_id, format="docx")).status_code == 404


@pytest.mark.parametrize("chart", ["by_round", "by_kind", "fixes", "tasks"])
def test_every_figure_and_table_has_its_numbers_as_a_file(client, runs, chart):
    response = client.get(address(benchmark=runs[0].benchmark_id, chart=chart, format="csv"))

    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert {row["table"] for row in rows} == {chart}
    assert all(row["value"] or row["reason"] for row in rows)


def test_an_agents_name_cannot_break_the_page_or_the_file(client, runs):
    Run.objects.filter(pk=runs[0].pk).update(code_agent_label="<script>alert(1)</script>")

    page = client.get(address(benchmark=runs[0].benchmark_id)).content.decode()
    report = client.get(address(benchmark=runs[0].benchmark_id, format="html")).content.decode()

    assert "<script>alert" not in page
    assert "<script" not in report
    assert "&lt;script&gt;" in report
