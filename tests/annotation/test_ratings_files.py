"""Files of ratings are read in three forms, and refused with the line and the way out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from annotation.agreement.ratings import RatingsError
from annotation.ratings_files import read_ratings

LONG = (
    "unit,rater,label,cluster,kind\nu1,judge,pass,p1,visual\nu1,ann,fail,p1,visual\nu2,judge,fail,p2,static\n"
)
OBJECTS = [
    {"unit": "u1", "rater": "judge", "label": "pass", "cluster": "p1", "kind": "visual"},
    {"unit": "u1", "rater": "ann", "label": "fail", "cluster": "p1", "kind": "visual"},
    {"unit": "u2", "rater": "judge", "label": "fail", "cluster": "p2", "kind": "static"},
]


@pytest.fixture
def write(tmp_path):
    def written(content: str | bytes) -> Path:
        path: Path = tmp_path / "ratings"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def lines(objects) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


@pytest.mark.parametrize(
    "content",
    [
        LONG,
        LONG.replace("\n", "\r\n"),
        "\ufeff" + LONG,
        "\n\n" + LONG + "\n\n",
        LONG.replace(",", ";"),
        LONG.replace(",", "\t"),
        LONG.replace("unit,rater,label", "Unit, Rater ,LABEL"),
        LONG.replace("u1", '"u1"'),
        lines(OBJECTS),
        "\ufeff\n" + lines(OBJECTS),
        json.dumps({"ratings": OBJECTS}),
        "\ufeff" + json.dumps({"ratings": OBJECTS}, indent=1),
    ],
)
def test_every_form_gives_the_same_ratings(write, content):
    found = read_ratings(write(content)).ratings

    assert (found.units, found.raters) == (("u1", "u2"), ("judge", "ann"))
    assert (found.clusters, found.kinds) == (("p1", "p2"), ("visual", "static"))
    assert found.labels == ("fail", "partial", "pass")
    assert found.codes.tolist() == [[2, 0], [0, -1]]


def test_columns_may_come_in_any_order_and_others_are_told_of(write):
    found = read_ratings(write("note,label,unit,rater\n-,good,u1,a\n-,bad,u1,b\n"))

    assert found.ratings.raters == ("a", "b")
    assert found.notes == ("Not read: note.",)


def test_an_object_declares_its_labels_and_the_command_goes_before_it(write):
    path = write(json.dumps({"labels": ["fail", "pass"], "ratings": OBJECTS}))

    assert read_ratings(path).ratings.labels == ("fail", "pass")
    overruled = read_ratings(path, labels=["pass", "fail"])
    assert overruled.ratings.labels == ("pass", "fail")
    assert "gave way" in overruled.notes[0]


def test_a_cell_with_a_separator_or_a_line_break_is_one_cell(write):
    found = read_ratings(write('unit,rater,label\n"u,1",a,pass\n"u\n2",a,fail\n')).ratings

    assert found.units == ("u,1", "u\n2")


def test_numbers_and_their_texts_are_one_name(write):
    objects = [
        {"unit": 7, "rater": "a", "label": 3},
        {"unit": "7", "rater": "b", "label": "3"},
        {"unit": 8.0, "rater": "a", "label": 2.5},
        {"unit": 8, "rater": "b", "label": None},
    ]

    found = read_ratings(write(lines(objects)), is_numeric=True).ratings

    assert (found.units, found.labels) == (("7", "8"), ("2.5", "3"))
    assert found.codes.tolist() == [[1, 1], [0, -1]]


def test_a_wide_table_is_refused_with_its_own_long_form(write):
    with pytest.raises(RatingsError) as caught:
        read_ratings(write("unit,judge,ann\nu7,pass,fail\nu8,pass,pass\n"))

    sentence = str(caught.value)
    assert "one column a rater is not read" in sentence
    assert "unit,rater,label / u7,judge,pass / u7,ann,fail" in sentence


def test_wide_json_lines_are_refused_in_the_same_way(write):
    with pytest.raises(RatingsError, match=r"Line 1: .*u7,judge,pass / u7,ann,fail"):
        read_ratings(write(lines([{"unit": "u7", "judge": "pass", "ann": "fail"}])))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "It is empty"),
        ("\n \n", "It is empty"),
        (b"\xff\xfeu\x00n\x00", "UTF-16; save it as UTF-8"),
        ("unit,rater,label\nu1,a,p\xe4ss\n".encode("latin-1"), "not UTF-8"),
        ("unit,rater,label\n", "There are no ratings"),
        ("u1,judge,pass\nu2,judge,pass\n", "lack unit, rater, label"),
        ("unit,rater,label\nu1,a\n", "Line 2 has 2 fields and the header 3"),
        ("unit,rater,label\nu1,a,pass,x\n", "Line 2 has 4 fields"),
        ('unit,rater,label\nu1,a,"pass\n', "is no CSV"),
        ("unit,rater,label,label\nu1,a,pass,fail\n", "'label' is there twice"),
        ("unit,rater,label\nu1,a,pass\nu2,a,pass\nu1,a,fail\n", "lines 2 and 4"),
        ("[1, 2]", "A JSON list is no ratings file"),
        ('{"ratings": 3}', 'no list "ratings"'),
        ('{"labels": "pass", "ratings": []}', '"labels" is the list'),
        ('{"ratings": []}', "There are no ratings"),
        ('{"ratings": [{"unit": "u1", "rater": "a"}]}', "Rating 1: the columns unit, rater lack label"),
        ('{"ratings": [3]}', "Rating 1: it lacks unit, rater, label"),
        ('{"ratings": [', "It is no JSON"),
        ("{nonsense", "It is no JSON"),
        ('{"unit": "u1", "rater": "a", "label": "pass"}\n{oops\n', "Line 2 is no JSON"),
        ('{"unit": "u1", "rater": "a", "label": "pass"}\n[1]\n', "Line 2: it lacks"),
        ('{"unit": "u1", "rater": "a", "label": ["pass"]}\n', "a text or a number belongs"),
        (
            '{"ratings": [{"unit": "u1", "rater": "a", "label": "x"}, {"unit": "u1", "rater": "a", "label": "x"}]}',
            "ratings 1 and 2",
        ),
        ("[" * 100_000, "A JSON list"),
        ('{"ratings": ' + "[" * 100_000, "It is"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(write, content, words):
    with pytest.raises(RatingsError, match=words) as caught:
        read_ratings(write(content))

    assert "\n" not in str(caught.value)


def test_a_missing_file_is_the_system_s_to_tell(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_ratings(tmp_path / "nowhere.csv")


def test_lines_are_counted_from_the_beginning_of_the_file(write):
    with pytest.raises(RatingsError, match="in lines 4 and 5"):
        read_ratings(write("\n\nunit,rater,label\na,x,pass\na,x,pass\n"))


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"labels": [None, "fail", "pass"], "ratings": OBJECTS}, '"labels" has an empty one'),
        ({"ratings": [{"unit": "u", "rater": "a|b", "label": "pass"}]}, "has a | in its name"),
        ({"ratings": [{"unit": "u", "rater": "a", "label": "pa\ud800ss"}]}, "half of a character"),
    ],
)
def test_names_that_would_be_mistaken_are_refused(write, document, words):
    with pytest.raises(RatingsError, match=re.escape(words)):
        read_ratings(write(json.dumps(document)))


def test_a_declared_score_may_be_spelt_in_another_way(write):
    found = read_ratings(
        write("unit,rater,label\na,x,1.0\na,y,2\nb,x,3\n"), labels=["1", "2"], is_numeric=True
    ).ratings

    assert found.codes.tolist() == [[0, 1]]
    assert [each.n for each in found.excluded] == [1]


@pytest.mark.parametrize("label", ["1e200", "1e-200", "-1e308"])
def test_a_score_whose_square_is_no_number_is_refused(write, label):
    with pytest.raises(RatingsError, match="too large or too small"):
        read_ratings(write(f"unit,rater,label\na,x,{label}\na,y,1\n"), is_numeric=True)
