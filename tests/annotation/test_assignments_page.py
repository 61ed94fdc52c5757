"""The page of one's own sets, and taking them."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connections
from django.urls import reverse
from django.utils import timezone

from annotation import queue
from annotation.models import Assignment, Campaign
from annotation.own_sets import waiting_for
from annotation.vocabulary import AssignmentState, CampaignState
from benchmark.rules.vocabulary import Mark
from people.roles import SiteRole
from tests import campaigns
from tests.annotation.seats import mark_all, queries, seat, sets_of

pytestmark = pytest.mark.django_db
PAGE = "/annotation/"


def test_somebody_without_sets_reads_that_nothing_is_assigned():
    answer = seat(campaigns.person()).get(PAGE)

    assert "Nothing is assigned to you" in answer.text


def test_own_open_sets_come_with_progress_and_the_begun_one_first():
    person = campaigns.person()
    campaign = campaigns.planned(annotators=[person])
    _, second = sets_of(campaign)
    mark_all(second, submit=False)

    waiting = waiting_for(person, now=timezone.now())
    page = seat(person).get(PAGE).text

    assert waiting.open[0].assignment == second
    assert waiting.open[0].is_complete
    assert "Look again and submit" in page
    assert "Begin" in page


def test_every_set_has_its_files_whatever_became_of_it():
    person = campaigns.person()
    campaign = campaigns.planned(campaigns.run(campaigns.benchmark(tasks=4)), annotators=[person])
    stopped = sets_of(campaigns.planned(annotators=[person]))[0]
    at_work, done, gone, _ = sets_of(campaign)
    mark_all(done)
    queue.release(gone, by=None, reason="left")
    Campaign.objects.filter(pk=stopped.campaign_id).update(state=CampaignState.CLOSED)
    client = seat(person)

    page = client.get(PAGE).text

    for each in (at_work, done, gone, stopped):
        for kind in ("csv", "results"):
            address = reverse("annotation:export_assignment", args=[each.pk, kind])
            assert f'href="{address}"' in page
            assert client.get(address).status_code == 200


def test_the_page_names_no_set_of_anybody_else():
    one, other = campaigns.people(2)
    theirs = campaigns.planned(annotators=[one], name="Study of the first person")

    page = seat(other).get(PAGE).text

    assert theirs.name not in page


def test_taking_the_next_set_gives_a_free_one_and_leads_into_it():
    campaign = campaigns.opened()
    person = campaign.annotators.get()

    answer = seat(person).post(reverse("annotation:take", args=[campaign.pk]))

    mine = Assignment.objects.get(annotator=person)
    assert answer.headers["Location"] == reverse("annotation:console", args=[mine.pk])


def test_a_second_click_on_take_gives_the_same_set():
    campaign = campaigns.opened()
    person = campaign.annotators.get()
    client = seat(person)

    first, second = (client.post(reverse("annotation:take", args=[campaign.pk])) for _ in range(2))

    assert first.headers["Location"] == second.headers["Location"]
    assert Assignment.objects.filter(annotator=person).count() == 1


def test_taking_from_a_campaign_that_is_not_yours_is_not_found():
    campaign = campaigns.opened()

    assert seat(campaigns.person()).post(reverse("annotation:take", args=[campaign.pk])).status_code == 404


def test_where_nothing_is_left_the_page_says_why():
    person = campaigns.person()
    campaign = campaigns.opened(annotators=[person, campaigns.person()])
    for _ in sets_of(campaign):
        mark_all(queue.take_next(campaign, person), Mark.FAIL)

    answer = seat(person).post(reverse("annotation:take", args=[campaign.pk]), follow=True)

    assert "There is nothing left for you in this campaign" in answer.text


def test_a_set_that_ran_out_says_what_is_kept_and_can_be_taken_back_while_free():
    person = campaigns.person()
    campaign = campaigns.opened(annotators=[person])
    mine = campaigns.taken(campaign, by=person)
    mark_all(mine, submit=False)
    Assignment.objects.filter(pk=mine.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    queue.expire_run_out(campaign, now=timezone.now())
    client = seat(person)

    page = client.get(PAGE).text
    answer = client.post(reverse("annotation:take_back", args=[mine.pk]))

    assert "Your 6 marks are kept. Nobody has it yet." in page
    assert answer.headers["Location"] == reverse("annotation:console", args=[mine.pk])
    mine.refresh_from_db()
    assert mine.state == AssignmentState.OPEN


def test_a_set_that_somebody_else_has_by_now_cannot_be_taken_back():
    one, other = campaigns.people(2)
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[one, other])
    mine = campaigns.taken(campaign, by=one)
    free = queue.release(mine, by=None, reason="left")
    assert queue.take_next(campaign, other) == free
    client = seat(one)

    page = client.get(PAGE).text
    answer = client.post(reverse("annotation:take_back", args=[mine.pk]), follow=True)

    assert "Somebody else has it now." in page
    assert "Take it back" not in page
    assert "Your marks are kept" in answer.text


def test_nobody_takes_back_a_set_of_another_person():
    campaign = campaigns.opened()
    mine = campaigns.taken(campaign)
    queue.release(mine, by=None, reason="left")

    answer = seat(campaigns.person()).post(reverse("annotation:take_back", args=[mine.pk]))

    assert answer.status_code == 404


def test_the_page_asks_as_often_for_many_sets_as_for_one():
    few, many = campaigns.people(2)
    campaigns.planned(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[few])
    for _ in range(3):
        for each in sets_of(
            campaigns.planned(campaigns.run(campaigns.benchmark(tasks=4)), annotators=[many])
        )[:2]:
            mark_all(each)

    counted = [queries(seat(person), PAGE) for person in (few, many)]

    assert counted[0] == counted[1] <= 14


def test_markup_in_names_is_shown_as_text():
    person = campaigns.person()
    nasty = "<img src=x onerror=alert(1)>\u202e"
    campaigns.planned(annotators=[person], name=nasty)

    page = seat(person).get(PAGE).text

    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_the_first_page_of_annotators_is_their_sets_and_names_no_run():
    person = campaigns.person()
    run = campaigns.run(agent="heron-2")
    campaigns.planned(run, annotators=[person])

    page = seat(person).get("/", follow=True).text

    assert "Your sets" in page
    assert "heron-2" not in page
    assert ">Results<" not in page
    assert ">Campaigns<" not in page


def test_a_reader_who_also_annotates_finds_the_open_sets_on_the_first_page():
    person = campaigns.person("", SiteRole.READER, SiteRole.ANNOTATOR)
    run = campaigns.run()
    campaign = campaigns.planned(run, annotators=[person], is_blind=False)

    page = seat(person).get("/").text

    assert "Continue" in page
    assert campaign.name in page


def test_two_free_copies_of_a_round_count_as_one_set_to_take():
    person, other = campaigns.people(2)
    campaigns.opened(campaigns.run(campaigns.benchmark(tasks=3)), annotators=[person, other], overlap=2)

    assert "3 sets you can take" in seat(person).get("/annotation/").text


@pytest.mark.django_db(transaction=True)
def test_eight_people_at_once_get_eight_different_sets():
    people = campaigns.people(8)
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=8)), annotators=people)
    start, answers = Barrier(8), []

    def take(client):
        start.wait(60)
        answers.append(client.post(reverse("annotation:take", args=[campaign.pk])))
        connections.close_all()

    threads = [Thread(target=take, args=[seat(person)]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert [answer.status_code for answer in answers] == [302] * 8
    assert len({answer.headers["Location"] for answer in answers}) == 8
    assert Assignment.objects.filter(annotator=None).count() == 0
