"""The queue: nobody a round twice, none stuck with somebody who left, nothing taken that was not asked for."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import comments, opening, queue
from annotation.models import Annotation, Assignment, Campaign
from annotation.vocabulary import AssignmentState
from people.models import AuditEntry
from tests import campaigns

pytestmark = pytest.mark.django_db

PAST = timedelta(hours=1)


def run_out(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(lease_until=timezone.now() - PAST)


def finish(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(state=AssignmentState.SUBMITTED)


def test_asking_twice_gives_the_same_set_again_until_it_is_submitted():
    of = campaigns.opened()
    (user,) = of.annotators.all()

    mine = queue.take_next(of, user)

    assert queue.take_next(of, user) == mine
    finish(mine)
    assert queue.take_next(of, user) != mine


def test_a_set_that_is_taken_has_a_lease_of_the_campaigns_hours():
    mine = campaigns.taken(campaigns.opened(lease_hours=5))

    assert mine.lease_until is not None
    assert mine.taken_at is not None
    assert mine.lease_until - mine.taken_at == timedelta(hours=5)


def test_nobody_gets_two_copies_of_one_round_and_every_copy_gets_somebody():
    people = campaigns.people(3)
    of = campaigns.opened(annotators=people, overlap=2)
    given = []
    for _ in range(3):
        for person in people:
            try:
                given.append(queue.take_next(of, person))
            except queue.NothingGiven:
                continue
            finish(given[-1])

    assert len(given) == of.assignments.count() == 4
    assert len({(one.round_id, one.annotator_id) for one in given}) == 4


def test_rounds_with_a_copy_begun_are_given_first():
    people = campaigns.people(4)
    of = campaigns.opened(annotators=people, overlap=2)

    rounds = [queue.take_next(of, person).round_id for person in people]

    assert rounds[0] == rounds[1] != rounds[2] == rounds[3]


def test_the_table_itself_refuses_a_person_twice_on_one_round():
    of = campaigns.opened(annotators=campaigns.people(2), overlap=2)
    one, other = of.assignments.filter(round=of.assignments.earliest("pk").round_id)
    user = of.annotators.earliest("pk")
    Assignment.objects.filter(pk=one.pk).update(annotator=user)

    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.filter(pk=other.pk).update(annotator=user)


@pytest.mark.parametrize("why", ["draft", "closed", "stranger", "deadline", "busy", "done"])
def test_where_nothing_is_given_a_sentence_says_why(why):
    person, other = campaigns.people(2)
    of = campaigns.campaign(annotators=[person]) if why == "draft" else campaigns.opened(annotators=[person])
    words = {
        "draft": "is draft",
        "closed": "is closed",
        "stranger": "not among the annotators",
        "deadline": "deadline .* has passed",
        "busy": "marked by somebody else",
        "done": "nothing left",
    }[why]
    if why == "closed":
        opening.close_campaign(of, by=None)
    if why == "deadline":
        Campaign.objects.update(deadline=timezone.now() - PAST)
    if why == "busy":
        Assignment.objects.update(annotator=other, lease_until=timezone.now() + PAST)
    if why == "done":
        Assignment.objects.update(annotator=other, state=AssignmentState.SUBMITTED)

    with pytest.raises(queue.NothingGiven, match=words):
        queue.take_next(of, other if why == "stranger" else person)


def test_a_set_begun_before_the_deadline_is_still_given_to_its_person():
    mine = campaigns.taken()
    assert mine.annotator is not None
    Campaign.objects.update(deadline=timezone.now() - PAST)

    assert queue.take_next(mine.campaign, mine.annotator) == mine


def test_a_set_whose_lease_ran_out_is_given_to_somebody_else_and_its_marks_stay():
    person, other = campaigns.people(2)
    of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[person, other])
    mine = campaigns.taken(of, by=person)
    Annotation.objects.filter(assignment=mine).update(mark="pass", version=1)
    run_out(mine)

    theirs = queue.take_next(of, other)

    mine.refresh_from_db()
    assert (mine.state, mine.annotator, mine.expired_at is not None) == (
        AssignmentState.EXPIRED,
        person,
        True,
    )
    assert (theirs.round_id, theirs.copy, theirs.generation) == (mine.round_id, mine.copy, 2)
    assert mine.annotations.filter(mark="pass").count() == 6
    assert theirs.annotations.filter(mark="", version=0).count() == 6


def test_who_comes_back_gets_an_own_set_back_with_its_marks_while_it_is_free():
    person, other = campaigns.people(2)
    of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[person, other])
    mine = campaigns.taken(of, by=person)
    Annotation.objects.filter(assignment=mine).update(mark="pass", version=1)
    run_out(mine)

    again = queue.take_next(of, person)

    assert again == mine
    assert again.state == AssignmentState.OPEN
    assert again.annotations.filter(mark="pass").count() == 6
    assert Assignment.objects.filter(campaign=of).count() == 1


def test_nobody_takes_back_what_somebody_else_works_on():
    person, other = campaigns.people(2)
    of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[person, other])
    mine = campaigns.taken(of, by=person)
    run_out(mine)
    queue.take_next(of, other)

    with pytest.raises(queue.NothingGiven, match="kept and can be exported"):
        queue.take_back(mine, person)
    with pytest.raises(queue.NothingGiven, match="marked by somebody else"):
        queue.take_next(of, person)
    with pytest.raises(queue.NothingGiven, match="of your own"):
        queue.take_back(mine, other)


def test_who_was_taken_off_the_campaign_takes_nothing_back():
    person, other = campaigns.people(2)
    of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[person, other])
    mine = campaigns.taken(of, by=person)
    queue.release(mine, by=None, reason="left")
    of.annotators.remove(person)

    with pytest.raises(queue.NothingGiven, match="not among the annotators"):
        queue.take_back(mine, person)
    assert queue.take_next(of, other).round == mine.round


def test_what_leads_said_about_a_free_set_stays_when_it_is_taken_back():
    person = campaigns.person()
    of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[person])
    mine = campaigns.taken(of, by=person)
    free = queue.release(mine, by=None, reason="pause")
    comments.add_to_assignment(free.annotations.earliest("pk"), by=campaigns.lead(), text="Look closely.")

    queue.take_back(mine, person)

    assert [said.text for said in comments.of_assignment(mine)] == ["Look closely."]


def test_a_set_can_expire_again_and_again():
    people = campaigns.people(2)
    of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=people)
    for number in range(6):
        mine = queue.take_next(of, people[number % 2])
        run_out(mine)

    current = of.assignments.exclude(state=AssignmentState.EXPIRED)
    assert current.count() == 1


def test_a_mark_that_comes_first_keeps_the_set_from_expiring():
    mine = campaigns.taken()
    run_out(mine)
    Assignment.objects.filter(pk=mine.pk).update(lease_until=timezone.now() + PAST)

    assert queue.expire_run_out(mine.campaign, now=timezone.now()) == 0


def test_released_by_hand_a_set_is_free_written_down_and_comes_to_the_same_person_last():
    person, lead = campaigns.person(), campaigns.lead()
    of = campaigns.opened(annotators=[person])
    mine = campaigns.taken(of, by=person)

    free = queue.release(mine, by=lead, reason="on holiday")

    assert (free.annotator, free.generation) == (None, 2)
    entry = AuditEntry.objects.get(act="release")
    assert (entry.user, entry.subject, entry.details) == (
        lead,
        f"assignment:{mine.pk}",
        {"reason": "on holiday"},
    )
    other = queue.take_next(of, person)
    assert other.round_id != mine.round_id
    finish(other)
    assert queue.take_next(of, person) == free


def test_what_nobody_works_on_cannot_be_released():
    of = campaigns.opened()
    free = of.assignments.earliest("pk")
    done = campaigns.taken(of)
    finish(done)

    for assignment in (free, done):
        with pytest.raises(queue.NothingGiven, match="at work on"):
            queue.release(assignment, by=None, reason="")


def test_a_lead_gives_a_set_to_a_named_person_whoever_had_it():
    person, other = campaigns.people(2)
    lead = campaigns.lead()
    of = campaigns.opened(annotators=[person, other])
    mine = campaigns.taken(of, by=person)

    theirs = queue.reassign(mine, to=other, by=lead, reason="left")

    assert (theirs.annotator, theirs.round_id, theirs.generation) == (other, mine.round_id, 2)
    assert queue.reassign(mine, to=other, by=lead, reason="left") == theirs
    assert AuditEntry.objects.filter(act="assign").count() == 1


def test_a_set_is_given_neither_to_strangers_nor_to_who_has_the_round_already():
    person, other = campaigns.people(2)
    of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[person, other], overlap=2)
    mine, theirs = queue.take_next(of, person), queue.take_next(of, other)

    with pytest.raises(queue.NothingGiven, match="nobody marks one twice"):
        queue.reassign(theirs, to=person, by=None, reason="")
    with pytest.raises(queue.NothingGiven, match="add this person first"):
        queue.reassign(mine, to=campaigns.person(), by=None, reason="")


def test_planned_sets_have_no_lease_until_their_person_begins():
    people = campaigns.people(2)
    of = campaigns.planned(annotators=people)

    assert queue.expire_run_out(of, now=timezone.now() + timedelta(days=99)) == 0
    assert {one.annotator for one in of.assignments.all()} == set(people)
    assert queue.take_next(of, people[0]).annotator == people[0]


def test_taking_costs_as_many_queries_in_a_large_campaign_as_in_a_small_one():
    counts = []
    for tasks in (2, 30):
        of = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=tasks, criteria=1)))
        user = of.annotators.earliest("pk")
        with CaptureQueriesContext(connection) as queries:
            queue.take_next(of, user)
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 16
