"""What holds for all marks, and a second computation that must agree on every number."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import pairwise
from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.protocols.scorefile import score_document
from tests.benchmark.protocols.asuka import naive
from tests.benchmark.protocols.asuka.strategies import documents, unhurried

CUMULATIVE = ("task_pass_rate", "criteria_pass_rate", "project_completion_rate", "implemented_rate")


def scored(document):
    return score_document(document, protocol="asuka")


@settings(unhurried, max_examples=150)
@given(documents())
def test_a_second_naive_computation_gives_every_number_of_every_round(document):
    expected = naive.metrics(document)
    found = scored(document).per_round

    assert len(found) == len(expected)
    for at, by_hand in zip(found, expected, strict=True):
        assert at.metrics.keys() == by_hand.keys()
        for name, pair in by_hand.items():
            estimate = at.metrics[name]
            if pair is None:
                assert estimate.value is None, name
                continue
            assert estimate.value == pytest.approx(pair[0], abs=1e-12), name
            assert estimate.half_width == (None if pair[1] is None else pytest.approx(pair[1], abs=1e-7)), (
                name
            )


@unhurried
@given(documents())
def test_rates_lie_between_0_and_1_and_strict_is_at_most_graded(document):
    found = scored(document)

    for metrics in (found.metrics, *found.per_task.values(), *(at.metrics for at in found.per_round)):
        for suffix in ("", "_state", "_judged"):
            strict = metrics.get(f"task_pass_rate{suffix}")
            graded = metrics.get(f"criteria_pass_rate{suffix}")
            complete = metrics.get(f"project_completion_rate{suffix}")
            implemented = metrics.get(f"implemented_rate{suffix}")
            if strict is None or strict.value is None:
                continue
            assert 0 <= complete.value <= strict.value <= graded.value <= implemented.value <= 1


@unhurried
@given(documents(mode="flat"))
def test_skipping_never_raises_a_raw_figure_on_the_same_marks(document):
    flat = scored(document)
    dag = scored(document | {"settings": document["settings"] | {"mode": "dag"}})

    for without, skipping in zip(flat.per_round, dag.per_round, strict=True):
        for name in CUMULATIVE:
            for suffix in ("", "_state"):
                assert (
                    skipping.metrics[name + suffix].value <= without.metrics[name + suffix].value + 1e-12
                ), name


@unhurried
@given(documents(mode="flat"))
def test_gap_is_never_negative_and_is_the_difference_to_a_dag_evaluation_of_the_same_marks(document):
    flat = scored(document)
    dag = scored(document | {"settings": document["settings"] | {"mode": "dag"}})

    gap = flat.metrics["dag_gap"].value
    assert gap >= 0
    assert flat.metrics["dag_gap_strict"].value >= gap - 1e-12
    difference = flat.metrics["task_pass_rate"].value - dag.metrics["task_pass_rate"].value
    assert gap == pytest.approx(difference, abs=1e-12)


@unhurried
@given(documents(mode="dag"), st.sampled_from([0, 0.25, 0.5, 0.75, 1]))
def test_a_stricter_threshold_never_raises_a_raw_figure(document, threshold):
    looser = scored(document | {"settings": {"mode": "dag", "threshold": 0}})
    stricter = scored(document | {"settings": {"mode": "dag", "threshold": threshold}})

    for name in CUMULATIVE:
        assert stricter.metrics[name].value <= looser.metrics[name].value + 1e-12


@unhurried
@given(documents())
def test_cumulative_figures_never_fall_from_round_to_round(document):
    for before, after in pairwise(scored(document).per_round):
        for name in CUMULATIVE:
            assert before.metrics[name].value <= after.metrics[name].value + 1e-12


@unhurried
@given(documents())
def test_state_never_exceeds_cumulative_and_raw_never_exceeds_judged_for_a_task(document):
    found = scored(document)

    for metrics in found.per_task.values():
        for name in CUMULATIVE:
            assert metrics[f"{name}_state"].value <= metrics[name].value + 1e-12
            if f"{name}_judged" in metrics:
                assert metrics[name].value <= metrics[f"{name}_judged"].value + 1e-12


@unhurried
@given(documents(words=("pass", "fail")))
def test_without_errors_raw_and_judged_figures_are_the_same_for_a_task_that_has_rounds(document):
    found = scored(document)

    assert found.errors == 0
    if found.infrastructure_failures:
        return
    for name in CUMULATIVE:
        assert found.metrics[name] == found.metrics[f"{name}_judged"]


@unhurried
@given(documents(), st.randoms(use_true_random=False))
def test_order_of_criteria_tasks_and_rounds_is_irrelevant(document, random):
    shuffled = deepcopy(document)
    random.shuffle(shuffled["tasks"])
    random.shuffle(shuffled["rounds"])
    for task in shuffled["tasks"]:
        random.shuffle(task["criteria"])

    before, after = scored(document).as_json(), scored(shuffled).as_json()
    for name, estimate in before["metrics"].items():
        assert after["metrics"][name]["value"] == pytest.approx(estimate["value"], abs=1e-12)
    assert after["criteria"] == before["criteria"]
    assert after["per_task"].keys() == before["per_task"].keys()
    assert [after[name] for name in ("errors", "skipped")] == [before[name] for name in ("errors", "skipped")]


@unhurried
@given(documents())
def test_scores_are_json_without_nan_and_every_undefined_number_has_its_reason(document):
    printed = scored(document).as_json()

    json.dumps(printed, allow_nan=False)
    for metric in printed["metrics"].values():
        if metric["value"] is None:
            assert set(metric) == {"value", "reason"}
            assert metric["reason"].endswith(".")
        else:
            assert set(metric) - {"denominator"} == {"value", "half_width", "n"}


@unhurried
@given(documents())
def test_numbers_of_errors_and_skips_are_those_of_the_marks_shown(document):
    found = scored(document)
    shown = [mark.value for marks in found.criteria.values() for mark in marks.values()]

    assert found.errors == shown.count("error")
    assert found.skipped == shown.count("skipped")


def test_a_rubric_of_5000_criteria_is_scored_in_seconds():
    random = Random(5000)
    criteria = [
        {
            "key": f"c{number}",
            "kind": random.choice(naive.KINDS),
            "weight": random.randint(1, 5),
            # A chain as long as the rubric, which no recursion survives, and a second prerequisite.
            "needs": sorted({f"c{number - 1}", f"c{random.randrange(number)}"}) if number else [],
            "outcomes": 3,
        }
        for number in range(5000)
    ]
    rounds = [
        {
            "task": "t",
            "round": number,
            "marks": {c["key"]: ["pass", "pass", random.choice(["pass", "fail"])] for c in criteria},
        }
        for number in (1, 2, 3)
    ]
    document = {
        "protocol": "asuka",
        "settings": {"mode": "flat"},
        "tasks": [{"key": "t", "criteria": criteria}],
        "rounds": rounds,
    }
    begin = process_time()

    found = scored(document)

    assert found.metrics["dag_gap"].value == 0
    assert found.metrics["dag_gap_strict"].value > 0.5
    # One or two seconds here; the bound only catches what grows with the square.
    assert process_time() - begin < 30
