"""The consistency check and the planner, as pages."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation.agreement.planner import Clustering, Expected, Target, plan_judge
from tests import campaigns
from tests.annotation.seats import seat

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    return seat(campaigns.person("somebody"))


def check(client, **given):
    return client.get(reverse("annotation:agreement_check"), given)


def plan(client, **given):
    return client.get(reverse("annotation:agreement_plan"), given)


def test_figures_that_no_table_gives_are_said_to_be_so_and_always_pass_is_shown_to_win(client):
    answer = check(client, accuracy="93.35", precision="97.37", recall="95.68", f1="96.52", n="3576")

    assert answer.status_code == 200
    assert "No table of whole numbers gives these figures" in answer.text
    assert "0.17 to 0.25" in answer.text
    assert "96.2 to 96.7" in answer.text
    assert "In every one of these tables a judge that always says Pass" in answer.text


def test_figures_of_one_table_show_that_table(client):
    # 142 + 175 of 366 are right.
    answer = check(client, accuracy="86.612", precision="83.529", recall="87.117", f1="85.285", n="366")

    (row,) = answer.context["answer"]["rows"]
    assert row["counts"] == ["142", "28", "21", "175"]
    assert row["kappa"] == "0.730"


def test_an_empty_check_asks_for_figures(client):
    answer = check(client)

    assert answer.status_code == 200
    assert "Give what a paper prints" in answer.text


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"accuracy": "ninety", "n": "10"}, "is no share"),
        ({"accuracy": "93.3", "n": "0"}, "give a whole number from 1 to 100,000"),
        ({"accuracy": "93.3", "n": ""}, "give a whole number"),
        ({"precision": "93.3", "n": "10"}, "Too little is printed"),
        ({"accuracy": "93.3", "n": "10", "tolerance": "-1"}, "give a number from 0 to 5"),
    ],
)
def test_what_cannot_be_checked_is_refused_with_the_way_out(client, given, sentence):
    answer = check(client, **given)

    assert answer.status_code == 422
    assert sentence in answer.text


def test_a_plan_shows_what_the_planner_computes(client):
    answer = plan(client, target="accuracy", width="0.1", prevalence="80%", recall="0.95", specificity="0.7")

    wanted = plan_judge(
        Target.ACCURACY,
        Expected(prevalence=0.8, recall=0.95, specificity=0.7),
        width=0.1,
        clustering=Clustering(per_project=10, correlation=0.05),
    )
    assert [stat["value"] for stat in answer.context["stats"][:2]] == [
        f"{wanted.outcomes:,}",
        f"{wanted.projects:,}",
    ]
    assert f"{wanted.outcomes:,} outcomes" in answer.text


def test_a_plan_compares_numbers_of_outcomes_a_project_and_of_people(client):
    answer = plan(client)

    spread = answer.context["spread"]
    assert [row["per_project"] for row in spread] == [1, 5, 10, 20, 40]
    assert [row["raters"] for row in answer.context["people"]] == ["2", "3", "4", "5", "6"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"prevalence": "2%%"}, "is no share"),
        ({"recall": "1", "specificity": "1"}, "expect a few mistakes"),
        ({"width": "0"}, "is not between 0 and 1"),
        ({"per_project": "1.5"}, "give a whole number"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_the_way_out(client, given, sentence):
    answer = plan(client, **given)

    assert answer.status_code == 422
    assert sentence in answer.text


def test_what_is_typed_is_shown_again_and_never_as_markup(client):
    answer = check(client, accuracy="<script>alert(1)</script>", n="10")

    assert "<script>alert(1)" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text
