"""The engine: what is claimed, repeated, recorded and left alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from benchmark.rules.vocabulary import ExitReason, Mark, RunState, StageName, TrialState
from runs import engine, history, launching
from runs.adapters.scripted import ScriptedAgent, ScriptedDeployer, ScriptedJudge
from runs.models import (
    Deployment,
    Judging,
    MetricValue,
    Round,
    Run,
    RunEvent,
    StageRecord,
    Trial,
    Verdict,
)
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)

FAIL, PASS, ERROR = (Mark.FAIL,), (Mark.PASS,), (Mark.ERROR,)


def advance(run: Run, tools, worker: str = "worker-a") -> None:
    for trial in run.trials.all():
        engine.advance(trial.pk, toolbox=tools, worker=worker)
    run.refresh_from_db()


def marks(run: Run, round_number: int = 1) -> dict[str, tuple[Mark, ...]]:
    return dict(history.marks_by_round(run.trials.get())[round_number])


def test_a_trial_goes_through_its_rounds_until_every_criterion_passes(tmp_path):
    run = make.run(make.benchmark(make.task("t1", make.criterion("c0"), make.criterion("c1"))))
    judge = ScriptedJudge(plans=[{"c1": FAIL}, {}])

    advance(run, make.toolbox(tmp_path, judge=judge))

    first, second = run.trials.get().rounds.all()
    assert run.state == RunState.FINISHED
    assert first.request == "Please build t1."
    assert first.feedback == "Please mend c1"
    assert second.request == first.feedback
    assert first.exit_reason == ExitReason.FINISHED
    assert marks(run, 1) == {"c0": PASS, "c1": FAIL}
    assert marks(run, 2) == {"c0": PASS, "c1": PASS}


def test_a_trial_stops_at_the_last_round_even_where_something_fails(tmp_path):
    run = make.run(max_rounds=2)
    judge = ScriptedJudge(plans=[{"c0": FAIL}])

    advance(run, make.toolbox(tmp_path, judge=judge))

    assert run.trials.get().rounds.count() == 2
    assert run.state == RunState.FINISHED


def test_what_is_behind_an_unsatisfied_prerequisite_is_skipped_without_asking_the_judge(tmp_path):
    task = make.task(
        "t1",
        make.criterion("c0"),
        make.criterion("c1", needs=["c0"], outcomes=2),
        make.criterion("c2", needs=["c1"]),
    )
    run = make.run(make.benchmark(task), max_rounds=1)
    judge = ScriptedJudge(plans=[{"c0": FAIL}])

    advance(run, make.toolbox(tmp_path, judge=judge))

    assert judge.asked == ["c0"]
    assert marks(run) == {
        "c0": FAIL,
        "c1": (Mark.SKIPPED, Mark.SKIPPED),
        "c2": (Mark.SKIPPED,),
    }
    skipped = Verdict.objects.filter(outcome__criterion__key="c2").get()
    assert skipped.reason == "needs:c1"
    assert skipped.rationale == "Skipped, because c1 is not satisfied."


def test_a_prerequisite_at_half_its_outcomes_is_satisfied_at_the_default_threshold(tmp_path):
    task = make.task("t1", make.criterion("c0", outcomes=2), make.criterion("c1", needs=["c0"]))
    judge = ScriptedJudge(plans=[{"c0": (Mark.PASS, Mark.FAIL)}])
    lenient = make.run(make.benchmark(task), max_rounds=1)
    strict = make.run(make.benchmark(task), max_rounds=1, threshold=1.0)

    advance(lenient, make.toolbox(tmp_path, judge=judge))
    advance(strict, make.toolbox(tmp_path, judge=judge))

    assert marks(lenient)["c1"] == PASS
    assert marks(strict)["c1"] == (Mark.SKIPPED,)


def test_what_needs_an_errored_criterion_is_error_and_never_fail(tmp_path):
    task = make.task("t1", make.criterion("c0"), make.criterion("c1", needs=["c0"]))
    run = make.run(make.benchmark(task), max_rounds=1)
    judge = ScriptedJudge(plans=[{"c0": ERROR}])

    advance(run, make.toolbox(tmp_path, judge=judge))

    assert marks(run) == {"c0": ERROR, "c1": ERROR}
    assert Verdict.objects.get(outcome__criterion__key="c1").reason == "parent"


def test_a_candidate_that_never_starts_fails_with_its_reason_and_no_judge_is_asked(tmp_path):
    task = make.task("t1", make.criterion("c0"), make.criterion("c1", needs=["c0"]))
    run = make.run(make.benchmark(task), max_rounds=1)
    judge = ScriptedJudge()
    tools = make.toolbox(tmp_path, judge=judge, deployer=ScriptedDeployer(broken="it listened on no port."))

    advance(run, tools)

    assert run.state == RunState.FINISHED
    assert judge.asked == []
    assert marks(run) == {"c0": FAIL, "c1": (Mark.SKIPPED,)}
    verdict = Verdict.objects.get(outcome__criterion__key="c0")
    assert verdict.rationale == "The application did not start: it listened on no port."
    assert not Deployment.objects.filter(is_healthy=True).exists()


def test_interrupted_judging_resumes_without_asking_twice(tmp_path):
    task = make.task("t1", *(make.criterion(f"c{number}") for number in range(5)))
    run = make.run(make.benchmark(task), max_rounds=1)
    judge = ScriptedJudge(dies_after=3)
    tools = make.toolbox(tmp_path, judge=judge)
    with pytest.raises(RuntimeError):
        advance(run, tools)
    Trial.objects.update(not_before=None)
    judge.dies_after = None

    advance(run, tools, worker="worker-b")

    assert run.state == RunState.FINISHED
    assert sorted(judge.asked) == ["c0", "c1", "c2", "c3", "c4"]
    assert Verdict.objects.count() == 5


def test_trouble_of_the_bench_is_tried_again_and_then_pauses_the_trial(tmp_path):
    run = make.run()
    agent = ScriptedAgent(trouble=["The registry cannot be reached."] * 3)
    tools = make.toolbox(tmp_path, agent=agent)
    trial = run.trials.get()

    states = []
    for _ in range(3):
        Trial.objects.update(not_before=None)
        engine.advance(trial.pk, toolbox=tools, worker="worker-a")
        trial.refresh_from_db()
        states.append(trial.state)

    run.refresh_from_db()
    assert states == [TrialState.QUEUED, TrialState.QUEUED, TrialState.PAUSED]
    assert trial.trouble == "The registry cannot be reached."
    assert run.state == RunState.PAUSED
    assert not Verdict.objects.exists()


def test_a_paused_run_goes_on_after_a_retry(tmp_path):
    run = make.run()
    tools = make.toolbox(tmp_path, agent=ScriptedAgent(trouble=["No disk space."] * 3))
    for _ in range(3):
        Trial.objects.update(not_before=None)
        advance(run, tools)

    concerned = launching.retry(run)
    advance(run, tools)

    assert concerned == 1
    assert run.state == RunState.FINISHED


def test_a_claimed_trial_is_not_taken_by_a_second_worker(tmp_path):
    run = make.run()
    trial = run.trials.get()
    now = timezone.now()

    assert trial.claim(worker="a", now=now, lease=timedelta(seconds=30))
    assert not trial.claim(worker="b", now=now, lease=timedelta(seconds=30))
    assert not engine.advance(trial.pk, toolbox=make.toolbox(tmp_path), worker="b")
    assert trial.claim(worker="b", now=now + timedelta(seconds=31), lease=timedelta(seconds=30))


def test_a_worker_that_lost_its_claim_saves_nothing_more(tmp_path):
    run = make.run(make.benchmark(make.task("t1", make.criterion("c0"), make.criterion("c1"))))
    trial = run.trials.get()

    class Thief(ScriptedJudge):
        def judge(self, criteria, *, on_start):
            for verdict in super().judge(criteria, on_start=on_start):
                yield verdict
                Trial.objects.filter(pk=trial.pk).update(claimed_by="somebody else")

    engine.advance(trial.pk, toolbox=make.toolbox(tmp_path, judge=Thief()), worker="worker-a")

    trial.refresh_from_db()
    assert Verdict.objects.count() == 1
    assert trial.claimed_by == "somebody else"


def test_cancelling_keeps_what_is_recorded_and_a_retry_continues_from_there(tmp_path):
    run = make.run(make.benchmark(make.task("t1", make.criterion("c0"), make.criterion("c1"))), max_rounds=1)

    class Canceller(ScriptedJudge):
        def judge(self, criteria, *, on_start):
            for verdict in super().judge(criteria, on_start=on_start):
                yield verdict
                launching.cancel(Run.objects.get(pk=run.pk))

    advance(run, make.toolbox(tmp_path, judge=Canceller()))
    assert (run.state, Verdict.objects.count()) == (RunState.CANCELLED, 1)

    launching.retry(run)
    judge = ScriptedJudge()
    advance(run, make.toolbox(tmp_path, judge=judge))

    assert run.state == RunState.FINISHED
    assert judge.asked == ["c1"]
    assert Verdict.objects.count() == 2


def test_a_retry_right_after_a_cancel_takes_the_trial_away_from_the_worker_that_still_judges(tmp_path):
    task = make.task("t1", make.criterion("c0"), make.criterion("c1"), make.criterion("c2"))
    run = make.run(make.benchmark(task), max_rounds=1)

    class Hasty(ScriptedJudge):
        def judge(self, criteria, *, on_start):
            for verdict in super().judge(criteria, on_start=on_start):
                yield verdict
                launching.cancel(Run.objects.get(pk=run.pk))
                launching.retry(run)

    advance(run, make.toolbox(tmp_path, judge=Hasty(plans=[{"c0": ERROR}])))

    # The error was set aside, so the worker that had given it may not go on and leave a hole.
    trial = run.trials.get()
    assert trial.state == TrialState.QUEUED
    assert Verdict.objects.count() == 0
    assert not trial.claim(worker="next", now=timezone.now(), lease=timedelta(seconds=30))

    Trial.objects.update(claimed_until=None)
    advance(run, make.toolbox(tmp_path, judge=ScriptedJudge()))
    assert run.state == RunState.FINISHED
    assert marks(run) == {"c0": PASS, "c1": PASS, "c2": PASS}


def test_a_retry_judges_errors_again_and_remembers_them_and_leaves_marks_alone(tmp_path):
    task = make.task(
        "t1",
        make.criterion("c0", outcomes=2),
        make.criterion("c1"),
        make.criterion("c2", needs=["c0"]),
    )
    run = make.run(make.benchmark(task), max_rounds=1)
    judge = ScriptedJudge(plans=[{"c0": (Mark.PASS, Mark.ERROR)}, {"c0": (Mark.FAIL, Mark.PASS)}])
    tools = make.toolbox(tmp_path, judge=judge)
    advance(run, tools)
    assert marks(run)["c2"] == ERROR

    concerned = launching.retry(run)
    advance(run, tools)

    # The outcome that had passed keeps its mark although the judge would now say fail.
    assert concerned == 1
    assert marks(run) == {"c0": (Mark.PASS, Mark.PASS), "c1": PASS, "c2": PASS}
    assert judge.asked.count("c1") == 1
    verdict = Verdict.objects.get(outcome__criterion__key="c0", outcome__index=1)
    assert verdict.attempt == 2
    assert [entry["reason"] for entry in verdict.earlier] == ["planned"]
    assert run.state == RunState.FINISHED


def test_a_retry_of_a_finished_run_without_errors_changes_nothing(tmp_path):
    run = make.run()
    advance(run, make.toolbox(tmp_path))

    assert launching.retry(run) == 0
    run.refresh_from_db()
    assert run.state == RunState.FINISHED


def test_a_doubled_ring_finds_a_finished_trial_and_does_nothing(tmp_path):
    run = make.run()
    tools = make.toolbox(tmp_path)
    advance(run, tools)
    events = RunEvent.objects.count()

    assert not engine.advance(run.trials.get().pk, toolbox=tools, worker="late")
    assert RunEvent.objects.count() == events


def test_numbers_are_stored_for_the_run_each_round_and_each_task(tmp_path):
    run = make.run(
        make.benchmark(make.task("t1"), make.task("t2", make.criterion("c0"), make.criterion("c1"))),
        max_rounds=1,
    )
    judge = ScriptedJudge(plans=[{"c1": FAIL}])

    advance(run, make.toolbox(tmp_path, judge=judge))

    # t1 passes whole, t2 half of its weight: (1 + 0.5) / 2.
    stored = MetricValue.objects.get(run=run, name="task_pass_rate", task_key="", round_number=0)
    by_round = MetricValue.objects.get(run=run, name="task_pass_rate", task_key="", round_number=1)
    of_task = MetricValue.objects.get(run=run, name="task_pass_rate", task_key="t2")
    assert stored.value == pytest.approx(0.75)
    assert by_round.value == pytest.approx(0.75)
    assert of_task.value == pytest.approx(0.5)
    assert stored.n == 2


def test_the_stages_of_a_round_are_timed_and_the_round_is_closed(tmp_path):
    run = make.run(max_rounds=1)

    advance(run, make.toolbox(tmp_path))

    stages = [record.stage for record in StageRecord.objects.order_by("started_at")]
    assert stages == [
        StageName.BRIEF,
        StageName.CODE,
        StageName.DEPLOY,
        StageName.JUDGE,
        StageName.SCORE,
    ]
    assert not StageRecord.objects.filter(finished_at=None).exists()
    assert Round.objects.get().state == "closed"


def test_the_candidate_is_started_once_for_deploying_and_judging_together(tmp_path):
    run = make.run(max_rounds=1)
    deployer = ScriptedDeployer()

    advance(run, make.toolbox(tmp_path, deployer=deployer))

    assert deployer.starts == 1
    assert Judging.objects.get().is_primary


def test_nothing_of_a_round_is_left_in_the_scratch_folder(tmp_path):
    run = make.run(max_rounds=1)

    advance(run, make.toolbox(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_the_number_of_queries_for_all_trials_of_a_run_does_not_grow(tmp_path, django_assert_num_queries):
    small = make.run(make.benchmark(make.task("t1")))
    large = make.run(make.benchmark(*(make.task(f"t{number}") for number in range(8))))
    for run in (small, large):
        advance(run, make.toolbox(tmp_path))

    for run in (small, large):
        with django_assert_num_queries(8):
            history.trial_records(run)


def test_a_candidate_that_dies_is_started_again_and_what_it_spoilt_is_judged_once_more_alone(tmp_path):
    task = make.task(
        "t1",
        make.criterion("c0"),
        make.criterion("killer"),
        make.criterion("c2"),
        make.criterion("c3", needs=["c0"]),
    )
    run = make.run(make.benchmark(task), max_rounds=1)
    deployer = ScriptedDeployer()

    class Deadly(ScriptedJudge):
        def judge(self, criteria, *, on_start):
            for verdict in super().judge(criteria, on_start=on_start):
                if verdict.key == "killer":
                    deployer.lives = False
                yield verdict

    # `killer` always fails; `c2` fails beside it, because nothing answered, and passes when it is alone.
    judge = Deadly(plans=[{"killer": FAIL, "c2": FAIL}, {"killer": FAIL}])

    advance(run, make.toolbox(tmp_path, judge=judge, deployer=deployer))

    assert marks(run) == {"c0": PASS, "killer": FAIL, "c2": PASS, "c3": PASS}
    assert judge.asked.count("killer") == 2
    assert judge.asked.count("c0") == 1
    assert deployer.starts == 3


def test_a_retry_leaves_alone_what_only_waits_for_a_script(tmp_path):
    task = make.task("t1", make.criterion("c0"), make.criterion("c1", needs=["c0"]))
    run = make.run(make.benchmark(task), max_rounds=1)
    advance(run, make.toolbox(tmp_path, judge=ScriptedJudge(plans=[{"c0": ERROR}])))
    Verdict.objects.filter(outcome__criterion__key="c0").update(reason="no_script")

    assert launching.retry(run) == 0
    assert marks(run) == {"c0": ERROR, "c1": ERROR}
