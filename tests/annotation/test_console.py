"""The console's page as the server makes it: who gets it, what stands in it, and at what cost."""

from __future__ import annotations

import json
import re

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Assignment
from annotation.vocabulary import Change
from tests import campaigns, make

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    """A browser at the address of the site."""
    return Client(headers={"host": settings.SITE_HOST})


def page(assignment: Assignment, client: Client) -> str:
    assert assignment.annotator is not None
    client.force_login(assignment.annotator)
    answer = client.get(reverse("annotation:console", args=[assignment.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_first_paint_holds_every_outcome_and_the_data_of_the_set(client):
    taken = campaigns.taken()

    html = page(taken, client)

    data = re.search(r'<script id="assignment-data" type="application/json">(.*?)</script>', html)
    assert data is not None
    document = json.loads(data[1])
    rows = list(map(int, re.findall(r'data-annotation="(\d+)"', html)))
    assert rows == [annotation["id"] for annotation in document["annotations"]]
    assert document["closed"] is None
    assert all(annotation["text"] in html for annotation in document["annotations"])


def test_the_page_costs_as_many_queries_for_three_outcomes_as_for_three_hundred(client):
    spent = []
    # The first request of all asks once for what is remembered afterwards.
    for criteria, outcomes in ((1, 1), (1, 3), (10, 30)):
        of = campaigns.benchmark(tasks=1, criteria=criteria, outcomes=outcomes)
        taken = campaigns.taken(campaigns.opened(campaigns.run(of)))

        with CaptureQueriesContext(connection) as queries:
            html = page(taken, client)

        assert html.count('class="outcome"') == criteria * outcomes
        spent.append(len(queries))
    assert spent[1] == spent[2]


def test_somebody_else_finds_no_such_set_and_a_lead_may_look_on(client):
    taken = campaigns.taken()
    address = reverse("annotation:console", args=[taken.pk])

    client.force_login(campaigns.person())
    assert client.get(address).status_code == 404
    client.force_login(campaigns.lead())
    assert client.get(address).status_code == 200


def test_text_of_a_rubric_cannot_become_markup_or_leave_its_data_block(client):
    nasty = "</script><img src=x onerror=alert(1)> \x1b[31m \u202e"
    task = make.task("t1", make.criterion("c0"))
    of = make.benchmark(task)
    outcome = of.tasks.get().criteria.get().outcomes.get()
    outcome.text = nasty
    outcome.save()
    taken = campaigns.taken(campaigns.opened(campaigns.run(of)))

    html = page(taken, client)

    assert "<img src=x" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html


def test_a_submitted_set_says_why_it_takes_nothing(client):
    taken = campaigns.taken()
    Assignment.objects.filter(pk=taken.pk).update(state="submitted")
    taken.refresh_from_db()

    assert "This set was submitted." in page(taken, client)


def test_the_interface_says_why_a_set_takes_nothing_and_null_while_it_does(client):
    taken = campaigns.taken()
    client.force_login(taken.annotator)
    address = f"/api/v1/assignments/{taken.pk}"
    operation = campaigns.operation(taken.annotations.all()[0], Change.MARK, mark="pass")

    def answers() -> list[str | None]:
        sent = {"operations": [operation]}
        return [
            client.get(f"{address}/changes").json()["closed"],
            client.post(f"{address}/operations", sent, content_type="application/json").json()["closed"],
            client.post(f"{address}/presence", {}, content_type="application/json").json()["closed"],
        ]

    assert answers() == [None, None, None]
    taken.campaign.state = "closed"
    taken.campaign.save()
    assert len(set(answers())) == 1
    assert "campaign was closed" in str(answers()[0])
