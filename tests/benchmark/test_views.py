"""Pages of what is measured, as the server answers them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmark.models import Benchmark, TaskFile
from tests.browser import stage_set

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(settings) -> Client:
    client = Client(headers={"host": settings.SITE_HOST})
    client.force_login(User.objects.create_user("lead", password="x"))
    return client


def _queries(person: Client, path: str) -> int:
    person.get(path)
    with CaptureQueriesContext(connection) as seen:
        answer = person.get(path)
    assert answer.status_code == 200, path
    return len(seen)


def test_a_benchmark_asks_as_often_for_nine_tasks_as_for_two(person):
    few = stage_set.benchmark("few", tasks=("a", "b"))
    many = stage_set.benchmark("many", tasks=tuple("abcdefghi"))

    counted = [_queries(person, shown.get_absolute_url()) for shown in (few, many)]

    assert counted[0] == counted[1] <= 18


def test_a_task_with_five_thousand_criteria_is_shown_page_by_page(person):
    rubric = [(f"c{n}", f"Criterion {n}", "presence", 1, (), 1) for n in range(5000)]
    large = stage_set.benchmark("large", tasks=("big",), rubric=rubric)

    page = person.get(f"{large.get_absolute_url()}tasks/big/").content.decode()
    asked = person.get(f"{large.get_absolute_url()}tasks/big/?criterion=c4999").content.decode()

    assert page.count('class="rubric__row"') == 60
    assert "5,000 criteria" in page
    assert 'id="c-c4999"' in asked


def test_a_task_file_is_served_as_plain_text_and_nothing_can_run(person):
    shown = stage_set.benchmark("files", tasks=("a",))
    file = TaskFile.objects.get(task__benchmark=shown)

    answer = person.get(f"{shown.get_absolute_url()}files/{file.pk}/")

    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert b"".join(answer).startswith(b"name,month")


def test_a_lost_file_is_gone_with_its_hash_not_a_fault(person):
    shown = stage_set.benchmark("lost", tasks=("a",))
    TaskFile.objects.filter(task__benchmark=shown).update(digest="ab" * 32)
    file = TaskFile.objects.get(task__benchmark=shown)

    answer = person.get(f"{shown.get_absolute_url()}files/{file.pk}/")

    assert answer.status_code == 410
    assert "abababab" in answer.content.decode()


def test_an_empty_bench_says_which_command_brings_a_benchmark(person):
    Benchmark.objects.all().delete()

    assert "proofroom import PATH" in person.get("/benchmarks/").content.decode()
