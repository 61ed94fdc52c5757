"""A set over the interface: who may read and write it, handing it in, presence, reveal, and what is never told."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from annotation import opening, queue
from annotation.models import (
    ActiveTime,
    Annotation,
    Assignment,
    Campaign,
    WebhookDelivery,
)
from annotation.vocabulary import AssignmentState, Centre
from benchmark.rules.vocabulary import Mark
from people.models import AuditEntry
from people.roles import SiteRole
from tests import campaigns
from tests.annotation.clients import Person
from tests.campaigns import marked

pytestmark = pytest.mark.django_db

HUGE = 10**30


def mark_all(person: Person, of: Assignment) -> None:
    person.send(*(marked(each, base=each.version) for each in of.annotations.all()))


def test_the_document_holds_what_the_console_shows_in_order(mine, person):
    document = person.get()

    assert document["campaign"]["marks"] == ["fail", "pass"]
    assert document["campaign"]["centre"] == Centre.LIVE
    assert (document["is_mine"], document["owner"], document["state"]) == (True, person.user.username, "open")
    assert document["task"]["request"].startswith("Please build")
    assert [criterion["key"] for criterion in document["criteria"]] == ["c0", "c1", "c2"]
    listed = [pk for criterion in document["criteria"] for pk in criterion["annotations"]]
    assert listed == [annotation["id"] for annotation in document["annotations"]]
    assert [each["text"] for each in document["annotations"][:2]] == ["c0 does thing 0", "c0 does thing 1"]
    assert document["guideline"]["version"] == 1
    assert document["progress"] == {"decided": 0, "total": 6, "problems": 0}
    assert (document["seconds_left"], document["undo"], document["sequence"]) == (None, [], 0)


def test_ratings_are_grouped_and_explained_by_their_scale():
    mine = campaigns.taken(campaigns.rated())
    assert mine.annotator is not None

    document = Person(mine.annotator, mine).get()

    assert [criterion["key"] for criterion in document["criteria"]] == ["ratings"]
    assert [(each["scale"], each["text"]) for each in document["annotations"]] == [
        ("semantic", "Semantic: How good is semantic?"),
        ("design", "Design: How good is design?"),
    ]


@pytest.mark.parametrize("role", [SiteRole.ANNOTATOR, SiteRole.READER])
@pytest.mark.parametrize("pk", [None, HUGE, 0])
def test_to_others_a_set_does_not_exist(mine, role, pk):
    other = Person(campaigns.person("", role), mine)
    if pk is not None:
        other.base = f"/api/v1/assignments/{pk}"

    other.get(status=404)
    other.get("/changes", status=404)
    for path in ("/operations", "/presence", "/submit", "/reopen", "/reveal"):
        other.post(path, {"operations": [], "reason": "curious"}, status=404)


def test_a_lead_reads_every_set_and_writes_in_none(mine, person):
    person.send(marked(mine.annotations.earliest("pk")))
    lead = Person(campaigns.lead(), mine)

    document = lead.get()

    assert (document["is_mine"], document["owner"]) == (False, person.user.username)
    for path in ("/operations", "/presence", "/submit"):
        lead.post(path, {"operations": [marked(mine.annotations.earliest("pk"), base=1)]}, status=403)
    mine.refresh_from_db()
    assert (mine.state, mine.sequence, mine.place) == ("open", 1, {})


def test_a_lead_who_annotates_does_not_read_peers_sets_while_blind(mine):
    lead = campaigns.lead()
    mine.campaign.annotators.add(lead)
    queue.take_next(mine.campaign, lead)

    Person(lead, mine).get(status=403)


def test_an_annotator_does_not_open_an_own_set_again(mine, person):
    mark_all(person, mine)
    person.post("/submit")

    person.post("/reopen", status=403)

    assert person.get()["state"] == "submitted"


def test_a_set_is_submitted_only_when_complete_and_the_answer_names_what_is_missing(mine, person):
    first, *rest = mine.annotations.order_by("item__position")
    person.send(marked(first))

    refused = person.post("/submit", status=409)

    assert refused["missing"] == [annotation.pk for annotation in rest]
    assert refused["detail"].startswith("5 outcomes are still open")
    assert person.get()["state"] == "open"


def test_an_environment_problem_counts_as_decided(mine, person):
    sent = [marked(each) for each in mine.annotations.all()]
    sent[0] |= {"change": "problem", "problem": "data"}
    person.send(*sent)

    assert person.get()["progress"] == {"decided": 6, "total": 6, "problems": 1}
    assert person.post("/submit")["state"] == "submitted"


def test_submitting_twice_changes_nothing_and_is_written_down_once(mine, person):
    Campaign.objects.update(webhook_url="https://example.org/hook")
    mark_all(person, mine)

    answers = [person.post("/submit"), person.post("/submit")]

    assert answers[0] == answers[1]
    assert answers[0]["submitted_at"].endswith("Z")
    assert AuditEntry.objects.filter(act="submit", subject=f"assignment:{mine.pk}").count() == 1
    delivery = WebhookDelivery.objects.get()
    assert delivery.body["assignment"] == mine.pk
    assert delivery.next_at is not None


def test_a_lead_opens_a_submitted_set_again_and_its_annotator_goes_on(mine, person):
    mark_all(person, mine)
    person.post("/submit")
    lead = Person(campaigns.lead(), mine)

    assert lead.post("/reopen", {"reason": "two marks look swapped"})["state"] == "open"

    entry = AuditEntry.objects.get(act="reopen")
    assert entry.details["reason"] == "two marks look swapped"
    assert person.statuses(marked(mine.annotations.earliest("pk"), Mark.FAIL, base=1)) == ["saved"]


def test_what_is_over_is_neither_submitted_nor_opened_again(mine, person):
    mark_all(person, mine)
    lead = Person(campaigns.lead(), mine)
    queue.release(mine, by=None, reason="left")
    assert "given back" in person.post("/submit", status=409)["detail"]
    assert "assigned anew" in lead.post("/reopen", status=409)["detail"]

    other = campaigns.taken()
    assert other.annotator is not None
    theirs = Person(other.annotator, other)
    mark_all(theirs, other)
    theirs.post("/submit")
    opening.close_campaign(other.campaign, by=None)
    assert "closed" in Person(lead.user, other).post("/reopen", status=409)["detail"]


def test_a_reopened_set_of_somebody_who_could_look_meanwhile_is_no_longer_called_blind():
    blind = campaigns.taken()
    assert blind.annotator is not None
    could_look = campaigns.person("", SiteRole.ANNOTATOR, SiteRole.READER)
    seen = campaigns.taken(campaigns.opened(annotators=[could_look]))

    for assignment, is_revealed in ((blind, False), (seen, True)):
        assert assignment.annotator is not None
        person = Person(assignment.annotator, assignment)
        mark_all(person, assignment)
        person.post("/submit")
        Person(campaigns.lead(), assignment).post("/reopen")
        assignment.refresh_from_db()
        assert (assignment.revealed_at is not None) is is_revealed


def test_changes_tell_another_tab_what_was_saved_since(mine, person):
    one, other = mine.annotations.order_by("item__position")[:2]
    person.send(marked(one))
    person.send(marked(other), marked(one, Mark.FAIL, base=1))

    changed = person.get("/changes?after=1")

    assert (changed["sequence"], changed["state"]) == (3, "open")
    assert [each["id"] for each in changed["annotations"]] == [one.pk, other.pk]
    assert person.get("/changes?after=3")["annotations"] == []
    assert person.get(f"/changes?after={HUGE}")["annotations"] == []
    assert len(person.get(f"/changes?after=-{HUGE}")["annotations"]) == 2


def test_time_is_counted_once_and_the_rest_of_a_set_is_estimated_from_it(mine, person):
    first, second = mine.annotations.order_by("item__position")[:2]
    person.send(marked(first), marked(second))
    times = [
        {"operation": str(uuid4()), "annotation": annotation.pk, "milliseconds": milliseconds}
        for annotation, milliseconds in ((first, 30_000), (second, 10_000), (first, 20_000))
    ]

    person.post("/presence", {"times": times})
    person.post("/presence", {"times": times[:2]})

    document = person.get()
    assert [each["active_ms"] for each in document["annotations"][:2]] == [50_000, 10_000]
    assert ActiveTime.objects.count() == 3
    # Four are open; the median of 50 and 10 seconds is 30.
    assert document["seconds_left"] == 120


def test_a_place_is_kept_and_presence_extends_the_lease(mine, person):
    Assignment.objects.update(lease_until=timezone.now())
    place = {"item": 3, "scroll": [0, 140.5], "viewport": "phone"}

    answer = person.post("/presence", {"place": place})

    mine.refresh_from_db()
    assert mine.lease_until > timezone.now()
    assert answer == {
        "sequence": 0,
        "lease_until": answer["lease_until"],
        "state": "open",
        "closed": None,
    }
    assert person.get()["place"] == place


@pytest.mark.parametrize(
    "times",
    [
        [None, 1, "x", [], {}],
        [{"operation": "x", "annotation": 1, "milliseconds": 5}],
        [{"operation": str(uuid4()), "annotation": HUGE, "milliseconds": 5}],
        [{"operation": str(uuid4()), "annotation": True, "milliseconds": 5}],
    ],
)
@pytest.mark.parametrize("place", [None, [], "x", {"a": "y" * 9000}, {"a": [[[[[[]]]]]]}])
def test_a_presence_that_makes_no_sense_is_left_out_and_harms_nothing(person, times, place):
    person.post("/presence", {"times": times, "place": place})

    assert ActiveTime.objects.count() == 0


def test_a_place_with_bad_characters_numbers_and_depth_can_be_stored(mine, person):
    deep = "[" * 900 + "]" * 900
    person.post("/presence", rb'{"place": {"a\u0000": "\ud800", "n": NaN, "deep": ' + deep.encode() + b"}}")

    mine.refresh_from_db()
    assert mine.place["a\ufffd"] == "\ufffd"
    assert mine.place["n"] is None


def test_a_time_of_more_than_an_hour_counts_as_an_hour_and_of_another_set_not_at_all(mine, person):
    other = campaigns.taken()
    sent = [
        {"operation": str(uuid4()), "annotation": annotation.pk, "milliseconds": 2**40}
        for annotation in (mine.annotations.earliest("pk"), other.annotations.earliest("pk"))
    ]

    person.post("/presence", {"times": sent})

    assert sorted(Annotation.objects.exclude(active_ms=0).values_list("active_ms", flat=True)) == [3_600_000]


def test_a_reveal_needs_a_reason_is_written_down_and_answers_what_was_hidden(mine, person):
    assert "Say why" in person.post("/reveal", {"reason": " "}, status=409)["detail"]

    shown = person.post("/reveal", {"reason": "the note of the lead asks for it"})

    mine.refresh_from_db()
    assert mine.revealed_at is not None
    assert {mark["judge_mark"] for mark in shown["marks"]} == {"pass"}
    assert shown["marks"][0]["rationale"].startswith("c0.0 was planned")
    assert AuditEntry.objects.get(act="reveal").details["reason"] == "the note of the lead asks for it"
    assert person.get()["revealed_at"] is not None


def test_a_blind_set_tells_neither_judge_nor_agent_nor_run_nor_peers(mine):
    agent = "unmistakable-agent"
    run = campaigns.run(campaigns.benchmark(tasks=1), agent=agent, rounds=[campaigns.MIXED])
    people = campaigns.people(2)
    of = campaigns.opened(run, annotators=people, overlap=2, only_executed=False)
    theirs, own = queue.take_next(of, people[0]), queue.take_next(of, people[1])
    peer, person = Person(people[0], theirs), Person(people[1], own)
    note = "what the other one thought"
    peer.send(*(marked(each, Mark.FAIL) for each in theirs.annotations.all()))
    peer.send({**marked(theirs.annotations.earliest("pk"), base=1), "change": "note", "note": note})

    first = own.annotations.earliest("pk")
    answers = [
        person.get(),
        person.post("/operations", {"operations": [marked(first)]}),
        person.get("/changes"),
        person.post("/presence", {"place": {}}),
        person.post("/submit", status=409),
    ]

    told = json.dumps(answers)
    for secret in (agent, note, people[0].username, "planned", "judge", "rationale", "stratum", "skipped"):
        assert secret not in told, secret
    assert {each["mark"] for each in answers[0]["annotations"]} == {""}
    names = {name for answer in answers for name in _names(answer)}
    assert not names & {
        "run",
        "trial",
        "agent",
        "model",
        "judge",
        "judge_mark",
        "known_mark",
        "copies",
        "snapshot",
    }


def _names(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {name for child in value.values() for name in _names(child)}
    if isinstance(value, list):
        return {name for child in value for name in _names(child)}
    return set()


def test_who_is_signed_in_is_told_with_roles():
    user = campaigns.person("", SiteRole.LEAD, SiteRole.ANNOTATOR)
    client = Client(headers={"host": "proofroom.localhost:8000"})

    assert client.get("/api/v1/me").status_code == 401
    client.force_login(user)
    assert client.get("/api/v1/me").json() == {
        "user": user.pk,
        "username": user.username,
        "roles": ["annotator", "lead"],
    }


def test_a_campaign_gives_sets_to_its_annotators_and_does_not_exist_for_others(mine, person):
    path = f"/api/v1/campaigns/{mine.campaign_id}/take"

    taken = person.client.post(path)
    other = Person(campaigns.person(), mine).client.post(path)
    opening.close_campaign(mine.campaign, by=None)
    closed = person.client.post(path)

    assert taken.json() == {"assignment": mine.pk, "alias": mine.alias}
    assert other.status_code == 404
    assert (closed.status_code, "is closed" in closed.json()["detail"]) == (409, True)


def test_an_expired_set_is_still_read_by_who_worked_on_it(mine, person):
    queue.release(mine, by=None, reason="left")

    assert person.get()["state"] == AssignmentState.EXPIRED
