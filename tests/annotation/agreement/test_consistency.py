"""Published figures are checked against every table of counts that could have given them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.agreement.consistency import Examination, Figure, Printed, PublishedError, examine
from annotation.agreement.table_runs import shares_of


def examined(n: int, **figures: str) -> Examination:
    return examine({Figure(name): Printed.parse(text) for name, text in figures.items()}, n=n)


def asuka() -> Examination:
    # Asuka-Bench, section 5, RQ3.
    return examined(3576, accuracy="93.35", precision="97.37", recall="95.68", f1="96.52")


def test_no_table_has_the_figures_published_for_asuka():
    found = asuka()

    assert found.consistent is None
    assert found.sentence().startswith("No table of 3,576 outcomes has accuracy 93.35%")


def test_the_tables_nearest_to_asuka_show_what_its_accuracy_hides():
    found = asuka().nearest

    assert found is not None
    assert found.n_tables == len(found.tables) == 17
    assert found.deviation <= 0.00011
    assert found.kappa is not None
    assert (round(found.kappa.low, 2), round(found.kappa.high, 2)) == (0.17, 0.25)
    assert (round(found.always_pass.low, 3), round(found.always_pass.high, 3)) == (0.962, 0.967)
    assert found.specificity is not None
    assert found.specificity.high < 0.35
    # 42 of 131 failures were seen: accuracy (3296 + 42) / 3576.
    assert found.tables[0].tolist() == [3296, 89, 149, 42]


def test_a_judge_that_always_says_pass_beats_the_accuracy_published_for_asuka():
    found = asuka()

    assert found.always_pass_wins is True
    assert "kappa 0.17 to 0.25" in found.sentence()
    assert "96.2 to 96.7% for a judge that always says pass" in found.sentence()
    assert "(17 tables, each figure within 0.011 points)" in found.sentence()


def test_figures_of_a_real_table_lead_back_to_it():
    # The oracles' 40, 6, 9, 45.
    found = examined(100, accuracy="85.00", precision="86.96", recall="81.63", f1="84.21")

    assert found.consistent is not None
    assert found.consistent.tables.tolist() == [[40, 6, 9, 45]]
    assert found.nearest is None
    assert found.consistent.kappa is not None
    assert found.consistent.kappa.low == pytest.approx(0.6995192307692307)
    assert found.sentence().startswith("1 table of 100 outcomes has ")


def every_table(n: int):
    tables = np.array(
        [(a, b, c, n - a - b - c) for a, b, c in product(range(n + 1), repeat=3) if a + b + c <= n]
    )
    return tables, shares_of(tables.T)


SMALL = {n: every_table(n) for n in (1, 7, 16)}


@given(
    st.sampled_from(sorted(SMALL)),
    st.dictionaries(st.sampled_from(list(Figure)), st.integers(0, 20), min_size=1),
)
@settings(max_examples=200, deadline=None)
def test_runs_find_exactly_the_tables_that_trying_all_of_them_finds(n, twentieths):
    printed = {figure: Printed(share=each / 20, half_unit=0.025) for figure, each in twentieths.items()}
    given_enough = Figure.ACCURACY in printed or Figure.F1 in printed or len(printed) == 2
    if not given_enough:
        with pytest.raises(PublishedError, match="Too little is printed"):
            examine(printed, n=n)
        return
    tables, shares = SMALL[n]
    fits = np.all(
        [np.abs(shares[name] - each.share) <= 0.025 + 1e-9 for name, each in printed.items()], axis=0
    )

    found = examine(printed, n=n).consistent

    if not fits.any():
        assert found is None
        return
    assert found is not None
    assert sorted(found.tables.tolist()) == sorted(tables[fits].tolist())
    assert found.n_tables == fits.sum()
    for span, name in (
        (found.kappa, "kappa"),
        (found.specificity, "specificity"),
        (found.always_pass, "always_pass"),
    ):
        values = shares[name][fits]
        values = values[~np.isnan(values)]
        if span is None:
            assert not values.size
        else:
            assert (span.low, span.high) == pytest.approx((values.min(), values.max()))


@given(st.lists(st.integers(0, 300), min_size=4, max_size=4).filter(lambda counts: min(counts) > 0))
@settings(max_examples=100, deadline=None)
def test_every_table_is_consistent_with_its_own_rounded_figures(counts):
    shares = {name: float(each[0]) for name, each in shares_of(np.array([counts]).T).items()}
    printed = {figure.value: f"{100 * shares[figure]:.2f}%" for figure in Figure}

    found = examined(sum(counts), **printed).consistent

    assert found is not None
    assert counts in found.tables.tolist()


def test_a_tolerance_widens_every_figure():
    printed = {
        Figure.ACCURACY: Printed.parse("93.35"),
        Figure.PRECISION: Printed.parse("97.37"),
        Figure.RECALL: Printed.parse("95.68"),
        Figure.F1: Printed.parse("96.52"),
    }

    found = examine(printed, n=3576, tolerance=0.0001)

    assert found.consistent is not None
    assert found.consistent.n_tables > 17


def test_accuracy_and_f1_alone_leave_many_tables_and_a_wide_kappa():
    found = examined(100_000, accuracy="93.35", f1="96.52").consistent

    assert found is not None
    assert found.n_tables > 10_000_000
    assert len(found.tables) == 1000
    assert found.kappa is not None
    assert found.kappa.high - found.kappa.low > 0.05


def test_figures_that_exclude_each_other_have_no_table_at_all():
    found = examined(1000, accuracy="50.00", f1="99.00")

    assert found.consistent is found.nearest is None
    assert found.always_pass_wins is None
    assert "exclude each other" in found.sentence()


@pytest.mark.parametrize(
    ("text", "share", "half_unit"),
    [
        ("93.35", 0.9335, 0.00005),
        (" 93.35 % ", 0.9335, 0.00005),
        ("0.9335", 0.9335, 0.00005),
        ("93", 0.93, 0.005),
        ("0.5%", 0.005, 0.0005),
        ("100", 1.0, 0.005),
        ("1.00", 1.0, 0.005),
        ("1", 1.0, 0.005),
        ("0", 0.0, 0.005),
    ],
)
def test_a_printed_figure_knows_its_rounding(text, share, half_unit):
    found = Printed.parse(text)

    assert (found.share, found.half_unit) == pytest.approx((share, half_unit))


@pytest.mark.parametrize("text", ["", "high", "-1", "101", "nan", "inf"])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(PublishedError, match="is no share"):
        Printed.parse(text)


@pytest.mark.parametrize("n", [0, 100_001])
def test_tables_of_too_few_or_too_many_outcomes_are_refused(n):
    with pytest.raises(PublishedError, match="1 to 100,000"):
        examined(n, accuracy="90")


def test_too_many_tables_to_go_through_are_refused():
    with pytest.raises(PublishedError, match="more decimals"):
        examined(100_000, precision="97", recall="90")
