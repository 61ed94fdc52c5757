"""What a run will need: by hand-made past trials, from rows, on the launch page and by the command."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmark.rules.vocabulary import StageName
from runs.capacity import BROWSER_BYTES, CANDIDATE_BYTES, Limits, Need, PastTrial, Wish, estimate
from runs.models import Round, Run, StageRecord, TrajectoryEvent
from runs.pages.capacity_words import lines_of, size_of, text_of, time_of
from runs.past_trials import cost_of, estimated, past_trials, tokens_of
from tests import campaigns


def wish(trials: int = 10, *, workers: int = 2, browsers: int = 2, rounds: int = 3) -> Wish:
    return Wish(
        trials=trials,
        rounds=rounds,
        workers=workers,
        browsers=browsers,
        criteria_at_once=3,
        limits=Limits(seconds={Need.AGENT: 100.0, Need.JUDGE: 20.0}),
    )


def past(agent: float, judge: float, **more: Any) -> PastTrial:
    return PastTrial(seconds={Need.AGENT: agent, Need.JUDGE: judge}, rounds=1, **more)


def test_a_run_takes_its_waves_of_trials_by_the_median_and_from_the_least_to_the_most():
    needed = estimate(wish(10, workers=4, browsers=4), [past(50, 10), past(80, 20), past(30, 10)])

    # Totals 40, 60 and 100 s; ten trials by four workers are three waves.
    assert needed.seconds is not None
    assert (needed.seconds.median, needed.seconds.low, needed.seconds.high) == (180, 120, 300)
    assert (needed.past, needed.seconds.n) == (3, 3)
    assert needed.by_need[Need.AGENT] == 50


def test_few_browsers_make_a_run_longer_than_its_workers_would():
    needed = estimate(wish(10, workers=10, browsers=1), [past(5, 30)])

    # Ten workers would be done after 35 s, but one browser judges ten times 30 s.
    assert needed.seconds is not None
    assert needed.seconds.median == 300


def test_no_more_is_at_work_than_there_are_trials():
    needed = estimate(wish(1, workers=8, browsers=8), [past(5, 30)])

    assert (needed.at_once, needed.browsers, needed.criteria_at_once) == (1, 1, 3)
    assert needed.memory_bytes == BROWSER_BYTES + CANDIDATE_BYTES


def test_without_past_trials_only_the_declared_limits_bound_the_time():
    needed = estimate(wish(10, workers=2), [])

    # Three rounds of 120 s, in five waves.
    assert needed.seconds is None
    assert needed.most_seconds == 1800
    assert time_of(needed) == "No past run says how long it will take."
    (time, *_) = lines_of(needed)
    assert time.value == "Not known"
    assert time.note == (
        "no past runs of this benchmark, code agent and judge; "
        "at most 30 min by the declared time limits, 2 trials at a time"
    )


def test_tokens_and_cost_are_those_of_the_trials_that_reported_them():
    trials = [past(1, 1, tokens=1000, cost=0.5), past(1, 1, tokens=3000, cost=1.5), past(1, 1)]

    needed = estimate(wish(10), trials)

    assert needed.tokens is not None
    assert needed.cost is not None
    assert (needed.tokens.median, needed.tokens.low, needed.tokens.high, needed.tokens.n) == (
        20_000,
        10_000,
        30_000,
        2,
    )
    assert "About $10.00 ($5.00 to $15.00)" in text_of(needed)


def test_a_run_without_trials_needs_nothing():
    needed = estimate(wish(0), [past(1, 1)])

    assert (needed.at_once, needed.browsers, needed.memory_bytes, needed.most_seconds) == (0, 0, 0, 0)
    assert lines_of(needed) == []
    assert size_of(needed).startswith("0 trials")


def test_a_machine_without_a_worker_is_no_machine():
    with pytest.raises(ValueError, match="a worker, a browser and a round"):
        wish(workers=0)


@pytest.mark.parametrize(
    ("events", "tokens", "cost"),
    [
        ([], None, None),
        (["text", None, {"usage": "none"}, {"total_cost_usd": "free"}], None, None),
        ([{"usage": {"input_tokens": 7}}], 7, None),
        (
            [
                {"usage": {"input_tokens": 10, "output_tokens": 5}},
                {"usage": {"input_tokens": 100, "output_tokens": 50}, "total_cost_usd": 0.25},
            ],
            150,
            0.25,
        ),
        ([{"usage": {"input_tokens": -1, "output_tokens": 1e300}}], None, None),
    ],
)
def test_what_an_agent_reports_at_its_end_is_read_and_nothing_else(events, tokens, cost):
    assert tokens_of(events) == tokens
    assert cost_of(events) == cost


def timed(run: Run, *, agent: float, judge: float) -> None:
    """Give every round of a run stages of so many seconds."""
    now = timezone.now()
    for round_ in Round.objects.filter(trial__run=run):
        for stage, seconds in ((StageName.CODE, agent), (StageName.JUDGE, judge)):
            StageRecord.objects.update_or_create(
                round=round_,
                stage=stage,
                defaults={"started_at": now, "finished_at": now + timedelta(seconds=seconds)},
            )


@pytest.mark.django_db
def test_past_trials_are_those_of_the_same_benchmark_agent_and_judge_in_four_queries():
    run = campaigns.run(campaigns.benchmark(tasks=4))
    other = campaigns.run(campaigns.benchmark(tasks=1))
    timed(run, agent=10, judge=5)
    timed(other, agent=99, judge=99)

    with CaptureQueriesContext(connection) as queries:
        found = past_trials(run.benchmark, agent=run.code_agent, judge=run.judge)

    assert len(queries) == 4
    assert [(trial.seconds[Need.AGENT], trial.seconds[Need.JUDGE]) for trial in found] == [(10, 5)] * 4
    assert past_trials(run.benchmark, agent="command", judge=run.judge) == []


@pytest.mark.django_db
def test_the_last_events_of_a_round_tell_its_tokens():
    run = campaigns.run(campaigns.benchmark(tasks=1))
    timed(run, agent=10, judge=5)
    round_ = Round.objects.get(trial__run=run)
    for position, data in enumerate([{}, {"usage": {"input_tokens": 900, "output_tokens": 100}}]):
        TrajectoryEvent.objects.create(
            round=round_, position=position, at=timezone.now(), kind="output", data=data
        )

    (trial,) = past_trials(run.benchmark, agent=run.code_agent, judge=run.judge)

    assert trial.tokens == 1000


@pytest.mark.django_db
def test_the_launch_page_says_what_the_run_will_need_in_queries_that_do_not_grow(client):
    run = campaigns.run(campaigns.benchmark(tasks=2), agent="replay")
    Run.objects.filter(pk=run.pk).update(code_agent="replay", judge="scripted")
    timed(run, agent=10, judge=5)
    client.force_login(campaigns.lead())
    address = f"/runs/launch/?benchmark={run.benchmark_id}"
    client.get(address, headers={"host": "proofroom.localhost:8000"})

    with CaptureQueriesContext(connection) as few:
        page = client.get(address, headers={"host": "proofroom.localhost:8000"}).content.decode()
    more = campaigns.run(run.benchmark)
    Run.objects.filter(pk=more.pk).update(code_agent="replay", judge="scripted")
    with CaptureQueriesContext(connection) as many:
        client.get(address, headers={"host": "proofroom.localhost:8000"})

    assert "What it will need" in page
    assert "by 2 past trials" in page
    assert len(many) == len(few)


@pytest.mark.django_db
def test_the_command_estimates_and_launches_nothing():
    run = campaigns.run(campaigns.benchmark(tasks=2))
    before = Run.objects.count()
    out = StringIO()

    call_command(
        "launch",
        str(run.benchmark_id),
        agent="command",
        command="true",
        estimate=True,
        json=True,
        stdout=out,
    )

    document = json.loads(out.getvalue())
    assert Run.objects.count() == before
    assert document["past_trials"] == 0
    assert document["trials"] == 2
    assert document["seconds"] is None
    assert document["seconds_at_most"] > 0


@pytest.mark.django_db
def test_an_estimate_follows_the_settings_of_this_machine(settings):
    settings.WORKER_THREADS, settings.BROWSERS_AT_ONCE = 3, 2
    run = campaigns.run(campaigns.benchmark(tasks=1))

    needed = estimated(
        run.benchmark,
        agent="replay",
        agent_settings={},
        judge="scripted",
        judge_settings={"concurrency": 4},
        protocol_settings={"max_rounds": 3, "request": "prd"},
        trials=50,
    )

    assert (needed.at_once, needed.browsers, needed.criteria_at_once, needed.rounds) == (3, 2, 8, 1)
