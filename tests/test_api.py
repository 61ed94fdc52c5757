"""The programming interface: who may ask, what is answered, how lists are paged and what it costs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmark.rules.vocabulary import Mark
from proofroom.api import api
from runs.models import Evidence, Run, Trial
from tests import campaigns, make
from tests.runs import judged

pytestmark = pytest.mark.django_db

HOST = settings.SITE_HOST
PATHS = {
    ("get", "/api/v1/benchmarks"),
    ("get", "/api/v1/benchmarks/{benchmark_id}"),
    ("get", "/api/v1/benchmarks/{benchmark_id}/tasks/{key}"),
    ("get", "/api/v1/runs"),
    ("post", "/api/v1/runs"),
    ("get", "/api/v1/runs/{run_id}"),
    ("get", "/api/v1/runs/{run_id}/scores"),
    ("post", "/api/v1/runs/{run_id}/cancel"),
    ("post", "/api/v1/runs/{run_id}/retry"),
    ("get", "/api/v1/runs/{run_id}/marks"),
    ("get", "/api/v1/evidence/{evidence_id}"),
    ("get", "/api/v1/evidence/{evidence_id}/content"),
    ("get", "/api/v1/me"),
    ("post", "/api/v1/campaigns/{campaign_id}/take"),
    ("get", "/api/v1/campaigns/{campaign_id}/agreement"),
    ("get", "/api/v1/assignments/{assignment_id}"),
    ("get", "/api/v1/assignments/{assignment_id}/changes"),
    ("post", "/api/v1/assignments/{assignment_id}/operations"),
    ("post", "/api/v1/assignments/{assignment_id}/presence"),
    ("post", "/api/v1/assignments/{assignment_id}/submit"),
    ("post", "/api/v1/assignments/{assignment_id}/reopen"),
    ("post", "/api/v1/assignments/{assignment_id}/reveal"),
    ("get", "/api/v1/assignments/{assignment_id}/comments"),
    ("post", "/api/v1/assignments/{assignment_id}/comments"),
    ("post", "/api/v1/assignments/{assignment_id}/pictures"),
    ("delete", "/api/v1/pictures/{picture_id}"),
    ("post", "/api/v1/pictures/{picture_id}/restore"),
}


def visitor(**flags: bool) -> Client:
    """A browser's session of a new account; without flags a plain one."""
    number = get_user_model().objects.count()
    user = get_user_model().objects.create(username=f"user-{number}", **flags)
    client = Client(headers={"host": HOST})
    client.force_login(user)
    return client


@pytest.fixture
def plain() -> Client:
    return visitor()


@pytest.fixture
def lead() -> Client:
    """A lead who may not start programs of this machine."""
    client = Client(headers={"host": HOST})
    client.force_login(campaigns.lead())
    return client


@pytest.fixture
def staff() -> Client:
    return visitor(is_staff=True)


def post(client: Client, path: str, body: Any = None, **headers: str) -> Any:
    return client.post(path, data=json.dumps(body or {}), content_type="application/json", headers=headers)


def test_without_a_session_every_operation_answers_401_as_json():
    anonymous = Client(headers={"host": HOST})
    run = judged.finished_run()
    evidence = Evidence.objects.earliest("pk")
    names = {"benchmark_id": run.benchmark_id, "key": "t1", "run_id": run.pk, "evidence_id": evidence.pk}
    names |= {"assignment_id": 1, "picture_id": 1, "campaign_id": 1}

    for method, path in sorted(PATHS):
        answer = getattr(anonymous, method)(path.format(**names))
        assert (answer.status_code, answer["Content-Type"]) == (401, "application/json; charset=utf-8"), path
        assert "detail" in answer.json()


def test_a_write_without_the_csrf_token_is_refused_as_json_and_changes_nothing():
    run = make.run()
    user = get_user_model().objects.create(username="somebody")
    strict = Client(headers={"host": HOST}, enforce_csrf_checks=True)
    strict.force_login(user)

    answer = post(strict, f"/api/v1/runs/{run.pk}/cancel")

    assert answer.status_code == 403
    assert "detail" in answer.json()
    run.refresh_from_db()
    assert run.state == "queued"


@pytest.mark.parametrize("relation", ["cross-site", "same-site"])
def test_a_write_from_another_sites_page_is_refused_as_json(plain, relation):
    run = make.run()

    answer = post(plain, f"/api/v1/runs/{run.pk}/cancel", **{"sec-fetch-site": relation})

    assert answer.status_code == 403
    assert answer.json()["detail"].startswith("This request came from another site's page")
    run.refresh_from_db()
    assert run.state == "queued"


@pytest.mark.parametrize(
    "path",
    [
        *("runs/77", "runs/77/marks", "runs/77/scores", "benchmarks/77", "benchmarks/77/tasks/t1"),
        *("evidence/77", "evidence/77/content", "nothing/at/all"),
        f"runs/{'9' * 30}",
        f"evidence/{'9' * 30}/content",
    ],
)
def test_what_is_not_there_is_404_as_json(plain, path):
    answer = plain.get(f"/api/v1/{path}")

    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("application/json")
    assert answer.json()["detail"]


def test_a_benchmark_and_its_tasks_are_answered_without_scripts(plain):
    task = make.task("t1", make.criterion("c0", weight=3), make.criterion("c1", needs=["c0"], script=None))
    benchmark = make.benchmark(task)

    listed = plain.get("/api/v1/benchmarks").json()["items"]
    one = plain.get(f"/api/v1/benchmarks/{benchmark.pk}").json()
    detail = plain.get(f"/api/v1/benchmarks/{benchmark.pk}/tasks/t1")

    assert [item["key"] for item in listed] == [benchmark.key]
    assert [item["key"] for item in one["tasks"]] == ["t1"]
    first, second = detail.json()["criteria"]
    assert (first["weight"], second["needs"]) == (3, ["c0"])
    assert first["outcomes"] == [{"index": 0, "text": "c0 does thing 0", "has_script": True}]
    assert second["outcomes"][0]["has_script"] is False
    assert b"expect_visible" not in detail.content


def test_a_run_is_launched_read_cancelled_and_retried(staff):
    benchmark = make.benchmark()
    wanted = {
        "benchmark": benchmark.key,
        "agent": "command",
        "agent_settings": {"command": "true"},
        "settings": {"threshold": 1, "max_rounds": 2},
        "name": "nul\0 and 🚀" + "x" * 300,
    }

    made = post(staff, "/api/v1/runs", wanted)

    assert made.status_code == 201, made.content
    run = made.json()["run"]
    assert Run.objects.get(pk=run).name.startswith("nul and 🚀x")
    assert staff.get(f"/api/v1/runs/{run}").json()["settings"]["threshold"] == 1.0
    assert post(staff, f"/api/v1/runs/{run}/cancel").json() == {
        "run": run,
        "state": "cancelled",
        "cancelled": True,
    }
    assert post(staff, f"/api/v1/runs/{run}/retry").json() == {"run": run, "state": "queued", "trials": 1}


def test_an_agent_that_starts_programs_takes_a_staff_account(lead):
    wanted = {
        "benchmark": make.benchmark().key,
        "agent": "command",
        "agent_settings": {"command": "touch /tmp/x"},
    }

    answer = post(lead, "/api/v1/runs", wanted)

    assert answer.status_code == 422
    assert "takes a staff account" in answer.json()["problems"]["agent"]
    assert not Run.objects.exists()


@pytest.mark.parametrize("candidate", ["/etc", "~", "~root", "~nobody-here", "a\0b", "x" * 5000])
def test_a_lead_without_staff_account_cannot_name_a_folder_of_this_machine(lead, candidate):
    answer = post(
        lead,
        "/api/v1/runs",
        {"benchmark": make.benchmark().key, "agent_settings": {"candidate": candidate}},
    )

    assert answer.status_code == 422
    assert "no recorded candidate" in answer.json()["problems"]["agent_settings"]


def test_a_name_that_no_database_takes_is_kept_as_far_as_it_can_be(staff):
    benchmark = make.benchmark(make.task("t1"))
    body = {"benchmark": str(benchmark.pk), "agent": "command", "agent_settings": {"command": "true"}}

    answer = staff.post(
        "/api/v1/runs", json.dumps(body | {"name": "a\0b\ud800c"}), content_type="application/json"
    )

    assert answer.status_code == 201, answer.content
    assert Run.objects.get().name == "ab?c"


def test_a_bad_launch_names_every_field_at_fault(staff):
    answer = post(
        staff,
        "/api/v1/runs",
        {
            "benchmark": make.benchmark(make.task("t1")).key,
            "agent": "nobody",
            "settings": {"threshold": 7},
            "tasks": ["t9"],
            "repeats": 0,
        },
    )

    assert answer.status_code == 422
    assert set(answer.json()["problems"]) == {"agent", "settings", "tasks", "repeats"}
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"x"', b'{"benchmark": 7}', b'{"benchmark": "x", "settings": {"a": [1]}}', b"\xff"],
)
def test_a_body_that_cannot_be_read_is_refused_as_json(staff, body):
    answer = staff.post("/api/v1/runs", data=body, content_type="application/json")

    assert answer.status_code in {400, 422}
    assert answer.json()["detail"]


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "before=x", "state=lost"])
def test_a_bad_query_is_422_as_json(plain, query):
    assert plain.get(f"/api/v1/runs?{query}").status_code == 422


def test_numbers_larger_than_any_key_find_nothing_and_break_nothing(plain):
    make.run()
    huge = 10**30

    assert len(plain.get(f"/api/v1/runs?before={huge}").json()["items"]) == 1
    assert plain.get(f"/api/v1/benchmarks?after={huge}").json() == {"items": [], "next": None}
    run = Run.objects.get()
    assert plain.get(f"/api/v1/runs/{run.pk}/marks?after={huge}").json() == {"items": [], "next": None}


def test_runs_are_paged_by_key_without_gap_or_overlap_while_new_ones_come(plain):
    benchmark = make.benchmark()
    made = [make.run(benchmark).pk for _ in range(5)]

    first = plain.get("/api/v1/runs?limit=2").json()
    make.run(benchmark)
    second = plain.get(f"/api/v1/runs?limit=2&before={first['next']}").json()
    third = plain.get(f"/api/v1/runs?limit=2&before={second['next']}").json()

    seen = [item["run"] for page in (first, second, third) for item in page["items"]]
    assert seen == made[::-1]
    assert third["next"] is None


def test_runs_are_narrowed_by_state_and_benchmark(plain):
    first, second = make.run(), judged.finished_run()

    by_state = plain.get("/api/v1/runs?state=finished").json()["items"]
    by_benchmark = plain.get(f"/api/v1/runs?benchmark={first.benchmark.key}").json()["items"]

    assert [item["run"] for item in by_state] == [second.pk]
    assert [item["run"] for item in by_benchmark] == [first.pk]


def test_marks_are_paged_and_say_what_shows_them(plain):
    task = make.task("t1", make.criterion("c0", outcomes=3))
    run = judged.finished_run(make.benchmark(task), rounds=[{"c0": (Mark.PASS, Mark.FAIL, Mark.ERROR)}])

    first = plain.get(f"/api/v1/runs/{run.pk}/marks?limit=2").json()
    second = plain.get(f"/api/v1/runs/{run.pk}/marks?limit=2&after={first['next']}").json()

    marks = first["items"] + second["items"]
    assert [(mark["criterion"], mark["outcome"], mark["mark"]) for mark in marks] == [
        ("c0", 0, "pass"),
        ("c0", 1, "fail"),
        ("c0", 2, "error"),
    ]
    assert second["next"] is None
    (piece,) = marks[0]["evidence"]
    assert piece == plain.get(f"/api/v1/evidence/{piece['id']}").json()
    assert piece["content"] == f"/api/v1/evidence/{piece['id']}/content"


def test_the_bytes_of_evidence_are_always_a_download(plain):
    run = judged.finished_run()
    evidence = Evidence.objects.get()
    assert run.pk
    Evidence.objects.update(media_type="text/html", name='a"b;\r\nX: y.html')

    answer = plain.get(f"/api/v1/evidence/{evidence.pk}/content")

    content = b"".join(answer) if answer.streaming else answer.content
    assert answer.status_code == 200
    assert content == judged.SCREENSHOT
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"].startswith("attachment")
    assert "X" not in answer.headers
    assert "\n" not in answer["Content-Disposition"]


def test_scores_are_those_of_the_report(plain):
    run = judged.finished_run(rounds=[{"c0": (Mark.FAIL,)}, {}])

    scores = plain.get(f"/api/v1/runs/{run.pk}/scores").json()

    assert scores["metrics"]["task_pass_rate"]["value"] == 1
    assert [at["task_pass_rate"]["value"] for at in scores["per_round"]] == [0, 1]
    assert scores["criteria"] == {"t1": {"c0": "pass"}}


@pytest.mark.parametrize("path", ["", "/marks?limit=1000", "/scores"])
def test_a_hundred_verdicts_cost_as_many_queries_as_ten(plain, path):
    counts = []
    for outcomes in (10, 100):
        run = judged.finished_run(make.benchmark(make.task("t1", make.criterion("c0", outcomes=outcomes))))
        with CaptureQueriesContext(connection) as queries:
            answer = plain.get(f"/api/v1/runs/{run.pk}{path}")
        assert answer.status_code == 200
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 14


def test_a_list_of_fifty_runs_costs_as_many_queries_as_one_of_two(plain):
    counts = []
    for amount in (2, 48):
        for _ in range(amount):
            make.run()
        with CaptureQueriesContext(connection) as queries:
            plain.get("/api/v1/runs?limit=200")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 6


def test_a_task_with_many_criteria_costs_as_many_queries_as_a_small_one(plain):
    counts = []
    for size in (2, 40):
        criteria = [make.criterion(f"c{n}", needs=[f"c{n - 1}"] if n else []) for n in range(size)]
        benchmark = make.benchmark(make.task("t1", *criteria))
        with CaptureQueriesContext(connection) as queries:
            plain.get(f"/api/v1/benchmarks/{benchmark.pk}/tasks/t1")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 9


def test_the_openapi_document_describes_every_operation(plain):
    document = plain.get("/api/v1/openapi.json").json()

    assert document["openapi"].startswith("3.")
    operations = {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert set(operations) == PATHS
    for place, operation in operations.items():
        assert operation.get("description"), place
        assert operation["responses"], place
    identifiers = [operation["operationId"] for operation in operations.values()]
    assert len(identifiers) == len(set(identifiers))
    assert _dangling(document) == set()
    assert document == json.loads(json.dumps(api.get_openapi_schema()))


def test_the_page_of_the_description_is_made_of_files_of_this_site(plain):
    page = plain.get("/api/v1/docs").content.decode()

    scripts = re.findall(r'<script src="([^"]+)"', page)
    assert scripts
    for address in [*scripts, *re.findall(r'<link [^>]*href="([^"]+)"', page)]:
        assert address.startswith("/static/ninja/"), address
        assert finders.find(address.removeprefix("/static/")), address


def _dangling(document: dict[str, Any]) -> set[str]:
    """References of an OpenAPI document that lead nowhere."""
    wanted: set[str] = set()

    def walk(node: object) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                wanted.add(node["$ref"])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(document)
    schemas = document.get("components", {}).get("schemas", {})
    return {ref for ref in wanted if ref.removeprefix("#/components/schemas/") not in schemas}


def test_a_retry_of_what_is_at_work_changes_nothing(lead):
    run = make.run()
    Trial.objects.update(state="running", claimed_by="somebody")

    answer = post(lead, f"/api/v1/runs/{run.pk}/retry").json()

    assert answer["trials"] == 0
    assert Trial.objects.get().claimed_by == "somebody"
