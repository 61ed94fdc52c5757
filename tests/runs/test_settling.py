"""How a run ends: never without its numbers, and never with marks that rest on the machine's own fault."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from benchmark.rules.vocabulary import Mark, RunState, TrialState
from runs import engine, launching, scoring
from runs.adapters.scripted import ScriptedDeployer, ScriptedJudge
from runs.models import MetricValue, Run, Trial, Verdict
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)

FAIL = (Mark.FAIL,)
FAULT = "The machine had no memory left."


def advance(run: Run, tools) -> Trial:
    """Advance the only trial of a run once, as if nobody had to wait."""
    trial = run.trials.get()
    Trial.objects.update(not_before=None)
    engine.advance(trial.pk, toolbox=tools, worker="worker-a")
    trial.refresh_from_db()
    run.refresh_from_db()
    return trial


@pytest.fixture
def full(monkeypatch):
    """A database that takes no numbers, until the answer is called."""

    def refuse(*_words, **_more):
        raise OperationalError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(MetricValue.objects, "bulk_create", refuse)
        yield patched.undo


@pytest.mark.parametrize("where", ["after-a-round", "at-the-end"])
def test_a_run_whose_numbers_cannot_be_stored_is_not_over_and_loses_no_mark(
    tmp_path, full, monkeypatch, where
):
    run = make.run(max_rounds=1)
    tools = make.toolbox(tmp_path)
    if where == "at-the-end":
        monkeypatch.setattr(scoring, "renew", lambda _run: None)

    for _ in range(engine.MOST_ATTEMPTS):
        with pytest.raises(OperationalError):
            advance(run, tools)

    trial = run.trials.get()
    run.refresh_from_db()
    assert (run.state, trial.state) == (RunState.PAUSED, TrialState.PAUSED)
    assert "the disk is full" in trial.trouble
    full()
    assert launching.retry(run) == 1
    assert advance(run, tools).state == TrialState.FINISHED
    assert run.state == RunState.FINISHED
    assert run.metric_values.filter(name="task_pass_rate", value=1).exists()
    assert Verdict.objects.count() == 1


def test_a_cancelled_run_has_the_numbers_of_what_is_recorded(tmp_path):
    run = make.run(make.benchmark(make.task("t1"), make.task("t2")), max_rounds=1)
    engine.advance(run.trials.earliest("pk").pk, toolbox=make.toolbox(tmp_path), worker="worker-a")
    MetricValue.objects.all().delete()

    assert launching.cancel(run)

    stored = {each.name: each.value for each in run.metric_values.filter(task_key="", round_number=0)}
    assert (stored["criteria_pass_rate"], stored["criteria_pass_rate_judged"]) == (0.5, 1.0)


def test_a_run_that_cannot_store_its_numbers_can_be_cancelled(full):
    run = make.run()

    assert launching.cancel(run)

    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_numbers_of_a_running_run_are_made_anew_only_once_they_are_old(monkeypatch):
    run = make.run(repeats=100)
    made: list[Run] = []
    scoring.store(run)
    monkeypatch.setattr(scoring, "store", made.append)

    scoring.renew(run)
    assert made == []

    MetricValue.objects.update(computed_at=timezone.now() - timedelta(seconds=100 * scoring.SECONDS_A_TRIAL))
    scoring.renew(run)
    assert made == [run]


def test_numbers_from_a_clock_that_went_wrong_are_made_anew(monkeypatch):
    run = make.run()
    made: list[Run] = []
    scoring.store(run)
    monkeypatch.setattr(scoring, "store", made.append)
    MetricValue.objects.update(computed_at=timezone.now() + timedelta(days=1))

    scoring.renew(run)

    assert made == [run]


class _Deadly(ScriptedJudge):
    """A judge whose candidate dies under each criterion that does not pass."""

    deployer: ScriptedDeployer

    def judge(self, criteria, *, on_start):
        for verdict in super().judge(criteria, on_start=on_start):
            if verdict.outcomes[0].mark is not Mark.PASS:
                self.deployer.lives = False
            yield verdict


def deadly(deployer: ScriptedDeployer, *plans) -> _Deadly:
    judge = _Deadly(plans=plans)
    judge.deployer = deployer
    return judge


def test_a_candidate_that_the_machine_ended_gets_no_mark_for_it(tmp_path):
    run = make.run(max_rounds=1)
    deployer = ScriptedDeployer(fault=FAULT)
    tools = make.toolbox(tmp_path, judge=deadly(deployer, {"c0": FAIL}, {"c0": FAIL}, {}), deployer=deployer)

    first = advance(run, tools)

    assert (first.state, first.trouble) == (TrialState.QUEUED, FAULT)
    assert not Verdict.objects.exists()
    assert advance(run, tools).state == TrialState.FINISHED
    assert [verdict.mark for verdict in Verdict.objects.all()] == [Mark.PASS]


def test_a_candidate_that_ends_itself_fails_for_it(tmp_path):
    run = make.run(max_rounds=1)
    deployer = ScriptedDeployer()
    tools = make.toolbox(tmp_path, judge=deadly(deployer, {"c0": FAIL}, {"c0": FAIL}), deployer=deployer)

    assert advance(run, tools).state == TrialState.FINISHED

    assert [verdict.mark for verdict in Verdict.objects.all()] == [Mark.FAIL]
