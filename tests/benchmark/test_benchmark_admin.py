"""A curator's day in the admin: find, follow links, change what no run used, and be told what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from benchmark.importing import import_path
from benchmark.models import Benchmark, Criterion, ExpectedOutcome, Prerequisite, Task
from tests import make, packs

pytestmark = pytest.mark.django_db


@pytest.fixture
def curator(settings, tmp_path_factory) -> Client:
    settings.STATIC_ROOT = tmp_path_factory.mktemp("static")
    client = Client(headers={"host": settings.SITE_HOST, "origin": settings.PUBLIC_URL})
    user = get_user_model().objects.create(username="curator", is_staff=True, is_superuser=True)
    client.force_login(user)
    return client


@pytest.fixture
def benchmark(tmp_path) -> Benchmark:
    return import_path(packs.folder(tmp_path / "pack")).benchmark


def url(row: Any, page: str = "change") -> str:
    return reverse(f"admin:benchmark_{row._meta.model_name}_{page}", args=[row.pk] if page != "add" else [])


def criterion_form(criterion: Criterion, **changed: str) -> dict[str, str]:
    """What the browser posts for a criterion that is left as it is, with some fields changed."""
    outcomes, edges = list(criterion.outcomes.all()), list(criterion.prerequisites.all())
    form = {
        "position": str(criterion.position),
        "key": criterion.key,
        "title": criterion.title,
        "kind": criterion.kind,
        "weight": str(criterion.weight),
        "before": json.dumps(criterion.before),
        "tags": json.dumps(criterion.tags),
        "outcomes-TOTAL_FORMS": str(len(outcomes)),
        "outcomes-INITIAL_FORMS": str(len(outcomes)),
        "prerequisites-TOTAL_FORMS": str(len(edges)),
        "prerequisites-INITIAL_FORMS": str(len(edges)),
    }
    for number, outcome in enumerate(outcomes):
        form[f"outcomes-{number}-id"] = str(outcome.pk)
        form[f"outcomes-{number}-criterion"] = str(criterion.pk)
        form[f"outcomes-{number}-text"] = outcome.text
        form[f"outcomes-{number}-script"] = "" if outcome.script is None else json.dumps(outcome.script)
    for number, edge in enumerate(edges):
        form[f"prerequisites-{number}-id"] = str(edge.pk)
        form[f"prerequisites-{number}-criterion"] = str(criterion.pk)
        form[f"prerequisites-{number}-needs"] = str(edge.needs_id)
    return form | changed


MODELS = (
    "benchmark",
    "task",
    "criterion",
    "expectedoutcome",
    "prerequisite",
    "taskfile",
    "recordedworkspace",
)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("is_used", [False, True])
def test_every_table_has_a_list_that_is_searched_and_a_page_for_each_row(curator, benchmark, model, is_used):
    if is_used:
        make.run(benchmark)
    listed = reverse(f"admin:benchmark_{model}_changelist")
    row = next(iter(_model(model).objects.all()))

    assert curator.get(listed).status_code == 200
    assert curator.get(listed, {"q": "shop"}).status_code == 200
    assert curator.get(url(row)).status_code == 200


def _model(name: str) -> Any:
    from django.apps import apps

    return apps.get_model("benchmark", name)


def test_a_benchmark_links_to_its_tasks_and_they_to_their_criteria(curator, benchmark):
    other = make.benchmark()
    task, criterion = benchmark.tasks.get(), Criterion.objects.get(task__benchmark=benchmark, key="c1")

    page = curator.get(url(benchmark)).text
    tasks = f"{reverse('admin:benchmark_task_changelist')}?benchmark__id__exact={benchmark.pk}"
    criteria = f"{reverse('admin:benchmark_criterion_changelist')}?task__id__exact={task.pk}"
    outcomes = f"{reverse('admin:benchmark_expectedoutcome_changelist')}?criterion__id__exact={criterion.pk}"

    assert tasks in page
    assert criteria in curator.get(tasks).text
    assert other.tasks.get().title not in curator.get(tasks).text
    assert outcomes in curator.get(criteria).text
    assert "A total." in curator.get(outcomes).text
    assert url(benchmark) in curator.get(url(task)).text


def test_lists_take_few_queries_however_many_rows(curator, benchmark, django_assert_max_num_queries):
    make.benchmark(*(make.task(f"t{n}", *(make.criterion(f"c{m}") for m in range(5))) for n in range(10)))

    for model in ("benchmark", "task", "criterion", "expectedoutcome"):
        with django_assert_max_num_queries(14):
            curator.get(reverse(f"admin:benchmark_{model}_changelist"))


def test_a_changed_criterion_changes_the_content_hash(curator, benchmark):
    criterion = Criterion.objects.get(key="c0")

    answer = curator.post(url(criterion), criterion_form(criterion, weight="5"))

    assert answer.status_code == 302, answer.text
    changed = Benchmark.objects.get()
    assert changed.tasks.get().spec().criteria[0].weight == 5
    assert changed.content_hash != benchmark.content_hash


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"weight": "7"}, "The weight is 7; it is a whole number from 1 to 5."),
        ({"kind": "beauty"}, "The kind is &#x27;beauty&#x27;; protocol asuka knows presence"),
        ({"key": "c 1"}, "The key is &#x27;c 1&#x27;; it takes letters"),
        ({"before": '[{"clik": "a"}]'}, "before, step 1: unknown action"),
        ({"tags": '"one"'}, "Tags are a list of texts"),
        ({"outcomes-0-script": '[{"clik": "a"}]'}, "outcome 1, step 1: unknown action"),
        ({"outcomes-0-script": "[{"}, "Enter a valid JSON."),
        ({"outcomes-0-DELETE": "on", "outcomes-1-DELETE": "on"}, "A criterion expects at least one outcome; keep one or add one."),
    ],
)  # fmt: skip
def test_what_an_import_would_refuse_is_refused_with_a_sentence(curator, benchmark, changed, expected):
    criterion = Criterion.objects.get(key="c1")

    answer = curator.post(url(criterion), criterion_form(criterion, **changed))

    assert answer.status_code == 200
    assert expected in answer.text
    assert Benchmark.objects.get().content_hash == benchmark.content_hash


def test_a_cycle_is_refused_when_a_prerequisite_is_added(curator, benchmark):
    first, second = Criterion.objects.order_by("key")
    form = criterion_form(
        first,
        **{
            "prerequisites-TOTAL_FORMS": "1",
            "prerequisites-0-criterion": str(first.pk),
            "prerequisites-0-needs": str(second.pk),
        },
    )

    answer = curator.post(url(first), form)

    assert answer.status_code == 200
    assert "which needs c1" in answer.text
    assert "a cycle; take one of them out." in answer.text
    assert Prerequisite.objects.count() == 1


def test_outcomes_are_added_removed_and_numbered_without_a_hole(curator, benchmark):
    criterion = Criterion.objects.get(key="c1")
    form = criterion_form(
        criterion,
        **{
            "outcomes-TOTAL_FORMS": "3",
            "outcomes-0-DELETE": "on",
            "outcomes-2-criterion": str(criterion.pk),
            "outcomes-2-text": "A new one.",
            "outcomes-2-script": '[{"expect_visible": "body"}]',
        },
    )

    answer = curator.post(url(criterion), form)

    assert answer.status_code == 302, answer.text
    rows = [(row.index, row.text) for row in criterion.outcomes.all()]
    assert rows == [(0, "No error."), (1, "A new one.")]


def test_a_criterion_and_a_task_can_be_added(curator, benchmark):
    task_form = {"benchmark": benchmark.pk, "position": 1, "key": "bank", "title": "Bank", "request": " Build. ",
                 "prd": "", "deploy": '{"kind": "static"}', "facts": ""}  # fmt: skip
    assert curator.get(reverse("admin:benchmark_task_add")).status_code == 200
    assert curator.post(reverse("admin:benchmark_task_add"), task_form).status_code == 302
    task = Task.objects.get(key="bank")
    form = {
        "task": task.pk, "position": 0, "key": "c0", "title": "", "kind": "presence", "weight": 1, "before": "", "tags": "",
        "outcomes-TOTAL_FORMS": 1, "outcomes-INITIAL_FORMS": 0, "outcomes-0-text": "A vault.", "outcomes-0-script": "",
        "prerequisites-TOTAL_FORMS": 0, "prerequisites-INITIAL_FORMS": 0,
    }  # fmt: skip

    assert curator.get(reverse("admin:benchmark_criterion_add"), {"task": task.pk}).status_code == 200
    homeless = curator.post(reverse("admin:benchmark_criterion_add"), form | {"task": ""})
    answer = curator.post(reverse("admin:benchmark_criterion_add"), form)

    assert homeless.status_code == 200
    assert answer.status_code == 302, answer.text
    spec = Task.objects.get(key="bank").spec()
    assert (spec.request, spec.criteria[0].outcomes[0].text) == ("Build.", "A vault.")
    assert Task.objects.get(key="bank").content_hash


def test_a_bad_setting_of_a_benchmark_is_refused_with_a_sentence(curator, benchmark):
    form = {"title": "Mini", "description": "", "licence": "", "settings": '{"threshold": 3}'}

    refused = curator.post(url(benchmark), form)
    taken = curator.post(url(benchmark), form | {"settings": '{"threshold": 1}'})

    assert "takes a number from 0 to 1" in refused.text
    assert taken.status_code == 302
    assert Benchmark.objects.get().settings == {"threshold": 1.0}


def test_nothing_can_be_changed_once_a_run_rests_on_it(curator, benchmark):
    make.run(benchmark)
    criterion, task = Criterion.objects.get(key="c0"), Task.objects.get()

    page = curator.get(url(criterion)).text
    posted = [
        curator.post(url(criterion), criterion_form(criterion, weight="5")),
        curator.post(url(task), {"key": "bank"}),
        curator.post(url(benchmark), {"title": "Other"}),
        *(curator.post(url(row, "delete"), {"post": "yes"}) for row in (criterion, task, benchmark)),
    ]

    assert "Runs rest on mini v1" in page
    assert 'name="_save"' not in page
    assert [answer.status_code for answer in posted] == [403] * 6
    assert Benchmark.objects.get().content_hash == benchmark.content_hash
    assert (Criterion.objects.count(), ExpectedOutcome.objects.count()) == (2, 3)


def test_a_used_benchmark_is_copied_as_a_new_version_that_can_be_changed(curator, benchmark):
    make.run(benchmark)
    listed = reverse("admin:benchmark_benchmark_changelist")

    answer = curator.post(
        listed, {"action": "copy_as_new_version", "_selected_action": [benchmark.pk]}, follow=True
    )

    copy = Benchmark.objects.get(version="2")
    assert f'<a href="{url(copy)}">version 2</a>' in answer.text
    criterion = Criterion.objects.get(task__benchmark=copy, key="c0")
    assert curator.post(url(criterion), criterion_form(criterion, weight="5")).status_code == 302
    assert Criterion.objects.get(task__benchmark=benchmark, key="c0").weight == 2


def test_a_criterion_of_an_unused_benchmark_is_deleted_with_its_edges(curator, benchmark):
    criterion = Criterion.objects.get(key="c0")

    answer = curator.post(url(criterion, "delete"), {"post": "yes"})

    assert answer.status_code == 302
    assert [row.key for row in Criterion.objects.all()] == ["c1"]
    assert Task.objects.get().spec().criteria[0].needs == ()
    assert Benchmark.objects.get().content_hash != benchmark.content_hash
