"""Runs list, launch form and first page by their addresses: filters, paging, queries, refusals."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from benchmark.rules.vocabulary import RunState
from runs.models import Run
from runs.reporting import as_html
from runs.reporting.reading import report_tables, scored
from tests import campaigns
from tests.browser import stage_set


@pytest.fixture
def client(db, settings, tmp_path) -> Client:
    settings.STATIC_ROOT = tmp_path  # whitenoise warns about a folder that is not there
    signed_in = Client(headers={"host": settings.SITE_HOST})
    signed_in.force_login(campaigns.lead())
    return signed_in


@pytest.fixture
def benchmark(db):
    return stage_set.benchmark(rubric=stage_set.RUBRIC[:4])


def small_runs() -> list[Run]:
    small = stage_set.benchmark(tasks=("seed-library", "score-atlas"), rubric=stage_set.RUBRIC[:6])
    return stage_set.finished_runs(small)[:2]


def listed(response) -> list[int]:
    return [row.run.pk for row in response.context["rows"]]


def test_pages_of_runs_follow_each_other_without_a_gap(client, benchmark):
    for _ in range(53):
        stage_set.run(benchmark)

    first = client.get(reverse("runs:runs"))
    second = client.get(reverse("runs:runs") + first.context["older"])

    numbers = listed(first) + listed(second)
    assert len(listed(first)) == 50
    assert numbers == sorted(Run.objects.values_list("pk", flat=True), reverse=True)
    assert second.context["older"] == ""


def test_fifty_runs_take_no_more_queries_than_two(client, benchmark, django_assert_max_num_queries):
    for _ in range(2):
        stage_set.trial(stage_set.run(benchmark), "seed-library", ["pp"], with_evidence=False)
    with django_assert_max_num_queries(14) as before:
        client.get(reverse("runs:runs"))
    for _ in range(30):
        stage_set.run(benchmark)

    with django_assert_max_num_queries(len(before)):
        client.get(reverse("runs:runs"))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "heron"}, 1),
        ({"q": "run {pk}"}, 1),
        ({"state": "finished"}, 1),
        ({"state": "nonsense"}, 0),
        ({"agent": "quill-34b"}, 1),
        ({"benchmark": "x"}, 0),
        ({"before": "0x1"}, 2),
        ({"q": "9" * 40}, 0),
    ],
)
def test_runs_are_filtered_by_the_address(client, benchmark, query, found):
    first = stage_set.run(benchmark, agent="heron-2")
    stage_set.run(benchmark, agent="quill-34b", state=RunState.RUNNING)

    asked = {name: value.format(pk=first.pk) for name, value in query.items()}
    response = client.get(reverse("runs:runs", query=asked))

    assert response.status_code == 200
    assert len(response.context["rows"]) == found


def test_the_first_page_takes_the_same_queries_for_any_number_of_runs(
    client, benchmark, django_assert_max_num_queries
):
    stage_set.run(benchmark)
    with django_assert_max_num_queries(12) as before:
        client.get(reverse("home"))
    for _ in range(12):
        stage_set.run(benchmark, state=RunState.RUNNING)

    with django_assert_max_num_queries(len(before)):
        client.get(reverse("home"))


def test_a_program_of_this_machine_is_refused_to_a_lead_without_a_staff_account(client, benchmark):
    response = client.post(
        reverse("runs:launch"),
        {
            "benchmark": benchmark.pk,
            "of": benchmark.pk,
            "agent": "command",
            "agent.command": "true",
            "repeats": "1",
        },
    )

    assert response.status_code == 422
    assert "takes a staff account" in response.content.decode()
    assert not Run.objects.exists()


@pytest.mark.parametrize("repeats", ["0", "many", "1000", "-1", "9" * 30])
def test_repeats_that_cannot_be_are_a_sentence(client, benchmark, repeats):
    response = client.post(
        reverse("runs:launch"),
        {
            "benchmark": benchmark.pk,
            "of": benchmark.pk,
            "agent": "replay",
            "agent.candidate": "fieldbook",
            "repeats": repeats,
        },
    )

    assert response.status_code == 422
    assert "repeats" in response.context["problems"]


def test_a_setting_of_thousands_of_digits_is_shown_again_and_not_counted_with(client, benchmark):
    response = client.get(reverse("runs:launch"), {"benchmark": benchmark.pk, "set.max_rounds": "9" * 5000})

    assert response.status_code == 200


def test_the_settings_of_one_benchmark_do_not_follow_to_another(client, benchmark):
    other = stage_set.benchmark("other-shed", tasks=("tide-table",))

    response = client.post(
        reverse("runs:launch"),
        {
            "benchmark": other.pk,
            "of": benchmark.pk,
            "chosen": "1",
            "task": "seed-library",
            "set.threshold": "1",
            "reload": "1",
        },
    )

    assert [each["is_picked"] for each in response.context["tasks"]] == [True]
    assert response.context["protocol_fields"][0].value == "0.5"


def test_an_address_fills_the_form_in(client, benchmark):
    query = {"benchmark": benchmark.pk, "agent": "replay", "candidate": "fieldbook"}

    page = client.get(reverse("runs:launch", query=query)).content.decode()

    assert "<option selected>fieldbook</option>" in page


def test_without_a_benchmark_the_form_says_how_to_bring_one_in(client, db):
    assert "proofroom import PATH" in client.get(reverse("runs:launch")).content.decode()


def test_a_report_file_needs_nothing_from_elsewhere_and_runs_nothing(db):
    runs = [scored(run) for run in small_runs()]

    page = as_html.page(runs, report_tables(runs))

    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert "Cumulative rates by round" in page
    assert "The gap needs a flat evaluation" in page
    assert runs[0].decisions[0] in page
