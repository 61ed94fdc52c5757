"""Doors for machines: alive, ready and numbers, under any host name and only for whom they are."""

from __future__ import annotations

import json
import threading
import time

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from proofroom.readiness import Behind, Readiness, Standing
from runs import liveness
from runs.models import Trial
from runs.queues import EVERY
from tests import make

TOKEN = "a-token-for-tests-only"
ADDRESS = {"HTTP_HOST": "10.1.2.3:8000", "REMOTE_ADDR": "10.9.9.9"}
HERE = {"HTTP_HOST": "127.0.0.1:8000", "REMOTE_ADDR": "127.0.0.1"}


@pytest.fixture
def nobody() -> Client:
    """A program without an account."""
    return Client()


def numbers(response) -> dict[tuple[str, ...], float]:
    """Every number of an exposition, by its name and the values of its labels."""
    families = text_string_to_metric_families(response.content.decode())
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_probe_that_knows_an_address_only_is_told_that_the_site_lives(nobody):
    response = nobody.get("/health/live", **ADDRESS)

    assert (response.status_code, response.content) == (200, b"alive")
    assert response["Cache-Control"] == "no-store"
    assert nobody.post("/health/live", **ADDRESS).status_code == 405


@pytest.mark.django_db(transaction=True)
def test_a_ready_site_says_so_of_everything_it_stands_on(nobody):
    response = nobody.get("/health/ready", **ADDRESS)

    assert response.json() == {
        "ready": True,
        **dict.fromkeys(("database", "migrations", "broker", "channel_layer", "blobs"), "ok"),
    }
    assert response.status_code == 200


def test_what_is_away_slow_or_behind_is_one_word_each_and_no_reason():
    late = threading.Event()

    def fails() -> None:
        raise OSError("password=secret at 10.0.0.1")

    def behind() -> None:
        raise Behind

    def waits() -> None:
        late.wait(60)

    ready = Readiness({"a": lambda: None, "b": fails, "c": waits, "d": behind}, patience=0.3)
    try:
        began = time.monotonic()
        found = ready.standings()
        took = time.monotonic() - began
    finally:
        late.set()

    assert found == {"a": Standing.OK, "b": Standing.AWAY, "c": Standing.SLOW, "d": Standing.BEHIND}
    assert took < 5


def test_what_still_waits_for_an_answer_is_not_asked_a_second_time(monkeypatch):
    monkeypatch.setattr("proofroom.readiness.REMEMBERED", 0.0)
    asked, late = [], threading.Event()

    def slow() -> None:
        asked.append(1)
        late.wait(60)

    ready = Readiness({"a": slow}, patience=0.05)
    try:
        assert [ready.standings()["a"] for _ in range(3)] == [Standing.SLOW] * 3
    finally:
        late.set()

    assert len(asked) == 1


@pytest.mark.parametrize(
    ("asker", "status"),
    [
        ({}, 200),
        ({"HTTP_HOST": "proofroom.localhost:8000"}, 403),
        ({"HTTP_X_FORWARDED_FOR": "10.0.0.1"}, 403),
        ({"REMOTE_ADDR": "10.0.0.1"}, 403),
        ({"REMOTE_ADDR": "192.0.2.7"}, 200),
        ({"REMOTE_ADDR": "192.0.2.7", "HTTP_VIA": "1.1 front"}, 403),
        ({"REMOTE_ADDR": "nonsense"}, 403),
    ],
    ids=str,
)
@pytest.mark.django_db
def test_numbers_are_for_this_machine_and_allowed_networks_not_for_who_comes_through_a_web_server(
    nobody, settings, asker, status
):
    import ipaddress

    settings.METRICS_FROM = [ipaddress.ip_network("192.0.2.0/24")]

    assert nobody.get("/metrics", **(HERE | asker)).status_code == status


@pytest.mark.parametrize(("given", "status"), [(TOKEN, 200), (TOKEN + "x", 403), ("é", 403), ("", 403)])
@pytest.mark.django_db
def test_with_a_token_set_nothing_else_opens_the_numbers(nobody, settings, given, status):
    settings.METRICS_TOKEN = TOKEN

    response = nobody.get("/metrics", HTTP_AUTHORIZATION=f"Bearer {given}", **HERE)

    assert response.status_code == status
    assert TOKEN not in response.content.decode()


@pytest.mark.django_db
def test_the_numbers_tell_what_waits_who_works_and_how_long_answers_take(nobody, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    make.run(repeats=3)
    Trial.objects.filter(repeat=2).update(stage="judge")
    Trial.objects.filter(repeat=3).update(state="finished")
    liveness.beat(queues=EVERY, threads=2)
    nobody.get("/sign-in/", HTTP_HOST="proofroom.localhost:8000")

    found = numbers(nobody.get("/metrics", **HERE))
    liveness.leave()

    assert found["proofroom_trials", "queued"] == 2
    assert found["proofroom_trials", "finished"] == 1
    assert found["proofroom_steps_waiting", "judge"] == 1
    assert found["proofroom_steps_waiting", "light"] == 1
    assert found["proofroom_steps_running", "agent"] == 0
    assert (found["proofroom_workers", "judge"], found["proofroom_worker_threads",]) == (1, 2)
    assert found["proofroom_request_seconds_count", "2xx", "sign_in"] >= 1
    assert (found["proofroom_database_up",], found["proofroom_redis_up",]) == (1, 1)
    assert {"proofroom_verdicts_total", "proofroom_label_saves_total", "proofroom_browsers"} <= {
        name for name, *_ in found
    }
    assert (tmp_path / "worker.alive").is_file()


@pytest.mark.django_db
def test_what_starts_workers_reads_what_waits_in_each_queue(nobody):
    make.run(repeats=3)

    found = nobody.get("/metrics/queues", **HERE).json()

    assert found["queues"]["light"] == {"waiting": 3, "running": 0}
    assert sorted(found["queues"]) == sorted(EVERY)
    assert nobody.get("/metrics/queues", **ADDRESS).status_code == 403


@pytest.mark.django_db
def test_the_queries_behind_the_numbers_do_not_grow_with_the_trials(nobody, django_assert_num_queries):
    make.run(repeats=2)
    with django_assert_num_queries(4):
        nobody.get("/metrics", **HERE)
    make.run(repeats=30)

    with django_assert_num_queries(4):
        nobody.get("/metrics", **HERE)


def test_the_paths_of_visitors_are_no_labels(nobody):
    nobody.get("/nobody-knows-this-path", HTTP_HOST="proofroom.localhost:8000")

    from prometheus_client import generate_latest

    from proofroom.metrics import own

    assert b"nobody-knows" not in generate_latest(own)


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_ran_out_is_counted_once(tmp_path):
    from datetime import timedelta

    from django.utils import timezone

    from runs import engine

    before = liveness.counts().get(liveness.LEASE_EXPIRIES, 0)
    trial = make.run(max_rounds=1).trials.get()
    gone = timezone.now() - timedelta(minutes=1)
    Trial.objects.filter(pk=trial.pk).update(claimed_by="elsewhere|x|1|1|1", claimed_until=gone)

    assert engine.advance(trial.pk, toolbox=make.toolbox(tmp_path), worker="w")

    assert liveness.counts()[liveness.LEASE_EXPIRIES] == before + 1
    assert json.dumps(dict(liveness.counts()))
