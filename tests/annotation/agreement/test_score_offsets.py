"""Statistics of scores do not hang on where the scores lie, nor on scores that neither rater gave."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement.ratings import Ratings
from annotation.agreement.report import report
from annotation.agreement.values import Statistic, Value

FORMS = ("icc_1", "icc_c1", "icc_a1", "icc_1k", "icc_ck", "icc_ak")


def codes_of(n: int = 30, raters: int = 2) -> np.ndarray:
    random = np.random.default_rng(3)
    truth = random.integers(5, size=n)
    return np.stack([np.clip(truth + random.integers(-1, 2, size=n), 0, 4) for _ in range(raters)], axis=1)


def statistics_of_pair(codes, numbers) -> dict[str, Statistic]:
    ratings = Ratings.from_codes(codes, labels=[str(number) for number in numbers], is_numeric=True)
    return dict(report(ratings, resamples=100).pairs[0].statistics)


def value(statistic: Statistic) -> Value:
    assert isinstance(statistic, Value), statistic
    return statistic


@pytest.mark.parametrize("offset", [100_000, 1_000_000, 1_000_000_000])
@pytest.mark.parametrize("name", [*FORMS, "pearson", "ccc"])
def test_an_offset_of_all_scores_changes_nothing(offset, name):
    near, far = (
        value(statistics_of_pair(codes_of(), range(start, start + 5))[name]) for start in (1, offset + 1)
    )

    assert far.value == pytest.approx(near.value, abs=1e-9)
    assert (far.low, far.high) == pytest.approx((near.low, near.high), abs=1e-9)
    if near.analytic is not None:
        assert far.analytic is not None
        assert (far.analytic.low, far.analytic.high) == pytest.approx(
            (near.analytic.low, near.analytic.high), abs=1e-9
        )


@pytest.mark.parametrize("name", [*FORMS, "pearson", "ccc"])
def test_a_third_raters_outlier_changes_nothing_for_the_other_two(name):
    codes = codes_of(raters=3)
    with_outlier = codes.copy()
    with_outlier[0, 2] = 5

    plain = value(statistics_of_pair(codes, range(1, 6))[name])
    beside = value(statistics_of_pair(with_outlier, [*range(1, 6), 10_000_000_000])[name])

    assert beside.value == pytest.approx(plain.value, abs=1e-9)
    assert (beside.low, beside.high) == pytest.approx((plain.low, plain.high), abs=1e-9)
