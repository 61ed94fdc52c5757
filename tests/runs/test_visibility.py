"""Which runs a person may see and act on: roles at every door, and runs that a blind set hides for a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmark import blobs
from people.roles import SiteRole
from proofroom.asgi import application
from runs import consumers, visibility
from runs.models import Deployment, Evidence, Round, Run
from tests import campaigns, make
from tests.runs import judged
from tests.visitors import visitor

pytestmark = pytest.mark.django_db


@pytest.fixture
def annotator() -> Client:
    return visitor(campaigns.person("annotator"))


@pytest.fixture
def reader() -> Client:
    return visitor(campaigns.person("reader", SiteRole.READER))


@pytest.fixture
def lead() -> Client:
    return visitor(campaigns.lead("lead"))


def blind_lead(run: Run) -> User:
    """A lead with an open blind set on a run."""
    person = campaigns.lead("blind-lead")
    campaigns.planned(run, annotators=[person])
    return person


def doors_of(run: Run) -> list[str]:
    """The addresses of everything that belongs to a run."""
    trial = run.trials.get()
    round_ = Round.objects.get(trial=trial)
    log = blobs.save_bytes(b"built")
    deployment = Deployment.objects.create(round=round_, is_healthy=True, build_log=log, server_log=log)
    evidence = Evidence.objects.filter(verdict__judging__round=round_)[0]
    return [
        reverse("runs:run", args=[run.pk]),
        reverse("runs:run", args=[run.pk]) + "?part=summary",
        reverse("runs:run", args=[run.pk]) + "?part=events&after=0",
        *(
            reverse("runs:trial", args=[run.pk, trial.pk]) + f"?view={view}"
            for view in ("rounds", "compare", "code", "transcript", "graph", "preview")
        ),
        reverse("runs:evidence", args=[evidence.pk]),
        reverse("runs:deployment_log", args=[deployment.pk, "build"]),
        reverse("runs:results") + f"?runs={run.pk}",
        reverse("runs:results") + f"?runs={run.pk}&format=csv",
        f"/api/v1/runs/{run.pk}",
        f"/api/v1/runs/{run.pk}/scores",
        f"/api/v1/runs/{run.pk}/marks",
        f"/api/v1/evidence/{evidence.pk}",
        f"/api/v1/evidence/{evidence.pk}/content",
    ]


def small_run(*, agent: str = "scripted") -> Run:
    return campaigns.run(campaigns.benchmark(tasks=1, criteria=1), agent=agent)


def test_an_annotator_alone_gets_nothing_of_a_run_and_is_told_where_the_work_is(annotator):
    run = small_run()

    answers = {door: annotator.get(door) for door in doors_of(run)}

    assert {answer.status_code for answer in answers.values()} == {403}
    for door, answer in answers.items():
        assert "Your work is on the page of your assignments" in answer.content.decode(), door
        if not door.startswith("/api/"):
            assert 'href="/annotation/"' in answer.content.decode(), door
        else:
            assert answer.json()["way_on"] == "/annotation/", door


@pytest.mark.parametrize(
    "address",
    [
        *("/runs/", "/results/", "/runs/launch/", "/benchmarks/", "/benchmarks/{benchmark}/"),
        *("/benchmarks/{benchmark}/tasks/t1/", "/api/v1/runs", "/api/v1/benchmarks", "/api/v1/openapi.json"),
        *("/api/v1/benchmarks/{benchmark}", "/api/v1/benchmarks/{benchmark}/tasks/t1", "/api/v1/docs"),
    ],
)
def test_an_annotator_alone_gets_no_list_no_benchmark_and_no_rubric(annotator, reader, address):
    run = small_run()
    address = address.format(benchmark=run.benchmark_id)

    assert annotator.get(address).status_code == 403
    if "launch" not in address:
        assert reader.get(address).status_code == 200


def test_the_first_page_of_an_annotator_is_that_of_the_assignments(annotator, reader):
    assert annotator.get("/")["Location"] == "/annotation/"
    assert reader.get("/").status_code == 200


def test_an_annotator_who_reads_too_sees_runs():
    run = small_run()
    both = visitor(campaigns.person("both", SiteRole.ANNOTATOR, SiteRole.READER))

    assert both.get(run.get_absolute_url()).status_code == 200


@pytest.mark.parametrize("act", ["cancel", "retry"])
def test_a_reader_changes_no_run_by_page_or_interface(reader, act):
    run = make.run()

    page = reader.post(reverse(f"runs:{act}", args=[run.pk]))
    data = reader.post(f"/api/v1/runs/{run.pk}/{act}")

    assert (page.status_code, data.status_code) == (403, 403)
    assert "Only a lead may do this" in page.content.decode()
    assert "Only a lead may do this" in data.json()["detail"]
    run.refresh_from_db()
    assert run.state == "queued"


def test_a_reader_launches_nothing_by_page_or_interface(reader):
    benchmark = make.benchmark()

    answers = [
        reader.get(reverse("runs:launch")),
        reader.post(reverse("runs:launch"), {"benchmark": benchmark.pk, "of": benchmark.pk}),
        reader.post(
            "/api/v1/runs", json.dumps({"benchmark": benchmark.key}), content_type="application/json"
        ),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert not Run.objects.exists()


def test_pages_show_a_reader_no_button_that_the_server_would_refuse(reader, lead):
    run = make.run()
    addresses = ["/", "/runs/", "/benchmarks/", run.get_absolute_url(), run.benchmark.get_absolute_url()]

    for address in addresses:
        for act in ("/runs/launch/", f"/runs/{run.pk}/cancel/"):
            assert act not in reader.get(address).content.decode(), address
    assert "/runs/launch/" in lead.get("/runs/").content.decode()
    assert f"/runs/{run.pk}/cancel/" in lead.get(run.get_absolute_url()).content.decode()


def test_a_reader_may_open_a_preview(reader):
    run = judged.finished_run()
    trial = run.trials.get()

    answer = reader.post(reverse("runs:preview_start", args=[run.pk, trial.pk, 1]))

    # No workspace was stored here, so the answer only leads back to the page.
    assert answer.status_code == 302


def test_every_door_of_a_hidden_run_is_shut_and_names_the_way_out():
    run = small_run()
    person = blind_lead(run)
    client = visitor(person)
    own = person.assignments.get()
    way_out = reverse("annotation:reveal", args=[own.pk])

    answers = {door: client.get(door) for door in doors_of(run)}

    assert {door: answer.status_code for door, answer in answers.items()} == dict.fromkeys(answers, 403)
    for door, answer in answers.items():
        assert f"Run {run.pk} is hidden from you" in answer.content.decode(), door
        assert way_out in answer.content.decode(), door


@pytest.mark.parametrize("act", ["cancel", "retry"])
def test_a_hidden_run_is_not_changed_either(act):
    run = small_run()
    client = visitor(blind_lead(run))

    assert client.post(reverse(f"runs:{act}", args=[run.pk])).status_code == 403
    assert client.post(f"/api/v1/runs/{run.pk}/{act}").status_code == 403


def test_no_preview_of_a_hidden_run_is_started_or_stopped():
    run = small_run()
    client = visitor(blind_lead(run))
    place = [run.pk, run.trials.get().pk, 1]

    assert client.post(reverse("runs:preview_start", args=place)).status_code == 403
    assert client.post(reverse("runs:preview_stop", args=[*place, "p-any"])).status_code == 403


def test_lists_leave_a_hidden_run_out_and_say_so():
    of = campaigns.benchmark(tasks=1, criteria=1)
    hidden, shown = campaigns.run(of, agent="heron"), campaigns.run(of, agent="kestrel")
    client = visitor(blind_lead(hidden))

    for address in ("/", "/runs/", f"/results/?benchmark={of.pk}", f"/results/?runs={hidden.pk},{shown.pk}"):
        text = client.get(address).content.decode()
        assert "1 run is hidden from you while your blind assignment is open." in text, address
        assert "heron" not in text, address
        assert "kestrel" in text, address
    listed = client.get("/api/v1/runs").json()
    assert [run["run"] for run in listed["items"]] == [shown.pk]
    assert listed["hidden"] == 1


def test_a_list_without_hidden_runs_says_nothing_of_them(lead):
    small_run()

    assert "hidden from you" not in lead.get("/runs/").content.decode()
    assert lead.get("/api/v1/runs").json()["hidden"] == 0


def test_somebody_to_whom_every_run_is_hidden_is_not_taken_for_a_newcomer():
    run = small_run()
    client = visitor(blind_lead(run))

    assert "Measure a code agent" not in client.get("/").content.decode()
    assert "There is no run that you may see now" in client.get("/runs/").content.decode()


def test_a_benchmark_of_a_hidden_run_keeps_its_candidates_and_takes_no_launch():
    run = small_run()
    client = visitor(blind_lead(run))
    launch = {"benchmark": run.benchmark.key, "agent_settings": {"candidate": "nobody"}}

    page = client.get(run.benchmark.get_absolute_url()).content.decode()
    refused = [
        client.get(reverse("runs:launch") + f"?benchmark={run.benchmark_id}"),
        client.post(reverse("runs:launch"), {"benchmark": run.benchmark_id, "of": run.benchmark_id}),
        client.post("/api/v1/runs", json.dumps(launch), content_type="application/json"),
    ]

    assert "they would name the code agent" in page
    assert client.get(f"/api/v1/benchmarks/{run.benchmark_id}").json()["candidates"] == []
    assert [answer.status_code for answer in refused] == [403, 403, 403]
    assert client.get(reverse("runs:launch")).status_code == 200


def test_what_is_hidden_is_asked_once_a_request_whatever_a_page_needs_of_it():
    person = blind_lead(small_run())
    request = RequestFactory().get("/")
    request.user = User.objects.get(pk=person.pk)

    with CaptureQueriesContext(connection) as first:
        visibility.hidden_runs(request.user)
    with CaptureQueriesContext(connection) as later:
        visibility.hidden_runs(request.user)
        visibility.hidden_words(request.user)

    assert (len(first), len(later)) == (2, 0)


def test_a_person_without_campaigns_costs_one_query():
    small_run()
    person = campaigns.lead()

    with CaptureQueriesContext(connection) as queries:
        assert visibility.hidden_runs(person) == frozenset()

    assert len(queries) == 1


class Socket:
    """The live socket of a run as a signed-in person's browser opens it."""

    def __init__(self, user: User, run: Run) -> None:
        client = visitor(user)
        cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
        self._scope = {
            "type": "websocket",
            "path": f"/live/runs/{run.pk}/",
            "query_string": b"",
            "subprotocols": [],
            "headers": [
                (b"host", settings.SITE_HOST.encode()),
                (b"origin", settings.PUBLIC_URL.encode()),
                (b"cookie", cookie.encode()),
            ],
        }

    def talk[T](self, talk: Callable[[ApplicationCommunicator], Awaitable[T]]) -> T:
        """Open it and talk; in a thread, because a browser of another test may keep an event loop in this one."""

        async def conversation() -> T:
            visit = ApplicationCommunicator(application, self._scope)
            await visit.send_input({"type": "websocket.connect"})
            assert (await visit.receive_output(timeout=60))["type"] == "websocket.accept"
            answer = await talk(visit)
            await visit.send_input({"type": "websocket.disconnect", "code": 1000})
            await visit.wait(timeout=60)
            return answer

        with ThreadPoolExecutor() as threads:
            return threads.submit(lambda: asyncio.run(conversation())).result()


async def first(visit: ApplicationCommunicator) -> dict[str, Any]:
    return dict(await visit.receive_output(timeout=60))


@pytest.mark.django_db(transaction=True)
def test_the_socket_of_a_run_is_closed_to_annotators_and_to_whom_it_is_hidden():
    run = small_run()
    people = [campaigns.person(), blind_lead(run)]

    codes = [Socket(person, run).talk(first).get("code") for person in people]

    assert codes == [consumers.FORBIDDEN, consumers.FORBIDDEN]
    assert Socket(campaigns.lead(), run).talk(first)["type"] == "websocket.send"


@pytest.mark.django_db(transaction=True)
def test_an_open_socket_ends_when_its_run_becomes_hidden(monkeypatch):
    monkeypatch.setattr(consumers, "LOOK_EVERY", 0.05)
    run = small_run()
    person = campaigns.lead()

    async def until_closed(visit: ApplicationCommunicator) -> dict[str, Any]:
        await visit.receive_output(timeout=60)
        await asyncio.to_thread(take_a_set)
        return dict(await visit.receive_output(timeout=60))

    def take_a_set() -> None:
        try:
            campaigns.planned(run, annotators=[person])
        finally:
            connection.close()

    assert Socket(person, run).talk(until_closed)["code"] == consumers.FORBIDDEN
