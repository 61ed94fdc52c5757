"""Pages as the server answers them: queries, permissions, forms without a browser."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmark.rules.vocabulary import RunState, StageName, TrialState
from runs.models import Run
from tests.browser import stage_set

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(settings) -> Client:
    client = Client(headers={"host": settings.SITE_HOST})
    client.force_login(User.objects.create_user("lead", password="x", is_staff=True))
    return client


def _run_with(trials: int, *, rounds: int = 1) -> Run:
    keys = tuple(f"task-{number}" for number in range(trials))
    of = stage_set.benchmark(f"bench-{trials}-{rounds}", tasks=keys)
    run = stage_set.run(of, state=RunState.RUNNING)
    for key in keys:
        stage_set.trial(
            run,
            key,
            ["ppffsppfpfsspa"] * rounds,
            state=TrialState.RUNNING,
            stage=StageName.JUDGE,
            with_evidence=False,
        )
    return run


def _queries(person: Client, path: str) -> int:
    person.get(path)
    with CaptureQueriesContext(connection) as seen:
        answer = person.get(path)
    assert answer.status_code == 200, path
    return len(seen)


@pytest.mark.parametrize("query", ["", "?part=summary", "?part=events&after=0", "?cell=time"])
def test_the_run_page_asks_as_often_for_twelve_trials_as_for_two(person, query):
    few, many = _run_with(2), _run_with(12, rounds=3)

    counted = [_queries(person, reverse("runs:run", args=[run.pk]) + query) for run in (few, many)]

    assert counted[0] == counted[1] <= 26


def test_lists_and_the_first_page_ask_as_often_for_many_runs_as_for_one(person):
    _run_with(2)
    before = [_queries(person, path) for path in ("/", "/runs/", "/benchmarks/")]
    for number in range(3, 8):
        _run_with(number)

    after = [_queries(person, path) for path in ("/", "/runs/", "/benchmarks/")]

    assert before == after


@pytest.mark.parametrize("view", ["rounds", "compare", "code", "transcript", "graph"])
def test_a_trials_view_asks_as_often_for_three_rounds_as_for_two(person, view):
    counted = []
    for rounds in (2, 3):
        trial = _run_with(1, rounds=rounds).trials.get()
        counted.append(_queries(person, f"{trial.get_absolute_url()}?view={view}&round=2"))

    assert counted[0] == counted[1] <= 24


def test_every_page_asks_a_stranger_to_sign_in(client, settings):
    run = _run_with(1)

    for path in ("/", "/runs/", "/runs/launch/", "/results/", "/benchmarks/", run.get_absolute_url()):
        answer = client.get(path, headers={"host": settings.SITE_HOST})

        assert answer.status_code == 302
        assert answer["Location"].startswith("/sign-in/")


def test_a_trial_is_found_under_its_own_run_only(person):
    one, other = _run_with(1), _run_with(2)

    answer = person.get(reverse("runs:trial", args=[other.pk, one.trials.get().pk]))

    assert answer.status_code == 404


def test_an_unknown_view_or_round_is_answered_with_a_page_not_a_fault(person):
    trial = _run_with(1).trials.get()

    assert person.get(f"{trial.get_absolute_url()}?view=nonsense").status_code == 404
    assert person.get(f"{trial.get_absolute_url()}?round=99&criterion=none&page=x").status_code == 200
    assert person.get("/runs/?before=x&state=bad&benchmark=y").status_code == 200


def test_cancelling_is_a_post_and_keeps_what_is_recorded(person):
    run = _run_with(1)

    refused = person.get(reverse("runs:cancel", args=[run.pk]))
    answer = person.post(reverse("runs:cancel", args=[run.pk]), follow=True)

    run.refresh_from_db()
    assert refused.status_code == 405
    assert run.state == RunState.CANCELLED
    assert run.trials.get().rounds.count() == 1
    assert "Everything recorded stays" in answer.content.decode()


def test_no_page_carries_an_inline_style_or_handler(person):
    run = _run_with(2)
    trial = run.trials.order_by("pk").first()
    assert trial is not None

    for path in (
        "/",
        "/runs/",
        "/runs/launch/",
        "/results/",
        run.get_absolute_url(),
        trial.get_absolute_url(),
    ):
        page = person.get(path).content.decode()

        assert " style=" not in page, path
        assert " onclick=" not in page, path
        assert "<style" not in page, path


def test_a_large_rubric_is_read_by_counts_and_answers_at_all(person):
    rubric = [(f"c{n}", f"Criterion {n}", "presence", 1, (), 1) for n in range(1000)]
    of = stage_set.benchmark("large", tasks=("big",), rubric=rubric)
    run = stage_set.run(of, state=RunState.RUNNING)
    trial = stage_set.trial(
        run,
        "big",
        ["p" * 600 + "f" * 400],
        state=TrialState.RUNNING,
        stage=StageName.JUDGE,
        with_evidence=False,
    )

    page = person.get(run.get_absolute_url()).content.decode()
    listed = person.get(trial.get_absolute_url()).content.decode()

    assert "600 pass, 400 fail" in page
    assert listed.count('class="criterion"') == 150
