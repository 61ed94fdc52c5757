"""Labels go where they lower the variance of the judge's error rate most."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.agreement.label_next import Stratum, label_next
from annotation.agreement.planner import PlanError


@st.composite
def strata(draw):
    found = []
    for name in range(draw(st.integers(1, 6))):
        outcomes = draw(st.integers(0, 60))
        labelled = draw(st.integers(0, outcomes))
        found.append(
            Stratum(
                name=str(name), outcomes=outcomes, labelled=labelled, wrong=draw(st.integers(0, labelled))
            )
        )
    return found


def variance(stratum: Stratum, more: int) -> float:
    rate = (stratum.wrong + 1) / (stratum.labelled + 2)
    return stratum.outcomes**2 * rate * (1 - rate) / (stratum.labelled + more)


@given(strata(), st.integers(0, 200))
@settings(max_examples=200, deadline=None)
def test_the_budget_is_used_and_no_stratum_gives_more_than_it_has(found, budget):
    chosen = label_next(found, budget=budget)

    room = sum(stratum.outcomes - stratum.labelled for stratum in found)
    assert sum(chosen.values()) == min(budget, room)
    assert all(0 <= chosen[each.name] <= each.outcomes - each.labelled for each in found)


def test_no_other_way_to_spend_the_budget_has_a_lower_variance_than_ours():
    found = [
        Stratum(name="pass", outcomes=300, labelled=20, wrong=1),
        Stratum(name="fail", outcomes=80, labelled=10, wrong=4),
        Stratum(name="partial", outcomes=40, labelled=5, wrong=2),
    ]

    chosen = label_next(found, budget=30)

    ours = sum(variance(each, chosen[each.name]) for each in found)
    best = min(
        sum(variance(each, more) for each, more in zip(found, split, strict=True))
        for split in product(range(31), repeat=3)
        if sum(split) == 30
    )
    assert ours == pytest.approx(best, rel=1e-3)


def test_equal_knowledge_is_shared_out_by_size_and_spread():
    # 100 sqrt(0.5 * 0.5) to 300 sqrt(0.1 * 0.9) is 50 to 90.
    found = [
        Stratum(name="unsure", outcomes=100, labelled=8, wrong=4),
        Stratum(name="sure", outcomes=300, labelled=8, wrong=0),
    ]

    assert label_next(found, budget=124) == {"unsure": 42, "sure": 82}


def test_a_stratum_of_which_nothing_is_known_is_served_first():
    found = [
        Stratum(name="known", outcomes=1000, labelled=50, wrong=25),
        Stratum(name="new", outcomes=10),
    ]

    assert label_next(found, budget=2) == {"known": 0, "new": 2}


def test_a_large_number_of_strata_is_no_matter():
    rng = np.random.default_rng(3)
    found = [Stratum(name=str(each), outcomes=int(rng.integers(1, 500))) for each in range(2000)]

    assert sum(label_next(found, budget=50_000).values()) == 50_000


def test_wrong_strata_and_budgets_are_refused():
    with pytest.raises(PlanError, match="each must hold the one before"):
        Stratum(name="odd", outcomes=3, labelled=4)
    with pytest.raises(PlanError, match="a name of its own"):
        label_next([Stratum(name="a", outcomes=1), Stratum(name="a", outcomes=2)], budget=1)
    with pytest.raises(PlanError, match="at least 0"):
        label_next([], budget=-1)
