"""The launch form: with and without JavaScript, its warnings, its refusals and what it starts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from benchmark.models import Benchmark
from runs.models import Run
from tests.browser import stage_set
from tests.browser.looks import faults, overflow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def benchmark(transactional_db) -> Benchmark:
    # The last outcome of each task has no script.
    return stage_set.benchmark(rubric=stage_set.RUBRIC[:4])


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_form_has_no_serious_fault_and_fits_the_window(benchmark, open_page, width, scheme):
    page = open_page("/runs/launch/", width=width, scheme=scheme)

    assert faults(page) == []
    assert overflow(page) == 0


@pytest.mark.parametrize("script", [True, False])
def test_a_run_is_launched_with_the_tasks_that_are_ticked(benchmark, open_page, script):
    page = open_page(f"/runs/launch/?benchmark={benchmark.pk}", script=script)

    page.get_by_label("score-atlas").uncheck()
    page.get_by_label("Name", exact=True).fill("first look")
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url("**/runs/*/")

    run = Run.objects.get()
    assert page.url.endswith(f"/runs/{run.pk}/")
    assert (run.name, run.code_agent_label) == ("first look", "fieldbook")
    assert [trial.task.key for trial in run.trials.select_related("task")] == ["seed-library", "corner-shop"]


def test_warnings_and_the_amount_of_work_follow_the_choices(benchmark, open_page):
    page = open_page(f"/runs/launch/?benchmark={benchmark.pk}")

    expect(page.get_by_text("3 expected outcomes have no script")).to_be_visible()
    expect(page.get_by_text("9 rounds at most")).to_be_visible()
    page.get_by_label("score-atlas").uncheck()

    page.get_by_text("2 expected outcomes have no script").wait_for()
    expect(page.get_by_text("2 trials, at most 3 rounds each: 6 rounds at most.")).to_be_visible()


def test_another_agent_brings_its_own_settings(benchmark, open_page):
    page = open_page(f"/runs/launch/?benchmark={benchmark.pk}")

    page.get_by_text("Run a command line").click()

    page.get_by_label("Command", exact=True).wait_for()
    expect(page.get_by_label("Wall clock")).to_have_attribute("max", "604800")
    expect(page.get_by_label("Candidate")).to_have_count(0)


def test_a_bad_value_is_refused_under_its_field_and_nothing_is_launched(benchmark, open_page):
    page = open_page(f"/runs/launch/?benchmark={benchmark.pk}")
    page.locator("form.launch").evaluate("form => { form.noValidate = true }")

    page.get_by_label("Threshold").fill("7")
    page.get_by_role("button", name="Launch", exact=True).click()

    page.get_by_text("Nothing was launched.").wait_for()
    expect(page.get_by_label("Threshold")).to_have_attribute("aria-invalid", "true")
    assert page.locator(".field__problem").inner_text() == (
        "Setting 'threshold' is '7'; it takes a number from 0 to 1."
    )
    assert not Run.objects.exists()


def test_no_task_is_a_sentence_beside_the_tasks(benchmark, open_page):
    page = open_page(f"/runs/launch/?benchmark={benchmark.pk}")

    page.get_by_role("button", name="None").click()
    page.get_by_text("0 of 3 tasks").wait_for()
    page.get_by_role("button", name="Launch", exact=True).click()

    page.get_by_text("No task was chosen; choose one at least.").first.wait_for()
    assert not Run.objects.exists()


def test_what_is_typed_while_the_form_is_fetched_anew_is_not_lost(benchmark, open_page):
    page = open_page(f"/runs/launch/?benchmark={benchmark.pk}")
    name = page.get_by_label("Name", exact=True)

    with page.expect_response(lambda answer: answer.request.method == "POST"):
        with page.expect_request(lambda request: request.method == "POST"):
            page.get_by_label("score-atlas").uncheck()
        name.press_sequentially("typed meanwhile")
    page.wait_for_timeout(300)

    expect(name).to_have_value("typed meanwhile")
    expect(page.get_by_label("score-atlas")).not_to_be_checked()
