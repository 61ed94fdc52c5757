"""Ratings keep their domain, their clusters, and a count of everything that is left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.agreement.ratings import Excluded, Fold, Ratings, RatingsError
from annotation.agreement.rows import Row, ratings_of


def rows(text: str) -> list[Row]:
    """`u1 judge pass proj_1 visual`, a rating a line; a dash stands for nothing."""
    found = []
    for line, words in enumerate(text.strip().splitlines(), start=2):
        unit, rater, label, *more = (None if word == "-" else word for word in words.split())
        cluster, kind = (*more, None, None)[:2]
        found.append(Row(unit or "", rater or "", label, cluster, kind, line))
    return found


def said(ratings: Ratings) -> dict[tuple[str, str], str]:
    return {
        (unit, rater): ratings.labels[code]
        for unit, codes in zip(ratings.units, ratings.codes, strict=True)
        for rater, code in zip(ratings.raters, codes, strict=True)
        if code >= 0
    }


def excluded(ratings: Ratings) -> list[tuple[str, int]]:
    return [(each.reason, each.n) for each in ratings.excluded]


def test_rows_become_a_matrix_of_codes():
    found = ratings_of(rows("u1 judge pass p1\nu2 judge fail p1\nu1 ann pass p1\nu3 ann partial p2"))

    assert found.labels == ("fail", "partial", "pass")
    assert (found.units, found.raters, found.clusters) == (("u1", "u2", "u3"), ("judge", "ann"), ("p1", "p2"))
    assert found.codes.tolist() == [[2, 2], [0, -1], [-1, 1]]
    assert found.cluster_of.tolist() == [0, 0, 1]
    assert found.is_clustered
    assert not found.are_labels_declared


def test_marks_have_the_three_labels_even_if_nobody_said_partial():
    assert ratings_of(rows("u1 a pass\nu1 b fail")).labels == ("fail", "partial", "pass")
    assert ratings_of(rows("u1 a pass\nu1 b fail"), labels=["fail", "pass"]).labels == ("fail", "pass")


def test_other_labels_are_sorted_numbers_by_their_value():
    assert ratings_of(rows("u1 a red\nu1 b blue")).labels == ("blue", "red")
    assert ratings_of(rows("u1 a 10\nu1 b 9")).labels == ("9", "10")


def test_the_declared_order_stands_whatever_was_said():
    found = ratings_of(rows("u1 a good\nu1 b bad"), labels=["bad", "so-so", "good"])

    assert found.labels == ("bad", "so-so", "good")
    assert found.codes.tolist() == [[2, 0]]
    assert found.are_labels_declared


def test_labels_outside_the_domain_are_left_out_and_counted():
    text = "u1 a pass\nu1 b N/A\nu2 a N/A\nu2 b fail\nu3 a Skip\nu3 b pass"

    found = ratings_of(rows(text), labels=["fail", "pass"])

    assert said(found) == {("u1", "a"): "pass", ("u2", "b"): "fail", ("u3", "b"): "pass"}
    assert excluded(found) == [
        ("label 'N/A' is not among the declared labels", 2),
        ("label 'Skip' is not among the declared labels", 1),
    ]


@pytest.mark.parametrize("word", ["None", "null", "N/A", "skipped", "Skip", "error", "NaN"])
def test_a_word_for_nothing_is_no_category_unless_it_is_declared(word):
    text = f"u1 a good\nu1 b {word}\nu2 a bad\nu2 b bad"

    assert ratings_of(rows(text)).labels == ("bad", "good")
    assert ratings_of(rows(text)).excluded[0].n == 1
    assert ratings_of(rows(text), labels=["bad", "good", word]).codes[0, 1] == 2


def test_an_empty_label_is_missing_and_counted():
    found = ratings_of(rows("u1 a pass\nu1 b -\nu2 a fail\nu2 b pass"))

    assert found.codes.tolist() == [[2, -1], [0, 2]]
    assert excluded(found) == [("the label is empty", 1)]


def test_a_unit_that_nobody_rated_is_no_unit_and_its_cluster_no_cluster():
    found = ratings_of(rows("u1 a pass p1\nu2 a Skip p2\nu3 a fail p3"))

    assert (found.units, found.clusters) == (("u1", "u3"), ("p1", "p3"))
    assert found.cluster_of.tolist() == [0, 1]


def test_blanks_around_names_make_no_second_rater_unit_or_label():
    found = ratings_of([Row("u1", " H", "pass "), Row("u1 ", "K", " pass"), Row("u2", "H ", "fail")])

    assert (found.raters, found.units) == (("H", "K"), ("u1", "u2"))


def test_a_unit_rated_twice_by_one_rater_is_refused_with_its_lines():
    text = "u1 a pass\nu2 a pass\nu1 b fail\nu1 a fail"

    with pytest.raises(RatingsError, match=r"'a' rated unit 'u1' twice, in lines 2 and 5;"):
        ratings_of(rows(text))


def test_a_second_row_is_refused_even_if_one_of_them_says_nothing():
    with pytest.raises(RatingsError, match=r"lines 2 and 3"):
        ratings_of(rows("u1 a pass\nu1 a -\nu2 a fail"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("u1 a pass p1\nu1 b pass p2", "has cluster 'p2' in line 3 but 'p1' before"),
        ("u1 a pass p1 x\nu1 b pass p1 y", "has kind 'y' in line 3 but 'x' before"),
        ("- a pass", "The unit is empty in line 2"),
        ("u1 - pass", "The rater is empty in line 2"),
        ("u1 a skip", "No row has a label"),
        ("", "There are no ratings"),
    ],
)
def test_rows_that_contradict_themselves_are_refused(text, words):
    with pytest.raises(RatingsError, match=words):
        ratings_of(rows(text))


def test_without_clusters_each_unit_is_its_own():
    found = ratings_of(rows("u1 a pass\nu2 a fail\nu1 b pass"))

    assert not found.is_clustered
    assert found.clusters == found.units
    assert found.cluster_of.tolist() == [0, 1]


def test_a_unit_without_a_cluster_stands_alone_among_clusters():
    found = ratings_of(rows("u1 a pass p1\nu2 a fail\nu3 a pass p1"))

    assert found.clusters == ("p1", "unit u2")
    assert found.cluster_of.tolist() == [0, 1, 0]


def test_numbers_written_in_two_ways_are_one_score():
    found = ratings_of(rows("u1 a 4\nu1 b 4.0\nu2 a 12\nu2 b 3.5"), is_numeric=True)

    assert found.labels == ("3.5", "4", "12")
    assert found.scores.tolist() == [[4, 4], [12, 3.5]]


def test_scores_of_missing_ratings_are_nan_and_categories_have_none():
    found = ratings_of(rows("u1 a 4\nu2 b 7"), is_numeric=True)

    assert np.isnan(found.scores).tolist() == [[False, True], [True, False]]
    with pytest.raises(RatingsError, match="ask for numeric ratings"):
        _ = ratings_of(rows("u1 a 4")).scores


def test_a_word_is_no_score():
    with pytest.raises(RatingsError, match="Label 'high' is no number"):
        ratings_of(rows("u1 a 4\nu1 b high"), is_numeric=True)
    with pytest.raises(RatingsError, match="the same number"):
        ratings_of(rows("u1 a 1"), labels=["1", "1.0"], is_numeric=True)


def test_a_pair_is_what_both_rated_with_their_clusters_only():
    found = ratings_of(
        rows("u1 a pass p1\nu1 b fail p1\nu2 a pass p2\nu3 b pass p3\nu3 a pass p3\nu3 c fail p3")
    )

    pair = found.pair("b", "a")

    assert (pair.units, pair.raters, pair.clusters) == (("u1", "u3"), ("b", "a"), ("p1", "p3"))
    assert pair.codes.tolist() == [[0, 2], [2, 2]]
    assert pair.cluster_of.tolist() == [0, 1]
    assert found.among(["b", "c"]).units == ("u1", "u3")
    with pytest.raises(RatingsError, match="No rater is called 'z'; known are a, b, c"):
        found.pair("a", "z")


def test_partial_folds_both_ways():
    found = ratings_of(rows("u1 a fail\nu2 a partial\nu3 a pass\nu3 b partial"))

    as_fail, as_pass = found.fold(Fold.FAIL), found.fold(Fold.PASS)

    assert as_fail.labels == as_pass.labels == ("fail", "pass")
    assert as_fail.codes.tolist() == [[0, -1], [0, -1], [1, 0]]
    assert as_pass.codes.tolist() == [[0, -1], [1, -1], [1, 1]]


def test_parts_that_do_not_fit_are_refused():
    good = {"labels": ("fail", "pass"), "raters": ("a", "b")}

    for codes, more, words in (
        ([[0, 2]], {}, "Codes go from 0 to 1"),
        ([[0, 1, 1]], {}, "do not fit 1 units and 2 raters"),
        ([0, 1], {}, "1 dimensions"),
        ([[0, 1]], {"clusters": ["x", "y"]}, "exactly one cluster"),
        ([[0, 1]], {"raters": ("a", "a")}, "rater 'a' is named twice"),
        ([[0, 1]], {"labels": ("fail", "fail")}, "label 'fail' is named twice"),
    ):
        with pytest.raises(RatingsError, match=words):
            Ratings.from_codes(codes, **(good | more))


def test_exclusions_of_others_stay_beside_those_of_the_rows():
    before = [Excluded(reason="an environment problem", n=3)]

    found = ratings_of(rows("u1 a pass\nu1 b skip"), excluded=before)

    assert [each.n for each in found.excluded] == [3, 1]


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 9), st.integers(0, 3)), st.sampled_from(["bad", "fair", "good"]), min_size=1
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=100, deadline=None)
def test_the_order_of_rows_changes_nothing_that_was_said(given_labels, random):
    entries = [Row(f"u{unit}", f"r{rater}", label) for (unit, rater), label in given_labels.items()]
    mixed = entries[:]
    random.shuffle(mixed)

    assert said(ratings_of(entries)) == said(ratings_of(mixed))
    assert said(ratings_of(entries)) == {
        (f"u{unit}", f"r{rater}"): label for (unit, rater), label in given_labels.items()
    }
