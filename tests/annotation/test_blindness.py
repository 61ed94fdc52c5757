"""Blindness: which runs are hidden from whom and until when; a reveal is written down."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation import blindness, opening, queue, submitting
from annotation.blindness import CannotReveal, StillBlind
from annotation.models import Annotation, Assignment, Campaign
from benchmark.rules.vocabulary import Mark
from people.models import AuditEntry
from people.roles import SiteRole
from runs.models import Run
from runs.visibility import visible_runs
from tests import campaigns
from tests.annotation import blind_world
from tests.visitors import visitor

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return campaigns.run(campaigns.benchmark(tasks=1, criteria=1))


def sees(person: User, run: Run) -> bool:
    """Whether a person sees a run now, asked as a new request would."""
    return visible_runs(User.objects.get(pk=person.pk)).filter(pk=run.pk).exists()


def submitted(own: Assignment) -> None:
    Annotation.objects.filter(assignment=own).update(mark=Mark.PASS, note="")
    assert own.annotator is not None
    submitting.submit(own, by=own.annotator)


def test_a_run_is_hidden_while_an_own_blind_set_is_open_and_shown_once_it_is_submitted(run):
    person, peer = campaigns.lead(), campaigns.person()
    of = campaigns.planned(run, annotators=[person, peer], overlap=2)
    assert not sees(person, run)

    submitted(Assignment.objects.get(campaign=of, annotator=person))

    assert sees(person, run)


def test_all_runs_of_the_campaign_are_hidden_not_only_that_of_the_own_set(run):
    person, peer = campaigns.lead(), campaigns.lead()
    other = campaigns.run(run.benchmark)
    campaigns.planned(run, other, annotators=[person, peer], overlap=1)

    assert not sees(person, run)
    assert not sees(person, other)


@pytest.mark.parametrize("is_blind", [True, False])
def test_a_person_who_may_still_take_a_set_is_blind_already_unless_the_campaign_is_not(run, is_blind):
    person = campaigns.lead()
    campaigns.opened(run, annotators=[person], is_blind=is_blind)

    assert sees(person, run) is not is_blind


def test_free_sets_of_rounds_that_a_person_has_marked_hide_nothing_from_that_person(run):
    person, peer = campaigns.lead(), campaigns.person()
    of = campaigns.opened(run, annotators=[person, peer], overlap=2)
    submitted(queue.take_next(of, person))

    # The other copy is still free, but nobody marks one round twice.
    assert Assignment.objects.filter(campaign=of, annotator=None).exists()
    assert sees(person, run)


def test_a_set_that_was_taken_away_hides_as_long_as_its_replacement_may_be_taken(run):
    person, peer = campaigns.lead(), campaigns.person()
    of = campaigns.opened(run, annotators=[person, peer])
    queue.release(queue.take_next(of, person), by=None, reason="left")
    assert not sees(person, run)

    queue.take_next(of, peer)

    assert sees(person, run)


@pytest.mark.parametrize("how", ["draft", "closed"])
def test_a_campaign_that_is_not_open_hides_nothing(run, how):
    person = campaigns.lead()
    of = campaigns.campaign(run, annotators=[person])
    if how == "closed":
        opening.open_campaign(of, by=None)
        opening.close_campaign(of, by=None)

    assert sees(person, run)


def test_nobody_else_is_blinded_by_anothers_set(run):
    campaigns.planned(run, annotators=[campaigns.person()])

    assert sees(campaigns.lead(), run)


def test_a_reveal_is_written_down_with_its_reason_and_shows_the_runs(run):
    person = campaigns.lead()
    of = campaigns.planned(run, annotators=[person])
    own = Assignment.objects.get(campaign=of, annotator=person)

    since = blindness.reveal(own, by=person, reason=" The app would not start. ")

    entry = AuditEntry.objects.get(act="reveal")
    assert (entry.user, entry.subject) == (person, f"assignment:{own.pk}")
    assert entry.details["reason"] == "The app would not start."
    assert entry.details["annotator"] == person.pk
    own.refresh_from_db()
    assert own.revealed_at == since
    assert sees(person, run)


def test_a_reveal_holds_for_every_open_set_of_the_person_in_the_campaign(run):
    person = campaigns.lead()
    other = campaigns.run(run.benchmark)
    of = campaigns.planned(run, other, annotators=[person])
    sets = Assignment.objects.filter(campaign=of, annotator=person)
    assert len(sets) == 2

    blindness.reveal(sets[0], by=person, reason="why not")

    assert not sets.filter(revealed_at=None).exists()
    assert AuditEntry.objects.get(act="reveal").details["assignments"] == [each.pk for each in sets]


def test_who_looked_once_is_not_blind_again_because_of_the_next_set(run):
    person = campaigns.lead()
    other = campaigns.run(run.benchmark)
    of = campaigns.opened(run, other, annotators=[person])
    own = queue.take_next(of, person)
    blindness.reveal(own, by=person, reason="why not")
    submitted(own)

    following = queue.take_next(of, person)

    assert following.pk != own.pk
    assert following.revealed_at is not None
    assert sees(person, run)


def test_a_set_of_the_same_round_in_another_campaign_is_revealed_too(run):
    person = campaigns.lead()
    first, second = (campaigns.planned(run, annotators=[person]) for _ in range(2))

    blindness.reveal(Assignment.objects.get(campaign=first), by=person, reason="why not")

    assert Assignment.objects.get(campaign=second).revealed_at is not None


def test_revealing_twice_writes_one_entry(run):
    person = campaigns.lead()
    own = Assignment.objects.get(campaign=campaigns.planned(run, annotators=[person]))
    stale = Assignment.objects.get(pk=own.pk)

    moments = {blindness.reveal(each, by=person, reason="why not") for each in (own, stale)}

    assert len(moments) == 1
    assert AuditEntry.objects.filter(act="reveal").count() == 1


@pytest.mark.parametrize("reason", ["", "   ", "\n"])
def test_a_reveal_without_a_reason_is_refused(run, reason):
    person = campaigns.lead()
    own = Assignment.objects.get(campaign=campaigns.planned(run, annotators=[person]))

    with pytest.raises(CannotReveal, match="Say why"):
        blindness.reveal(own, by=person, reason=reason)
    assert not AuditEntry.objects.filter(act="reveal").exists()


def test_there_is_nothing_to_reveal_of_a_set_that_is_not_blind_free_or_over(run):
    person = campaigns.lead()
    seeing = campaigns.planned(run, annotators=[person], is_blind=False)
    free = campaigns.opened(run, annotators=[person])
    over = campaigns.planned(run, annotators=[person])
    submitted(Assignment.objects.get(campaign=over))

    for of, sentence in ((seeing, "not blind"), (free, "Nobody has this set"), (over, "no longer open")):
        with pytest.raises(CannotReveal, match=sentence):
            blindness.reveal(Assignment.objects.get(campaign=of), by=person, reason="why not")


def test_another_campaign_on_a_hidden_run_is_out_of_sight_as_well(run):
    person = campaigns.lead()
    earlier = campaigns.planned(run, annotators=[campaigns.person()], is_blind=False)
    campaigns.planned(run, annotators=[person])

    with pytest.raises(StillBlind, match="hidden from you"):
        blindness.require_not_blind(person, earlier)
    blindness.require_not_blind(campaigns.lead(), earlier)


def reveal_page(of: Campaign) -> str:
    return reverse("annotation:reveal", args=[Assignment.objects.get(campaign=of).pk])


def test_the_page_asks_for_a_reason_then_shows_agent_marks_and_rationale(run):
    person = campaigns.person("annotator")
    of = campaigns.planned(run, annotators=[person])
    blind_world.name_everything(run)
    client, page = visitor(person), reveal_page(of)

    before = client.get(page)
    refused = client.post(page, {"reason": " "})
    after = client.post(page, {"reason": "The set is broken"}, follow=True)

    assert blind_world.AGENT not in before.content.decode()
    assert refused.status_code == 422
    assert "Say why you look" in refused.content.decode()
    assert blind_world.AGENT not in refused.content.decode()
    assert blind_world.AGENT in after.content.decode()
    assert blind_world.RATIONALE in after.content.decode()
    assert AuditEntry.objects.get(act="reveal").details["reason"] == "The set is broken"


def test_the_page_is_for_the_annotator_and_for_leads_who_are_not_blind_themselves(run):
    owner, stranger, blind = campaigns.person(), campaigns.person(), campaigns.lead()
    of = campaigns.planned(run, annotators=[owner])
    campaigns.planned(run, annotators=[blind])
    page = reveal_page(of)

    codes = {person: visitor(person).get(page).status_code for person in (owner, stranger, blind)}

    assert list(codes.values()) == [200, 404, 403]
    assert visitor(campaigns.lead()).get(page).status_code == 200


def test_a_lead_reveals_for_somebody_and_both_names_are_kept(run):
    owner, lead = campaigns.person("owner"), campaigns.lead("lead")
    of = campaigns.planned(run, annotators=[owner])

    visitor(lead).post(reveal_page(of), {"reason": "Asked by phone"})

    entry = AuditEntry.objects.get(act="reveal")
    assert (entry.username, entry.details["annotator"]) == ("lead", owner.pk)


def test_an_administrator_who_marks_blind_is_refused_the_log_until_everything_is_shown():
    boss = campaigns.person("boss", SiteRole.ANNOTATOR, is_staff=True, is_superuser=True)
    run = campaigns.run(campaigns.benchmark())
    mine = campaigns.taken(campaigns.planned(run, annotators=[boss]), by=boss)
    client = Client(headers={"host": settings.SITE_HOST})
    client.force_login(boss)
    places = ["/log/", "/log/export/", "/admin/people/auditentry/"]

    while_blind = [client.get(place).status_code for place in places]
    client.post(f"/annotation/{mine.pk}/reveal/", {"reason": "I have to read the log"})

    assert while_blind == [403, 403, 403]
    assert [client.get(place).status_code for place in places] == [200, 200, 200]
