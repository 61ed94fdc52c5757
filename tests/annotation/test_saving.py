"""Saving what an annotator did: once each, in order, never over something unseen, never a 500."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import opening, queue
from annotation.models import Annotation, Assignment, Campaign, Guideline, Revision
from annotation.vocabulary import AssignmentState, Change, EnvironmentProblem, MarkSet
from benchmark.rules.vocabulary import Mark
from tests import campaigns
from tests.annotation.clients import Person
from tests.campaigns import marked, operation

pytestmark = pytest.mark.django_db


def first(of: Assignment) -> Annotation:
    return of.annotations.order_by("item__position")[0]


def test_a_mark_is_saved_with_its_time_version_guideline_and_a_note_that_says_reviewed(mine, person):
    annotation = first(mine)

    answer = person.post("/operations", {"operations": [marked(annotation, Mark.FAIL)]})

    (result,) = answer["results"]
    assert (result["status"], result["version"], result["annotation"]["mark"]) == ("saved", 1, "fail")
    assert result["annotation"]["note"] == ""
    assert result["annotation"]["saved_at"].endswith("Z")
    assert answer["sequence"] == 1
    assert answer["progress"] == {"decided": 1, "total": 6, "problems": 0}
    annotation.refresh_from_db()
    assert annotation.guideline == Guideline.objects.get()
    assert Revision.objects.get().mark == "fail"


def test_an_operation_that_is_sent_twice_is_saved_once(mine, person):
    mark = marked(first(mine))

    again = [person.send(mark)[0], person.send(mark)[0], *person.send(mark, mark)]

    assert [(result["status"], result["version"]) for result in again] == [("saved", 1)] * 4
    assert Revision.objects.count() == 1


def test_a_repeat_is_answered_as_saved_even_after_the_set_was_submitted(mine, person):
    sent = [marked(annotation) for annotation in mine.annotations.all()]
    person.send(*sent)
    person.post("/submit")

    assert person.statuses(sent[0]) == ["saved"]
    assert person.statuses(marked(first(mine), base=1)) == ["refused"]


def test_two_tabs_never_overwrite_each_other_and_what_builds_on_a_conflict_is_one_too(mine, person):
    annotation = first(mine)
    person.send(marked(annotation, Mark.PASS))
    stale = [marked(annotation, Mark.FAIL, base=0), operation(annotation, Change.NOTE, base=1, note="late")]
    other = marked(mine.annotations.order_by("item__position")[1])

    results = person.send(*stale, other)

    assert [result["status"] for result in results] == ["conflict", "conflict", "saved"]
    assert results[0]["annotation"]["mark"] == "pass"
    annotation.refresh_from_db()
    assert (annotation.mark, annotation.note, annotation.version) == ("pass", "", 1)


def test_operations_are_kept_in_the_order_they_were_sent(mine, person):
    annotation = first(mine)
    sent = [
        marked(annotation, mark, base=base)
        for base, mark in enumerate([Mark.PASS, Mark.FAIL, Mark.PASS, Mark.FAIL])
    ]

    person.send(*sent)

    saved = Revision.objects.order_by("sequence")
    assert [str(revision.operation) for revision in saved] == [each["operation"] for each in sent]
    assert [revision.version for revision in saved] == [1, 2, 3, 4]


def test_undo_goes_back_as_far_as_the_assignment(mine, person):
    one, other = mine.annotations.order_by("item__position")[:2]
    person.send(
        marked(one, Mark.PASS),
        marked(other, Mark.FAIL),
        operation(one, Change.NOTE, base=1, note="The total is off by a cent."),
        operation(one, Change.PROBLEM, base=2, problem="died", problem_text="after the second click"),
        operation(other, Change.CLEAR, base=1),
    )
    seen = []
    while stack := person.get()["undo"]:
        last = stack[-1]
        document = {each["id"]: each for each in person.get()["annotations"]}[last["annotation"]]
        undo = {
            "operation": str(uuid4()),
            "annotation": last["annotation"],
            "change": "undo",
            "base": document["version"],
            "undoes": last["operation"],
            "made_at": timezone.now().isoformat(),
        } | last["before"]
        (result,) = person.send(undo)
        assert result["status"] == "saved"
        seen.append((result["annotation"]["mark"], result["annotation"]["note"]))

    assert seen == [
        ("fail", ""),
        ("pass", "The total is off by a cent."),
        ("pass", ""),
        ("", None),
        ("", None),
    ]
    one.refresh_from_db()
    assert (one.mark, one.problem, one.problem_text, one.note, one.version) == ("", "", "", None, 6)
    assert Revision.objects.count() == 10


def test_what_was_undone_cannot_be_undone_again(mine, person):
    annotation = first(mine)
    mark = marked(annotation)
    person.send(mark)
    undo = {"undoes": mark["operation"], "mark": "", "note": None}

    first_time = operation(annotation, Change.UNDO, base=1, **undo)
    second = operation(annotation, Change.UNDO, base=2, **undo)
    unknown = operation(annotation, Change.UNDO, base=2, undoes=str(uuid4()), mark="")

    assert person.statuses(first_time, second, unknown) == ["saved", "refused", "refused"]


def test_an_environment_problem_is_an_error_with_a_reason_and_a_mark_takes_it_away(mine, person):
    annotation = first(mine)

    problem = operation(annotation, Change.PROBLEM, problem="not_started")
    person.send(problem)

    annotation.refresh_from_db()
    assert (annotation.mark, annotation.problem, annotation.note) == ("error", "not_started", None)
    person.send(marked(annotation, Mark.PASS, base=1))
    annotation.refresh_from_db()
    assert (annotation.mark, annotation.problem, annotation.note) == ("pass", "", "")


def test_something_else_as_a_problem_needs_its_sentence(mine, person):
    annotation = first(mine)
    other = EnvironmentProblem.OTHER.value

    (bare,) = person.send(operation(annotation, Change.PROBLEM, problem=other, problem_text="  "))
    (told,) = person.send(operation(annotation, Change.PROBLEM, problem=other, problem_text="No sound here."))

    assert (bare["status"], told["status"]) == ("refused", "saved")
    assert "needs a sentence" in bare["detail"]


def test_clear_takes_the_mark_away_and_keeps_what_was_written(mine, person):
    one, other = mine.annotations.order_by("item__position")[:2]
    person.send(
        marked(one),
        marked(other),
        operation(one, Change.NOTE, base=1, note="Kept."),
        operation(one, Change.CLEAR, base=2),
        operation(other, Change.CLEAR, base=1),
    )

    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.mark, one.note) == ("", "Kept.")
    assert (other.mark, other.note) == ("", None)


def test_a_blank_note_alone_does_not_say_that_the_outcome_was_reviewed(mine, person):
    annotation = first(mine)

    person.send(operation(annotation, Change.NOTE, note=""))

    annotation.refresh_from_db()
    assert annotation.note is None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"mark": "partial"}, "fail, pass"),
        ({"mark": "error"}, "fail, pass"),
        ({"mark": "skipped"}, "fail, pass"),
        ({"mark": None}, "fail, pass"),
        ({"mark": ["pass"]}, "fail, pass"),
        ({"change": "score", "score": 3}, "marks here"),
        ({"change": "explode"}, "known are mark"),
        ({"change": None}, "known are mark"),
        ({"change": {}}, "known are mark"),
        ({"change": "problem", "problem": "tired"}, "not_started"),
        ({"change": "note", "note": "x" * 20_001}, "20001 characters"),
        ({"change": "note"}, "note is text"),
        ({"change": "problem", "problem": "died", "problem_text": "x" * 2001}, "2001 characters"),
        ({"operation": "one"}, "no UUID"),
        ({"operation": None}, "no UUID"),
        ({"annotation": "one"}, "whole number"),
        ({"annotation": True}, "whole number"),
        ({"annotation": 10**30}, "whole number"),
        ({"annotation": 2**63 - 1}, "not part of this set"),
        ({"base": -1}, "whole number"),
        ({"made_at": "yesterday"}, "with its zone"),
        ({"made_at": "2026-01-01T12:00:00"}, "with its zone"),
        ({"made_at": "0001-01-01T00:00:00+14:00"}, "with its zone"),
        ({"made_at": 5}, "with its zone"),
        ({"change": "undo", "undoes": None, "mark": ""}, "no UUID"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence_and_the_rest_is_saved(mine, person, wrong, words):
    good, bad = mine.annotations.order_by("item__position")[:2]

    results = person.send(marked(bad) | wrong, marked(good))

    assert [result["status"] for result in results] == ["refused", "saved"]
    assert words in results[0]["detail"]
    bad.refresh_from_db()
    assert bad.version == 0


@pytest.mark.parametrize("entry", [None, 5, "mark", [], {}, [[]]])
def test_an_operation_that_is_no_object_is_refused_alone(mine, person, entry):
    assert person.statuses(entry, marked(first(mine))) == ["refused", "saved"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"operations": 3}', b"[" * 100_000, b"\xff\xfe"])
def test_a_body_that_is_no_batch_is_refused_and_never_a_500(person, body):
    for path in ("/operations", "/presence", "/reveal"):
        answer = person.client.post(person.base + path, data=body, content_type="application/json")
        # What nothing is asked of (a presence without a time) may come empty.
        assert answer.status_code < 500
        assert path == "/presence" or answer.status_code >= 400


@pytest.mark.parametrize("size", [0, 201])
def test_a_batch_has_1_to_200_operations(mine, person, size):
    sent = [marked(first(mine)) for _ in range(size)]

    answer = person.post("/operations", {"operations": sent}, status=422)

    assert "1 to 200" in answer["detail"]


def test_nul_and_half_characters_are_replaced_and_everything_else_is_kept(mine, person):
    annotation = first(mine)
    raw = json.dumps({"operations": [operation(annotation, Change.NOTE, note="@")]})
    raw = raw.replace('"@"', r'"a\u0000b\ud800c \ud83d\ude00 <script> é"')

    answer = person.post("/operations", raw.encode())

    assert answer["results"][0]["status"] == "saved"
    annotation.refresh_from_db()
    assert annotation.note == "a\ufffdb\ufffdc 😀 <script> é"


def test_bad_characters_anywhere_are_answered_with_a_sentence(mine, person):
    annotation = first(mine)
    for name in ("operation", "mark", "change", "made_at", "undoes", "problem"):
        sent = marked(annotation) | {name: "@"}
        if name == "undoes":
            sent["change"] = "undo"
        if name == "problem":
            sent["change"] = "problem"
        raw = json.dumps({"operations": [sent]}).replace('"@"', r'"\ud800\u0000"')
        assert person.post("/operations", raw.encode())["results"][0]["status"] == "refused"


def test_an_operation_of_another_outcome_cannot_be_repeated_here(mine, person):
    one, other = mine.annotations.order_by("item__position")[:2]
    mark = marked(one)
    person.send(mark)

    (result,) = person.send(mark | {"annotation": other.pk})

    assert result["status"] == "refused"
    assert "another outcome" in result["detail"]


def test_an_annotation_of_somebody_elses_set_is_not_part_of_this_one(person):
    other = campaigns.taken()

    (result,) = person.send(marked(first(other)))

    assert (result["status"], result["annotation"]) == ("refused", None)
    assert first(other).version == 0


@pytest.mark.parametrize(
    ("state", "words"), [("submitted", "open it again"), ("expired", "given back"), ("closed", "was closed")]
)
def test_a_set_that_is_over_refuses_with_the_way_out_and_keeps_what_it_has(mine, person, state, words):
    person.send(marked(first(mine)))
    if state == "submitted":
        person.send(*(marked(each) for each in mine.annotations.filter(version=0)))
        person.post("/submit")
    elif state == "expired":
        queue.release(mine, by=None, reason="left")
    else:
        opening.close_campaign(mine.campaign, by=None)

    (result,) = person.send(marked(first(mine), Mark.FAIL, base=1))

    assert result["status"] == "refused"
    assert words in result["detail"]
    assert result["annotation"]["mark"] == "pass"
    assert first(mine).version == 1


def test_marks_are_taken_after_the_deadline_until_the_campaign_is_closed(mine, person):
    Campaign.objects.update(deadline=timezone.now() - timedelta(days=1))

    assert person.statuses(marked(first(mine))) == ["saved"]


def test_every_mark_extends_the_lease(mine, person):
    Assignment.objects.update(lease_until=timezone.now() - timedelta(hours=1))

    person.send(marked(first(mine)))

    mine.refresh_from_db()
    assert mine.lease_until > timezone.now() + timedelta(hours=47)


@pytest.mark.parametrize(
    ("score", "status"),
    [
        (0, "saved"),
        (100, "saved"),
        (62.5, "saved"),
        (-1, "refused"),
        (101, "refused"),
        (10**400, "refused"),
        ("50", "refused"),
        (True, "refused"),
        (None, "refused"),
    ],
)
def test_a_rating_is_a_number_within_its_scale(score: Any, status: str):
    mine = campaigns.taken(campaigns.rated())
    assert mine.annotator is not None
    annotation = first(mine)

    (result,) = Person(mine.annotator, mine).send(operation(annotation, Change.SCORE, score=score))

    assert result["status"] == status
    assert result["annotation"]["score"] == (score if status == "saved" else None)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_rating_that_is_no_number_is_refused(word):
    mine = campaigns.taken(campaigns.rated())
    assert mine.annotator is not None
    raw = json.dumps({"operations": [operation(first(mine), Change.SCORE, score="@")]}).replace('"@"', word)

    (result,) = Person(mine.annotator, mine).post("/operations", raw.encode())["results"]

    assert result["status"] == "refused"


def test_ratings_take_no_marks_but_take_environment_problems():
    mine = campaigns.taken(campaigns.rated())
    assert mine.annotator is not None
    person, annotation = Person(mine.annotator, mine), first(mine)

    assert person.statuses(
        marked(annotation),
        operation(annotation, Change.SCORE, score=50),
        operation(annotation, Change.PROBLEM, base=1, problem="died"),
    ) == ["refused", "saved", "saved"]
    annotation.refresh_from_db()
    assert (annotation.score, annotation.mark) == (None, "error")


def test_three_marks_are_taken_where_the_campaign_has_three():
    mine = campaigns.taken(campaigns.opened(mark_set=MarkSet.THREE))
    assert mine.annotator is not None

    assert Person(mine.annotator, mine).statuses(marked(first(mine), Mark.PARTIAL)) == ["saved"]


def test_a_batch_of_30_costs_as_many_queries_in_a_large_set_as_in_a_small_one():
    counts = []
    for size in (15, 60):
        of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1, criteria=size)))
        mine = campaigns.taken(of)
        assert mine.annotator is not None
        person = Person(mine.annotator, mine)
        batch = [marked(each) for each in mine.annotations.order_by("pk")[:30]]
        with CaptureQueriesContext(connection) as queries:
            assert set(person.statuses(*batch)) == {"saved"}
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 20


def test_a_set_is_read_with_as_many_queries_whatever_its_size():
    counts = []
    for size in (2, 60):
        of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1, criteria=size)))
        mine = campaigns.taken(of)
        assert mine.annotator is not None
        person = Person(mine.annotator, mine)
        person.send(*(marked(each) for each in mine.annotations.order_by("pk")[:30]))
        with CaptureQueriesContext(connection) as queries:
            person.get()
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 14


def test_the_state_of_a_set_that_was_taken_over_is_told_by_presence(mine, person):
    queue.release(mine, by=None, reason="left")

    assert person.post("/presence", {})["state"] == AssignmentState.EXPIRED
