"""Threads: between an annotator and the leads, or among the leads; peers never hear of them."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation import comments
from annotation.models import Comment
from people.roles import SiteRole
from tests import campaigns
from tests.annotation.seats import queries, seat

pytestmark = pytest.mark.django_db
SECRET = "Does the grey button count?"


@pytest.fixture
def mine():
    """A set at work, and a campaign that has another annotator besides."""
    return campaigns.taken(campaigns.opened(annotators=campaigns.people(2), overlap=2))


def api(assignment) -> str:
    return f"/api/v1/assignments/{assignment.pk}/comments"


def say(client, assignment, text=SECRET, **more):
    annotation = assignment.annotations.order_by("pk")[0]
    return client.post(
        api(assignment), {"annotation": annotation.pk, "text": text} | more, content_type="application/json"
    )


def test_what_an_annotator_asks_a_lead_reads_and_answers(mine):
    annotator, lead = seat(mine.annotator), seat(campaigns.lead("guide"))
    asked = say(annotator, mine)

    read = lead.get(api(mine)).json()["comments"]
    say(lead, mine, "Yes.", parent=asked.json()["id"])
    heard = annotator.get(api(mine)).json()["comments"]

    assert asked.status_code == 201
    assert [(each["text"], each["is_lead"], each["is_mine"]) for each in read] == [(SECRET, False, False)]
    assert [(each["text"], each["author"], each["parent"]) for each in heard] == [
        (SECRET, mine.annotator.username, None),
        ("Yes.", "guide", asked.json()["id"]),
    ]


def test_a_peer_neither_reads_nor_writes(mine):
    say(seat(mine.annotator), mine)
    peer = seat(mine.campaign.annotators.exclude(pk=mine.annotator_id).get())

    # As where there is no such set: nobody learns which sets there are.
    assert peer.get(api(mine)).status_code == 404
    assert say(peer, mine, "Me too").status_code == 404
    assert SECRET not in peer.get(api(mine)).text
    assert Comment.objects.count() == 1


@pytest.mark.parametrize("role", [SiteRole.READER, SiteRole.ANNOTATOR])
def test_nobody_without_a_part_in_it_listens(mine, role):
    assert seat(campaigns.person("", role)).get(api(mine)).status_code == 404


def test_a_lead_who_marks_blind_in_the_campaign_counts_as_a_peer():
    lead, person = campaigns.lead(), campaigns.person()
    campaign = campaigns.opened(annotators=[lead, person], overlap=2)
    theirs = campaigns.taken(campaign, by=person)
    own = campaigns.taken(campaign, by=lead)

    assert seat(lead).get(api(theirs)).status_code == 403
    assert seat(lead).get(api(own)).status_code == 200


def test_signed_out_is_401_and_a_set_that_is_not_there_404(mine, client, settings):
    assert client.get(api(mine), headers={"host": settings.SITE_HOST}).status_code == 401
    assert seat(campaigns.lead()).get("/api/v1/assignments/999999/comments").status_code == 404


def test_an_annotation_of_another_set_is_not_found(mine):
    other = campaigns.taken()
    annotation = other.annotations.order_by("pk")[0]

    assert mine.annotator is not None
    answer = seat(mine.annotator).post(
        api(mine), {"annotation": annotation.pk, "text": "x"}, content_type="application/json"
    )

    assert answer.status_code == 404


@pytest.mark.parametrize("text", ["", "  \n", "x" * 4001])
def test_an_empty_or_endless_comment_is_refused_with_a_sentence(mine, text):
    answer = say(seat(mine.annotator), mine, text)

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("The comment")


def test_an_answer_never_leaves_its_thread(mine):
    other = campaigns.taken()
    assert other.annotator is not None
    root = say(seat(other.annotator), other).json()["id"]

    answer = say(seat(mine.annotator), mine, "x", parent=root)

    assert answer.status_code == 422
    assert "not part of this thread" in answer.json()["detail"]


def test_an_answer_to_an_answer_joins_the_thread(mine):
    client = seat(mine.annotator)
    root = say(client, mine).json()["id"]
    second = say(client, mine, "Two", parent=root).json()["id"]
    third = say(client, mine, "Three", parent=second).json()

    assert third["parent"] == root
    assert [len(each.answers) for each in comments.threads(comments.of_assignment(mine))] == [2]


def test_leads_talk_among_themselves_and_the_annotator_does_not_hear(mine):
    lead = seat(campaigns.lead())
    item = mine.annotations.order_by("pk")[0].item

    lead.post(reverse("annotation:comment", args=[mine.campaign_id, item.pk]), {"text": "Unclear outcome."})

    assert "Unclear outcome." in lead.get(reverse("annotation:threads", args=[mine.campaign_id])).text
    assert seat(mine.annotator).get(api(mine)).json()["comments"] == []


def test_a_thread_waits_for_a_lead_until_one_answers_and_can_be_settled(mine):
    say(seat(mine.annotator), mine)
    root = Comment.objects.get()
    lead = seat(campaigns.lead())
    page = reverse("annotation:threads", args=[mine.campaign_id])
    waiting = lead.get(page).text

    lead.post(reverse("annotation:answer", args=[mine.campaign_id, root.pk]), {"text": "Yes, it does."})
    answered = lead.get(page).text
    lead.post(reverse("annotation:answer", args=[mine.campaign_id, root.pk]), {"settle": "1"})

    assert "waits for an answer" in waiting
    assert "waits for an answer" not in answered
    assert "Yes, it does." in answered
    assert "No open thread" in lead.get(page).text
    assert "Yes, it does." in lead.get(f"{page}?state=all").text


def test_an_answer_opens_a_settled_thread_again(mine):
    annotator = seat(mine.annotator)
    root = say(annotator, mine).json()["id"]
    comments.settle(Comment.objects.get(pk=root))

    say(annotator, mine, "But then?", parent=root)

    assert Comment.objects.get(pk=root).settled_at is None


def test_an_empty_answer_keeps_the_page_and_says_why(mine):
    say(seat(mine.annotator), mine)
    root = Comment.objects.get()

    answer = seat(campaigns.lead()).post(
        reverse("annotation:answer", args=[mine.campaign_id, root.pk]), {"text": " "}
    )

    assert answer.status_code == 422
    assert "The comment is empty." in answer.text


def test_markup_and_control_signs_are_shown_as_text(mine):
    say(seat(mine.annotator), mine, "<b>bold</b> \u202e turned")

    page = seat(campaigns.lead()).get(reverse("annotation:threads", args=[mine.campaign_id])).text

    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "U+202E" in page


def test_many_threads_cost_as_many_queries_as_one(mine):
    lead = seat(campaigns.lead())
    page = reverse("annotation:threads", args=[mine.campaign_id])
    say(seat(mine.annotator), mine)
    few = queries(lead, page)
    for number in range(12):
        root = say(seat(mine.annotator), mine, f"Question {number}").json()["id"]
        say(lead, mine, "Answer", parent=root)

    assert queries(lead, page) == few <= 16
