"""A clock that is set an hour forward or back lets nobody work twice on a trial, and strands none."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from benchmark.rules.vocabulary import RunState
from runs import engine, workers
from runs.adapters.scripted import ScriptedAgent, ScriptedJudge
from runs.models import Trial, Verdict
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)
LEASE = timedelta(seconds=30)
A_BEAT = 1.8


class SetClock:
    """The clock of the database, which somebody sets."""

    def __init__(self) -> None:
        self.off = timedelta()

    def __call__(self) -> datetime:
        return timezone.now() + self.off


class Meddler(ScriptedJudge):
    """A judge during whose work something happens once, before its second verdict is given."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__()
        self.act = act

    def judge(self, criteria, *, on_start):
        for verdict in super().judge(criteria, on_start=on_start):
            if len(self.asked) == 2:
                self.act()
            yield verdict


def two_criteria():
    run = make.run(make.benchmark(make.task("t1", make.criterion("c0"), make.criterion("c1"))), max_rounds=1)
    return run, run.trials.get()


@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forward", "back"])
def test_a_trial_at_work_stays_with_its_worker_when_the_clock_is_set(tmp_path, jump):
    run, trial = two_criteria()
    clock = SetClock()
    others: list[object] = []

    def set_it() -> None:
        clock.off = jump
        time.sleep(A_BEAT)
        others.append(trial.claim(worker="other", now=clock(), lease=LEASE))
        others.append([found.pk for found in workers.open_trials(now=clock(), at_most=5)])
        trial.refresh_from_db()
        assert trial.claimed_until is not None
        assert abs(trial.claimed_until - clock() - LEASE) < timedelta(seconds=15)

    judge = Meddler(set_it)
    engine.advance(trial.pk, toolbox=make.toolbox(tmp_path, judge=judge), worker="w", clock=clock)

    run.refresh_from_db()
    assert others == [False, []]
    assert run.state == RunState.FINISHED
    assert sorted(judge.asked) == ["c0", "c1"]
    assert Verdict.objects.count() == 2


def test_who_claims_in_the_second_of_a_jump_goes_on_alone_and_no_verdict_is_given_twice(tmp_path):
    run, trial = two_criteria()
    clock = SetClock()
    taken: list[bool] = []

    def set_it_and_take() -> None:
        clock.off = HOUR
        taken.append(trial.claim(worker="other", now=clock(), lease=LEASE))

    first, second = Meddler(set_it_and_take), ScriptedJudge()
    engine.advance(trial.pk, toolbox=make.toolbox(tmp_path, judge=first), worker="w", clock=clock)
    kept = set(Verdict.objects.values_list("pk", flat=True))
    trial.release(worker="other")
    engine.advance(trial.pk, toolbox=make.toolbox(tmp_path, judge=second), worker="other", clock=clock)

    run.refresh_from_db()
    assert taken == [True]
    assert len(kept) == 1
    assert kept < set(Verdict.objects.values_list("pk", flat=True))
    assert run.state == RunState.FINISHED
    assert Verdict.objects.count() == 2
    assert second.asked == ["c1"]


def test_the_claim_of_one_that_died_before_the_clock_was_set_back_strands_nothing():
    _run, trial = two_criteria()
    clock = SetClock()
    clock.off = HOUR
    assert trial.claim(worker="dead on another machine", now=clock(), lease=LEASE)

    clock.off = timedelta()

    assert [found.pk for found in workers.open_trials(now=clock(), at_most=5)] == [trial.pk]
    assert trial.claim(worker="next", now=clock(), lease=LEASE)
    assert not trial.claim(worker="third", now=clock(), lease=LEASE)


def test_a_trial_that_was_put_off_before_the_clock_was_set_back_is_tried_again_soon(tmp_path):
    run, trial = two_criteria()
    clock = SetClock()
    clock.off = HOUR
    tools = make.toolbox(tmp_path, agent=ScriptedAgent(trouble=["The registry cannot be reached."]))
    engine.advance(trial.pk, toolbox=tools, worker="w", clock=clock)
    put_off = workers.open_trials(now=clock(), at_most=5)

    clock.off = timedelta()
    engine.advance(trial.pk, toolbox=tools, worker="w", clock=clock)

    run.refresh_from_db()
    assert put_off == []
    assert Trial.objects.get(pk=trial.pk).not_before is None
    assert run.state == RunState.FINISHED


def test_a_worker_whose_own_clock_is_wrong_asks_the_database(tmp_path):
    """Without a clock of its own the engine takes the one that all share."""
    _run, trial = two_criteria()
    trial.claim(worker="w", now=timezone.now(), lease=LEASE)

    assert not engine.advance(trial.pk, toolbox=make.toolbox(tmp_path), worker="other")
