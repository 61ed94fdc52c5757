"""How many queries reading, telling and advancing cost: never more for a larger run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmark.rules.vocabulary import Mark
from runs import engine, history, scoring
from runs.models import Run
from runs.reporting.reading import report_tables, scored
from runs.summaries import run_document
from runs.waiting import progress
from tests import make
from tests.runs import judged

FAIL = (Mark.FAIL,)


def small() -> Run:
    task = make.task("t1", make.criterion("c0"), make.criterion("c1", needs=["c0"]))
    return judged.finished_run(make.benchmark(task), rounds=[{"c1": FAIL}, {}])


def large() -> Run:
    criteria = [
        make.criterion(f"c{number}", needs=[f"c{number - 1}"] if number else [], outcomes=4)
        for number in range(12)
    ]
    tasks = [make.task(f"t{number}", *criteria) for number in range(5)]
    return judged.finished_run(make.benchmark(*tasks), rounds=[{"c11": FAIL * 4}, {}, {}], repeats=2)


def queries_of(act: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as queries:
        act()
    return len(queries)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("read", "at_most"),
    [
        (history.trial_records, 8),
        (history.scores, 8),
        (run_document, 4),
        (progress, 3),
        (lambda run: report_tables([scored(run)]), 12),
    ],
    ids=["trial_records", "scores", "run_document", "progress", "report"],
)
def test_a_hundredfold_run_costs_as_many_queries_as_a_small_one(read, at_most):
    runs = [Run.objects.select_related("benchmark").get(pk=made.pk) for made in (small(), large())]

    counts = [queries_of(partial(read, run)) for run in runs]

    assert counts[0] == counts[1] <= at_most


@pytest.mark.django_db
def test_the_record_of_one_trial_costs_the_same_whatever_its_size():
    trials = [made.trials.order_by("pk")[0] for made in (small(), large())]

    counts = [queries_of(partial(history.trial_record, trial)) for trial in trials]

    assert counts[0] == counts[1] <= 12


@pytest.mark.django_db
def test_storing_numbers_costs_a_few_queries_and_a_write_for_each_five_hundred():
    counts = [queries_of(partial(scoring.store, run)) for run in (small(), large())]

    assert counts[0] <= 16
    assert counts[1] <= counts[0] + 2


@pytest.mark.django_db(transaction=True)
def test_advancing_costs_a_bounded_number_of_queries_a_step_and_a_criterion(tmp_path):
    counts = {}
    for size in (1, 11):
        criteria = [make.criterion(f"c{number}") for number in range(size)]
        run = make.run(make.benchmark(make.task("t1", *criteria)), max_rounds=1)
        trial, tools = run.trials.get(), make.toolbox(tmp_path)
        counts[size] = queries_of(partial(engine.advance, trial.pk, toolbox=tools, worker="a"))
        run.refresh_from_db()
        assert run.state == "finished"

    # Measured: 231 for five stages with one criterion, among them every BEGIN, COMMIT and SAVEPOINT;
    # each further criterion adds a transaction with the claim, a verdict and two events.
    assert counts[1] <= 250
    assert (counts[11] - counts[1]) / 10 <= 10
