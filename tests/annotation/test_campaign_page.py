"""The page of a campaign: people, projects, sets that stand still, problems, reveals."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import comments, opening, queue
from annotation.blindness import reveal
from annotation.campaign_progress import progress_of_campaign
from annotation.models import Annotation, Assignment, Item, WebhookDelivery
from annotation.vocabulary import AssignmentState
from benchmark.rules.vocabulary import Mark
from people.models import AuditEntry
from tests import campaigns
from tests.annotation.seats import flag, mark_all, queries, seat, sets_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    return seat(campaigns.lead())


def page_of(campaign, query: str = "") -> str:
    return reverse("annotation:campaign", args=[campaign.pk]) + query


def test_counts_are_by_person_and_by_project_and_leave_expired_sets_out():
    one, other = campaigns.people(2)
    campaign = campaigns.planned(annotators=[one, other], overlap=2)
    mine = [each for each in sets_of(campaign) if each.annotator == one]
    mark_all(mine[0])
    mark_all(mine[1], submit=False)
    queue.release(mine[1], by=None, reason="left")

    far = progress_of_campaign(campaign)

    # Two tasks of 6 outcomes, each for two people: 24 marks. One set of 6 is done; the released 6 are free.
    assert (far.all.decided, far.all.total) == (6, 24)
    assert (far.people[one.pk].decided, far.people[one.pk].total) == (6, 6)
    assert (far.people[other.pk].decided, far.people[other.pk].total) == (0, 12)
    assert (far.free.decided, far.free.total) == (0, 6)
    assert sum(project.total for project in far.projects.values()) == 24
    assert far.sets == {"free": 1, "given": 2, "open": 0, "submitted": 1, "expired": 1}


def test_sets_that_were_given_out_are_at_work_once_they_are_begun(client):
    campaign = campaigns.planned()
    before = client.get(page_of(campaign)).text
    mark_all(sets_of(campaign)[0], submit=False)
    after = client.get(page_of(campaign)).text

    assert "0 free, 2 given out, 0 at work" in before
    assert "0 free, 1 given out, 1 at work" in after


def test_overlap_of_a_share_says_so(client):
    run, people = campaigns.run(), campaigns.people(2)
    part = campaigns.opened(run, annotators=people, overlap=2, overlap_share=0.5)
    whole = campaigns.opened(run, annotators=people, overlap=2)

    assert "overlap 2 in 50% of trials" in client.get(page_of(part)).text
    assert "overlap 2 for each trial" in client.get(page_of(whole)).text


def test_the_median_is_of_marks_whose_time_is_known():
    campaign = campaigns.planned()
    rows = mark_all(sets_of(campaign)[0], submit=False)
    for row, milliseconds in zip(rows, (10_000, 20_000, 90_000, 0, 0, 0), strict=True):
        Annotation.objects.filter(pk=row.pk).update(active_ms=milliseconds)

    assert progress_of_campaign(campaign).all.median_seconds == 20


def test_drift_is_shown_early_against_late_with_its_numbers(client):
    person = campaigns.person()
    campaign = campaigns.planned(campaigns.run(campaigns.benchmark(tasks=1, criteria=2)), annotators=[person])
    # Four known passes; the person passes the first two and fails the last two: from 2 of 2 to 0 of 2.
    campaign.items.update(known_mark=Mark.PASS)
    mark_all(sets_of(campaign)[0], others={2: Mark.FAIL, 3: Mark.FAIL})
    for place, row in enumerate(Annotation.objects.order_by("item__position")):
        Annotation.objects.filter(pk=row.pk).update(saved_at=timezone.now() + timedelta(minutes=place))

    page = client.get(page_of(campaign))

    assert page.context["people"][0]["drift"] == {
        "early": "2 of 2",
        "late": "0 of 2",
        "change": "−100.0 points",
        "is_drop": "yes",
    }
    assert "falls, −100.0 points" in page.text


def test_environment_problems_say_nothing_about_drift(client):
    campaign = campaigns.planned(campaigns.run(campaigns.benchmark(tasks=1, criteria=1)))
    campaign.items.update(known_mark=Mark.PASS)
    flag(sets_of(campaign)[0].annotations.select_related("assignment")[0])

    assert client.get(page_of(campaign)).context["people"][0]["drift"] is None


def test_a_set_without_a_sign_for_half_its_lease_is_listed_and_can_be_released(client):
    campaign = campaigns.opened()
    quiet = campaigns.taken(campaign)
    mark_all(quiet, submit=False)
    Assignment.objects.filter(pk=quiet.pk).update(lease_until=timezone.now() + timedelta(hours=3))

    page = client.get(page_of(campaign))
    answer = client.post(
        reverse("annotation:release", args=[campaign.pk, quiet.pk]),
        {"place": "sets", "sets": "idle"},
        follow=True,
    )

    quiet.refresh_from_db()
    assert [row["assignment"] for row in page.context["sets"]["rows"]] == [quiet]
    assert quiet.state == AssignmentState.EXPIRED
    assert quiet.annotations.exclude(mark="").count() == 6
    assert "What was marked in it stays" in answer.text


def test_a_submitted_set_is_opened_again_with_its_marks(client):
    campaign = campaigns.opened()
    done = campaigns.taken(campaign)
    mark_all(done)
    address = reverse("annotation:reopen_set", args=[campaign.pk, done.pk])

    assert address in client.get(page_of(campaign, "?sets=submitted")).text
    answer = client.post(address, {"place": "sets", "sets": "submitted"}, follow=True)

    done.refresh_from_db()
    assert (done.state, done.submitted_at) == (AssignmentState.OPEN, None)
    assert done.annotations.exclude(mark="").count() == 6
    assert f"Set {done.pk} is open again" in answer.text
    assert AuditEntry.objects.filter(act="reopen", subject=f"assignment:{done.pk}").count() == 1


def test_a_set_of_a_closed_campaign_is_not_opened_again(client):
    campaign = campaigns.opened()
    done = campaigns.taken(campaign)
    mark_all(done)
    opening.close_campaign(campaign, by=None)
    address = reverse("annotation:reopen_set", args=[campaign.pk, done.pk])

    answer = client.post(address, follow=True)

    done.refresh_from_db()
    assert done.state == AssignmentState.SUBMITTED
    assert "open it again first, then the set" in answer.text
    assert address not in client.get(page_of(campaign, "?sets=submitted")).text


def test_only_a_lead_opens_a_set_again():
    done = campaigns.taken()
    mark_all(done)
    assert done.annotator is not None

    answer = seat(done.annotator).post(reverse("annotation:reopen_set", args=[done.campaign_id, done.pk]))

    assert answer.status_code == 403


def test_a_set_is_given_to_a_named_person(client):
    one, other = campaigns.people(2)
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[one, other])
    mine = campaigns.taken(campaign, by=one)

    client.post(reverse("annotation:reassign", args=[campaign.pk, mine.pk]), {"to": other.pk})

    assert [each.annotator for each in sets_of(campaign)] == [other]


def test_who_has_another_copy_of_a_round_is_not_offered_the_set(client):
    people = one, other, third = campaigns.people(3)
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=people, overlap=2)
    campaigns.taken(campaign, by=one)
    campaigns.taken(campaign, by=other)

    rows = client.get(page_of(campaign, "?sets=open")).context["sets"]["rows"]

    assert [row["may_have"] for row in rows] == [[third], [third]]


def test_threads_that_wait_for_an_answer_are_counted(client):
    mine = campaigns.taken()
    assert mine.annotator is not None
    lead, rows = campaigns.lead(), mine.annotations.select_related("assignment__campaign", "item")
    for row in rows.order_by("pk")[:3]:
        asked = comments.add_to_assignment(row, by=mine.annotator, text="Does this count?")
    comments.answer(asked, by=lead, text="Yes.")
    comments.add_among_leads(row.item, by=lead, text="Unclear wording.")

    page = client.get(page_of(mine.campaign))

    assert page.context["waiting_threads"] == 2
    assert "Comments, 2 waiting" in page.text


def test_those_who_marked_elsewhere_are_counted_and_were_never_seen_here(client):
    campaign = campaigns.planned()
    for each in sets_of(campaign):
        mark_all(each)
    campaign.annotators.clear()
    Assignment.objects.filter(campaign=campaign).update(annotator=None, rater="Anna")

    listed = client.get(reverse("annotation:campaigns")).context["campaigns"]
    people = client.get(page_of(campaign)).context["people"]

    assert [row["people"] for row in listed] == ["1 person"]
    assert [(row["name"], row["seen_at"]) for row in people] == [("Anna", None)]


@pytest.mark.parametrize("to", ["", "x", "999999"])
def test_reassigning_to_nobody_changes_nothing(client, to):
    campaign = campaigns.opened()
    mine = campaigns.taken(campaign)

    answer = client.post(reverse("annotation:reassign", args=[campaign.pk, mine.pk]), {"to": to}, follow=True)

    assert "Choose the person who is to have this set." in answer.text
    mine.refresh_from_db()
    assert mine.state == AssignmentState.OPEN


def test_a_set_of_another_campaign_is_not_found(client):
    mine, other = campaigns.taken(), campaigns.opened()

    answer = client.post(reverse("annotation:release", args=[other.pk, mine.pk]))

    assert answer.status_code == 404


def test_an_environment_problem_is_listed_with_its_words_and_goes_to_somebody_else(client):
    one, other = campaigns.people(2)
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)), annotators=[one, other])
    mine = campaigns.taken(campaign, by=one)
    rows = mark_all(mine, submit=False)
    flag(Annotation.objects.select_related("assignment__campaign").get(pk=rows[2].pk))
    page = client.get(page_of(campaign)).text

    client.post(reverse("annotation:ask_again", args=[campaign.pk, rows[2].pk]), {"to": other.pk})

    added = Assignment.objects.get(annotator=other)
    assert "It closed when I pressed Borrow." in page
    assert [row.item_id for row in added.annotations.all()] == [rows[2].item_id]
    assert Item.objects.get(pk=rows[2].item_id).copies == 2
    assert Annotation.objects.get(pk=rows[2].pk).problem


def test_nobody_is_asked_twice_for_the_same_outcome(client):
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)))
    rows = mark_all(campaigns.taken(campaign), submit=False)
    flag(Annotation.objects.select_related("assignment__campaign").get(pk=rows[0].pk))
    address = reverse("annotation:ask_again", args=[campaign.pk, rows[0].pk])
    client.post(address)

    answer = client.post(address, follow=True)

    assert "Another set has this outcome" in answer.text
    assert campaign.assignments.count() == 2


def test_asking_the_same_person_again_changes_nothing(client):
    campaign = campaigns.opened(campaigns.run(campaigns.benchmark(tasks=1)))
    mine = campaigns.taken(campaign)
    rows = mark_all(mine, submit=False)
    flag(Annotation.objects.select_related("assignment__campaign").get(pk=rows[0].pk))

    client.post(reverse("annotation:ask_again", args=[campaign.pk, rows[0].pk]), {"to": mine.annotator_id})

    assert campaign.assignments.count() == 1
    assert Item.objects.get(pk=rows[0].item_id).copies == 1


def test_a_reveal_is_listed_with_its_reason(client):
    mine = campaigns.taken()
    assert mine.annotator is not None
    reveal(mine, by=mine.annotator, reason="The footer <b>names</b> its model.")

    page = client.get(page_of(mine.campaign)).text

    assert "The footer &lt;b&gt;names&lt;/b&gt; its model." in page


def test_a_lead_who_marks_blind_here_sees_no_disagreement_and_no_calibration():
    lead = campaigns.lead()
    campaign = campaigns.opened(annotators=[lead])
    campaign.items.update(known_mark=Mark.PASS)
    campaigns.taken(campaign, by=lead)

    page = seat(lead).get(page_of(campaign))

    assert "You mark blind in this campaign" in page.text
    assert "Calibration right" not in page.text
    assert page.context["open_disagreements"] == 0


def test_the_page_links_its_files(client):
    campaign = campaigns.opened()

    page = client.get(page_of(campaign)).text

    for kind in ("results", "csv", "jsonl"):
        assert reverse("annotation:export_campaign", args=[campaign.pk, kind]) in page
    assert reverse("annotation:log", args=[campaign.pk]) in page


def test_the_log_says_who_did_what_to_a_campaign_and_its_sets_and_to_no_other(client, monkeypatch):
    from annotation.views import log

    boss = campaigns.lead("boss")
    campaign = campaigns.opened(by=boss)
    mine = campaigns.taken(campaign)
    queue.release(mine, by=boss, reason="<i>left</i>")
    campaigns.opened(by=boss)
    address = reverse("annotation:log", args=[campaign.pk])

    page = client.get(address)
    monkeypatch.setattr(log, "ENTRIES_A_PAGE", 1)
    first = client.get(address)
    second = client.get(address + first.context["older"])

    said = [(row["entry"].username, row["act"], row["subject"]) for row in page.context["rows"]]
    assert said == [("boss", "release", f"set {mine.pk}"), *said[1:]]
    assert ("boss", "open", "campaign") in said
    assert all(row["subject"] in ("campaign", f"set {mine.pk}") for row in page.context["rows"])
    assert sum(act == "open" for _, act, _ in said) == 1
    assert "&lt;i&gt;left&lt;/i&gt;" in page.text
    assert second.context["rows"][0]["act"] == said[1][1]


def test_a_draft_has_no_progress_and_leads_to_its_form(client):
    campaign = campaigns.campaign()

    assert client.get(page_of(campaign)).url == reverse("annotation:edit", args=[campaign.pk])


def test_the_page_asks_as_often_for_a_large_campaign_as_for_a_small_one(client):
    small = campaigns.planned(
        campaigns.run(campaigns.benchmark(tasks=1)), annotators=campaigns.people(2), overlap=2
    )
    large = campaigns.planned(
        campaigns.run(campaigns.benchmark(tasks=6)), annotators=campaigns.people(6), overlap=3
    )
    for campaign in (small, large):
        for each in sets_of(campaign):
            rows = mark_all(each, submit=False)
            flag(Annotation.objects.select_related("assignment__campaign").get(pk=rows[0].pk))
            assert each.annotator is not None
            reveal(each, by=each.annotator, reason="for the count")

    counted = [queries(client, page_of(campaign)) for campaign in (small, large)]

    assert counted[0] == counted[1] <= 32


def test_long_lists_go_on_by_key(client, monkeypatch):
    from annotation.views import progress

    monkeypatch.setattr(progress, "ROWS_A_PAGE", 2)
    campaign = campaigns.planned(campaigns.run(campaigns.benchmark(tasks=5)))
    first = client.get(page_of(campaign, "?sets=given")).context
    second = client.get(page_of(campaign, first["sets"]["next"].split("#")[0])).context
    later = client.get(page_of(campaign, first["projects"]["next"].split("#")[0])).context

    ids = [row["assignment"].pk for row in first["sets"]["rows"] + second["sets"]["rows"]]
    keys = [row["task"].key for row in first["projects"]["rows"] + later["projects"]["rows"]]
    assert ids == sorted(ids)
    assert len(set(ids)) == 4
    assert keys == ["t1", "t2", "t3", "t4"]


def test_closing_tells_the_site_that_asked_to_be_told(client):
    campaign = campaigns.opened(webhook_url="https://lab.example.org/marks")

    client.post(reverse("annotation:close", args=[campaign.pk]))

    told = WebhookDelivery.objects.get(campaign=campaign)
    assert told.event == "campaign.closed"
    assert set(told.body) == {"closed_at"}
