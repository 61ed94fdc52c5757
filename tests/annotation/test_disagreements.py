"""Where marks differ, and settling it: blind, added, never over what somebody just said."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest
from django.db import connections
from django.urls import reverse

from annotation import adjudication, comments
from annotation.adjudication import Decision
from annotation.models import Adjudication, Annotation, Item, WebhookDelivery
from annotation.pairing import Between, Settled, disagreements, letter, marks_on, raters
from benchmark.rules.vocabulary import Mark
from people.models import AuditEntry
from tests import campaigns
from tests.annotation.seats import flag, mark_all, queries, seat, sets_of

pytestmark = pytest.mark.django_db
NAMES = ("first-rater", "second-rater")


def disputed(*, tasks: int = 1, **settings):
    """A campaign in which the second of two people failed the first outcome of every set."""
    people = [campaigns.person(name) for name in NAMES]
    campaign = campaigns.planned(
        campaigns.run(campaigns.benchmark(tasks=tasks, criteria=2), rounds=[{"c1": (Mark.FAIL, Mark.PASS)}]),
        annotators=people,
        overlap=2,
        **settings,
    )
    for each in sets_of(campaign):
        is_second = each.annotator == people[1]
        note = "No message <script>alert(1)</script>" if is_second else "I see it."
        mark_all(each, others={0: Mark.FAIL} if is_second else {}, note=note)
    return campaign


def address(campaign, query: str = "") -> str:
    return reverse("annotation:disagreements", args=[campaign.pk]) + query


def settle(client, item: Item, **values):
    return client.post(
        reverse("annotation:adjudicate", args=[item.campaign_id, item.pk]), {"seen": "0"} | values
    )


@pytest.fixture
def client():
    return seat(campaigns.lead("settler"))


def test_only_items_on_which_people_differ_are_listed(client):
    campaign = disputed()

    rows = client.get(address(campaign)).context["rows"]

    assert [row["item"].position for row in rows] == [0]
    assert rows[0]["looks"] == ["fail", "pass"]


def test_people_and_judge_are_laid_beside_each_other_on_demand(client):
    campaign = disputed()

    rows = client.get(address(campaign, "?between=judge")).context["rows"]

    # One person failed what the judge passed (0); both passed what the judge failed (2).
    assert [row["item"].position for row in rows] == [0, 2]


def test_environment_problems_and_expired_sets_make_no_disagreement():
    campaign = disputed()
    second = campaign.assignments.get(annotator__username=NAMES[1])
    campaign.assignments.filter(pk=second.pk).update(state="open")
    second.refresh_from_db()
    flag(second.annotations.select_related("assignment__campaign").order_by("item__position")[0])

    assert not disagreements(campaign, between=Between.PEOPLE, settled=Settled.OPEN).exists()


def test_ratings_that_differ_are_listed_too(client):
    people = campaigns.people(2)
    campaign = campaigns.rated(annotators=people, overlap=2)
    item = campaign.items.order_by("pk")[0]
    for place, row in enumerate(item.annotations.all()):
        Annotation.objects.filter(pk=row.pk).update(score=60 + 15 * place)

    answer = client.get(address(campaign))

    assert [row["scores"] for row in answer.context["rows"]] == [["60", "75"]]


def test_a_blind_adjudicator_sees_no_name_and_no_judge_until_the_mark_is_given(client):
    campaign = disputed()
    item = campaign.items.order_by("position")[0]
    comments.add_to_assignment(
        item.annotations.all()[0], by=item.annotations.all()[0].assignment.annotator, text="Hm."
    )

    before = client.get(address(campaign)).text
    after = settle(client, item, mark="pass", note="It is there.").url
    shown = client.get(after).text

    for hidden in (*NAMES, "was planned as", "Evidence of the judge", "heron", "scripted"):
        assert hidden not in before
    assert "Rater A" in before
    for name in NAMES:
        assert name in shown
    assert "c0.0 was planned as pass." in shown
    assert "Hm." in shown


def test_a_campaign_that_is_not_blind_shows_names_at_once(client):
    campaign = disputed(is_blind=False)

    page = client.get(address(campaign)).text

    assert all(name in page for name in NAMES)


def test_rater_a_is_not_the_same_person_on_every_item():
    campaign = disputed(tasks=8)
    items = list(campaign.items.filter(position=0).order_by("pk"))
    marks = marks_on(items)

    firsts = {raters(item, marks[item.pk], with_names=True)[0].name for item in items}

    assert firsts == set(NAMES)
    assert [letter(place) for place in (0, 25, 26)] == ["A", "Z", "A2"]


def test_an_adjudication_is_added_and_the_originals_stay(client):
    campaign = disputed(webhook_url="https://lab.example.org/marks")
    item = campaign.items.order_by("position")[0]
    before = list(Annotation.objects.order_by("pk").values())

    settle(client, item, mark="fail", note="Not on the page.")

    added = item.adjudications.get()
    assert (added.number, added.mark, added.note, added.by.username) == (
        1,
        "fail",
        "Not on the page.",
        "settler",
    )
    assert list(Annotation.objects.order_by("pk").values()) == before
    assert AuditEntry.objects.get(act="adjudicate").details["mark"] == "fail"
    told = WebhookDelivery.objects.get(event="adjudicated")
    assert (told.body["item"], told.body["mark"], told.body["by"]) == (item.pk, "fail", "settler")


def test_a_settled_item_leaves_the_open_list_and_is_found_among_the_settled(client):
    campaign = disputed()
    settle(client, campaign.items.order_by("position")[0], mark="pass")

    assert client.get(address(campaign)).context["rows"] == []
    assert len(client.get(address(campaign, "?settled=settled")).context["rows"]) == 1


def test_the_second_of_two_leads_sees_the_firsts_mark_and_must_confirm(client):
    campaign = disputed()
    item = campaign.items.order_by("position")[0]
    adjudication.adjudicate(item, Decision(mark=Mark.PASS, note="It is there."), by=campaigns.lead("faster"))

    answer = settle(client, item, mark="fail", note="My long reasons.")

    assert answer.status_code == 409
    assert "faster settled this as Pass" in answer.text
    assert "It is there." in answer.text
    assert "My long reasons." in answer.text
    assert item.adjudications.count() == 1
    assert (
        settle(
            client, item, mark="fail", note="My long reasons.", seen=answer.context["current"]["seen"]
        ).status_code
        == 302
    )
    assert [each.mark for each in item.adjudications.all()] == ["pass", "fail"]


def test_a_bad_mark_is_refused_with_the_note_kept(client):
    campaign = disputed()

    answer = settle(client, campaign.items.order_by("position")[0], mark="partial", note="Half of it.")

    assert answer.status_code == 422
    assert "this campaign takes fail, pass" in answer.text
    assert "Half of it." in answer.text
    assert not Adjudication.objects.exists()


def test_a_rating_is_settled_within_its_scale(client):
    campaign = campaigns.rated(annotators=campaigns.people(2), overlap=2)
    item = campaign.items.order_by("pk")[0]

    refused = settle(client, item, score="101")
    settle(client, item, score="62.5")

    assert "takes a number from 0 to 100" in refused.text
    assert item.adjudications.get().score == 62.5


def test_text_of_annotators_is_shown_as_text(client):
    campaign = disputed()

    page = client.get(address(campaign)).text

    assert "<script>alert(1)" not in page
    assert "No message &lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_lead_with_an_own_blind_set_is_refused_with_the_way_out():
    lead = campaigns.lead()
    campaign = campaigns.opened(annotators=[lead, campaigns.person()])
    campaigns.taken(campaign, by=lead)
    item = campaign.items.order_by("pk")[0]
    client = seat(lead)

    for answer in (
        client.get(address(campaign)),
        settle(client, item, mark="pass"),
        client.get(reverse("annotation:threads", args=[campaign.pk])),
    ):
        assert answer.status_code == 403
        assert "blind and open" in answer.text
    assert not Adjudication.objects.exists()


def test_an_annotator_can_neither_look_nor_settle():
    campaign = disputed()
    client = seat(campaign.annotators.all()[0])

    assert client.get(address(campaign)).status_code == 403
    assert settle(client, campaign.items.all()[0], mark="pass").status_code == 403
    assert not Adjudication.objects.exists()


def test_an_item_of_another_campaign_is_not_found(client):
    one = disputed()
    item = campaigns.opened().items.all()[0]

    assert client.get(address(one, f"?item={item.pk}")).status_code == 404
    assert (
        client.post(reverse("annotation:adjudicate", args=[one.pk, item.pk]), {"mark": "pass"}).status_code
        == 404
    )


@pytest.mark.parametrize(
    "query", ["?between=x", "?settled=x", "?after=x", "?item=x", "?task=nowhere", "?after=" + "9" * 40]
)
def test_odd_addresses_are_answered(client, query):
    assert client.get(address(disputed(), query)).status_code == 200


def test_the_list_goes_on_by_key(client, monkeypatch):
    from annotation.views import disagreements as page

    monkeypatch.setattr(page, "ITEMS_A_PAGE", 2)
    campaign = disputed(tasks=5)
    seen, query = [], ""
    for _ in range(3):
        context = client.get(address(campaign, query)).context
        seen += [row["item"].pk for row in context["rows"]]
        query = context["next_page"]

    assert seen == list(campaign.items.filter(position=0).order_by("pk").values_list("pk", flat=True))
    assert query == ""


def test_the_page_asks_as_often_for_many_disagreements_as_for_few(client):
    small = disputed(tasks=2)
    counted = [queries(client, address(small))]
    for name in NAMES:
        small.annotators.filter(username=name).update(username=f"{name}-before")
    counted.append(queries(client, address(disputed(tasks=9))))

    assert counted[0] == counted[1] <= 20


@pytest.mark.django_db(transaction=True)
def test_of_leads_who_settle_at_the_same_moment_one_wins_and_nobody_overwrites():
    campaign = disputed()
    item = campaign.items.order_by("position")[0]
    leads = [campaigns.lead() for _ in range(4)]
    start, statuses = Barrier(4), []

    def act(client, mark):
        start.wait(60)
        statuses.append(settle(client, item, mark=mark).status_code)
        connections.close_all()

    threads = [
        Thread(target=act, args=[seat(lead), mark])
        for lead, mark in zip(leads, ("pass", "fail", "pass", "fail"), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(statuses) == [302, 409, 409, 409]
    assert item.adjudications.count() == 1
