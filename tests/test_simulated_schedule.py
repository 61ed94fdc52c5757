"""The model of a schedule that the simulator lays beside the real engine, by sums made by hand."""

from __future__ import annotations

from performance.simulator_world import Durations, Phase, Shape, ideal, phase, scheduled, world


def one(agent: float, judge: float) -> list[Phase]:
    return [Phase(agent=agent, deploy=0.0, judge=judge)]


def test_one_worker_takes_all_work_and_nobody_waits_for_a_browser():
    trials = [[one(10, 5), one(20, 5)]]

    outcome = scheduled(trials, workers=1, browsers=1)

    assert outcome.makespan == 40 == ideal(trials, workers=1, browsers=1)
    assert outcome.worker_waits == [0, 15]
    assert outcome.browser_waits == [0, 0]


def test_one_browser_for_two_workers_makes_the_second_judge_wait():
    trials = [[one(10, 30), one(10, 30)]]

    outcome = scheduled(trials, workers=2, browsers=1)

    # Both agents end after 10 s; the second judge begins after 40 s.
    assert outcome.makespan == 70
    assert outcome.browser_waits == [0, 30]
    assert ideal(trials, workers=2, browsers=1) == 60


def test_a_free_worker_goes_to_the_configuration_with_the_fewest_at_work():
    trials = [[one(10, 1), one(10, 1)], [one(50, 1)]]

    outcome = scheduled(trials, workers=2, browsers=2)

    # The second worker takes the other configuration's long trial at once, and not the first one's second.
    assert outcome.makespan == 51
    assert outcome.worker_waits == [0, 0, 11]


def test_more_workers_than_trials_end_with_the_longest_trial():
    trials = [[one(10, 1), one(30, 2)]]

    assert scheduled(trials, workers=500, browsers=500).makespan == 32
    assert ideal(trials, workers=500, browsers=500) == 32


def test_the_same_seed_draws_the_same_world_in_whatever_order():
    durations = Durations(seed=3)
    drawn = world(Shape(configurations=2, tasks=2, rounds=2), durations)

    assert phase(durations, configuration=1, task=0, number=2) == drawn[1][0][1]
    assert world(Shape(configurations=2, tasks=2, rounds=2), Durations(seed=4)) != drawn
