"""The worked case of the paper: 16 criteria, 51 outcomes, total weight 57."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchmark.rules.records import Scores
from benchmark.rules.vocabulary import Mark
from tests.benchmark.protocols.asuka import files

WEIGHTS = (2, 3, 3, 4, 3, 5, 5, 4, 4, 3, 4, 3, 3, 4, 4, 3)
OUTCOMES = (4, 3, 3, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3)
NEEDS: dict[int, tuple[int, ...]] = {13: (0, 7), 14: (0, 7), 15: (0, 8)}
RUBRIC = Path(__file__).parents[5] / "shared" / "data" / "asuka-proj34" / "proj_34_rubric.json"


def rubric_task() -> dict[str, Any]:
    return files.task(
        "proj_34",
        *(
            files.criterion(
                f"c{number}",
                weight=weight,
                outcomes=outcomes,
                needs=tuple(f"c{need}" for need in NEEDS.get(number, (0,) if number else ())),
                kind="presence" if number == 0 else "robustness" if number > 12 else "functionality",
            )
            for number, (weight, outcomes) in enumerate(zip(WEIGHTS, OUTCOMES, strict=True))
        ),
    )


def judged(*, fallback: str = "P", threshold: float = 0.5, mode: str = "dag", **given: str) -> Scores:
    letters = {f"c{number}": fallback * count for number, count in enumerate(OUTCOMES)} | given
    return files.scores(
        [rubric_task()], [files.round_("proj_34", 1, repeat=1, **letters)], threshold=threshold, mode=mode
    )


def fifty_sevenths(scores: Scores, name: str) -> Fraction:
    value = scores.metrics[name].value
    assert value is not None
    return Fraction(value).limit_denominator(57)


def test_the_published_rubric_has_the_structure_that_these_tests_use():
    if not RUBRIC.exists():
        pytest.skip("the published rubric is not beside this repository (../shared)")
    published = json.loads(RUBRIC.read_text(encoding="utf-8"))["tasks"]

    assert tuple(each["weight"] for each in published) == WEIGHTS
    assert tuple(len(each["criteria"]) for each in published) == OUTCOMES
    assert [tuple(each["prerequisites"]) for each in published] == [
        NEEDS.get(number, (0,) if number else ()) for number in range(16)
    ]
    ours = [each["kind"] for each in rubric_task()["criteria"]]
    assert [each["type"].lower() for each in published] == ours


def test_the_rubric_weighs_57_and_expects_51_outcomes():
    assert sum(WEIGHTS) == 57
    assert sum(OUTCOMES) == 51


def test_everything_passing_is_57_of_57():
    scores = judged()

    assert scores.metrics["task_pass_rate"].value == 1
    assert scores.metrics["criteria_pass_rate"].value == 1
    assert scores.metrics["project_completion_rate"].value == 1
    assert scores.metrics["implemented_rate"].value == 1
    assert (scores.errors, scores.skipped) == (0, 0)


def test_only_the_layout_passing_is_2_of_57_with_46_executed():
    scores = judged(fallback="F", c0="PPPP")

    # #13 and #14 wait for #7, #15 for #8: 57 - (4 + 4 + 3) = 46 are executed.
    assert fifty_sevenths(scores, "task_pass_rate") == Fraction(2, 57)
    assert fifty_sevenths(scores, "implemented_rate") == Fraction(46, 57)
    assert scores.skipped == 3


def test_the_composite_score_failing_whole_skips_two_criteria():
    scores = judged(c7="FFF")

    # Executed 57 - 4 - 4 = 49; of these #7 (4) fails, so 45 pass.
    assert fifty_sevenths(scores, "implemented_rate") == Fraction(49, 57)
    assert fifty_sevenths(scores, "task_pass_rate") == Fraction(45, 57)
    assert scores.criteria["proj_34"]["c13"] is Mark.SKIPPED
    assert scores.criteria["proj_34"]["c14"] is Mark.SKIPPED
    assert scores.criteria["proj_34"]["c15"] is Mark.PASS


def test_two_of_three_outcomes_of_the_composite_score_satisfy_half_but_not_all():
    at_half = judged(c7="PPF")
    strict = judged(c7="PPF", threshold=1)

    # 2/3 >= 0.5: only #7 itself fails, 57 - 4 = 53 pass. 2/3 < 1: #13 and #14 are skipped as well.
    assert fifty_sevenths(at_half, "task_pass_rate") == Fraction(53, 57)
    assert fifty_sevenths(at_half, "implemented_rate") == Fraction(57, 57)
    assert fifty_sevenths(strict, "task_pass_rate") == Fraction(45, 57)
    assert fifty_sevenths(strict, "implemented_rate") == Fraction(49, 57)


def test_a_failed_outcome_costs_its_share_of_the_criteria_pass_rate():
    scores = judged(c7="PPF")

    # #7 weighs 4 and loses a third of it: (57 - 4/3) / 57 = 167/171.
    assert scores.metrics["criteria_pass_rate"].value == pytest.approx(167 / 171)


def test_the_gap_of_a_flat_evaluation_is_what_skipping_would_hide():
    scores = judged(c7="PPF", mode="flat")

    # Flat 53/57; at T = 0.5 nothing is skipped, at T = 1 #13 and #14 (8) are: 45/57.
    assert scores.metrics["dag_gap"].value == 0
    assert scores.metrics["dag_gap_strict"].value == pytest.approx(8 / 57)


def test_kinds_are_weighted_among_themselves():
    scores = judged(c7="FFF")

    # Presence 2/2. Functionality 44 - 4 of 44. Robustness: only #15 (3) of 11 passes.
    assert scores.metrics["task_pass_rate_presence"].value == 1
    assert scores.metrics["task_pass_rate_functionality"].value == pytest.approx(40 / 44)
    assert scores.metrics["task_pass_rate_robustness"].value == pytest.approx(3 / 11)
