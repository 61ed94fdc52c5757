"""Setting a campaign up through its pages: live count, drafts, opening, versions, doubles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import drafting, guidelines, opening
from annotation.campaign_checks import checked
from annotation.campaign_forms import Given
from annotation.models import Annotation, Campaign, Guideline, Item
from annotation.vocabulary import CampaignState, MarkSet, SampleMethod
from benchmark.rules.vocabulary import Mark
from people.models import AuditEntry
from tests import campaigns
from tests.annotation.seats import mark_all, queries, seat, sets_of

pytestmark = pytest.mark.django_db
NEW = "/campaigns/new/"


@pytest.fixture
def lead():
    return campaigns.lead("planner")


@pytest.fixture
def client(lead):
    return seat(lead)


def form(client, path: str = NEW, **changed: Any) -> dict[str, Any]:
    """What a browser would send of a page's form, with some fields changed."""
    given: Given = client.get(path).context["given"]
    values: dict[str, Any] = {
        name: getattr(given, name) for name in Given.__dataclass_fields__ if name not in ("scales", *_BOXES)
    }
    values |= {name: "1" for name in _BOXES if getattr(given, name)}
    for name in ("title", "definition", "minimum", "maximum", "key"):
        values[f"scale_{name}"] = [getattr(row, name) for row in given.scale_rows]
    values["base"] = client.get(path).context["base"]
    return {name: value for name, value in (values | changed).items() if value is not None}


_BOXES = ("only_executed", "is_blind")


def made(client, **changed: Any) -> Campaign:
    """A draft that was saved through the form."""
    answer = client.post(NEW, form(client, name="Study", action="save", **changed))
    assert answer.status_code == 302, answer.context["problems"]
    return Campaign.objects.latest("pk")


def edit(campaign: Campaign) -> str:
    return reverse("annotation:edit", args=[campaign.pk])


def test_a_form_that_is_saved_is_a_draft_with_all_its_values(client, lead):
    run = campaigns.run(campaigns.benchmark(tasks=3))
    people = campaigns.people(2)

    campaign = made(
        client,
        runs=[run.pk],
        tasks=["t1", "t3"],
        rounds="1",
        method="stratified",
        sample_size="2",
        strata=["kind"],
        seed="-5",
        annotators=[person.pk for person in people],
        overlap="2",
        overlap_share="50",
        distribution="planned",
        mark_set="three",
        centre="evidence",
        guideline="Only what is on the page.",
        is_blind=None,
        deadline="2099-01-02T03:04",
    )

    assert campaign.state == CampaignState.DRAFT
    assert campaign.created_by == lead
    assert (campaign.tasks, campaign.rounds, campaign.strata) == (["t1", "t3"], [1], ["kind"])
    assert (campaign.seed, campaign.overlap, campaign.overlap_share) == (-5, 2, 0.5)
    assert not campaign.is_blind
    assert set(campaign.annotators.all()) == set(people)
    current = guidelines.current(campaign)
    assert current is not None
    assert current.text == "Only what is on the page."


def test_a_bad_field_keeps_everything_else_and_says_one_sentence_under_it(client):
    values = form(client, name="Kept name", overlap="0", guideline="Kept text", action="save")

    answer = client.post(NEW, values)

    assert answer.status_code == 422
    assert '<p class="field__problem">' in answer.text
    assert answer.context["problems"] == {
        "overlap": "People for each is '0'; it takes a whole number from 1 to 50."
    }
    assert 'value="Kept name"' in answer.text
    assert "Kept text" in answer.text
    assert not Campaign.objects.exists()


def test_the_live_count_says_what_opening_will_make(client):
    run = campaigns.run(campaigns.benchmark(tasks=2, criteria=3, outcomes=2), rounds=[campaigns.MIXED])
    people = campaigns.people(2)
    values = form(client, name="", runs=[run.pk], annotators=[p.pk for p in people], overlap="2")

    counted = client.post(NEW, values, headers={"hx-request": "true"})
    campaign = made(client, runs=[run.pk], annotators=[p.pk for p in people], overlap="2")
    client.post(reverse("annotation:open", args=[campaign.pk]))

    plan = counted.context["plan"]
    assert plan["items"] == str(Item.objects.filter(campaign=campaign).count()) == "8"
    assert plan["marks"] == str(Annotation.objects.filter(assignment__campaign=campaign).count()) == "16"
    assert plan["sets"] == str(campaign.assignments.count()) == "4"
    assert plan["excluded"] == [{"words": "skipped by the judge", "count": "4"}]
    assert "<html" not in counted.text


def test_the_count_comes_per_stratum(client):
    runs = [campaigns.run(agent="heron-2"), campaigns.run(agent="quill-34b")]
    values = form(
        client, runs=[run.pk for run in runs], method="stratified", strata=["agent"], sample_size="3",
        annotators=[campaigns.person().pk],
    )  # fmt: skip

    plan = client.post(NEW, values, headers={"hx-request": "true"}).context["plan"]

    assert [(row["name"], row["drawn"], row["found"]) for row in plan["strata"]] == [
        ("heron-2", "3", "12"),
        ("quill-34b", "3", "12"),
    ]


def test_looking_saves_nothing(client):
    client.post(NEW, form(client, name="Study"), headers={"hx-request": "true"})
    client.post(NEW, form(client, name="Study"))

    assert not Campaign.objects.exists()


def test_an_incomplete_draft_is_kept_and_says_what_it_lacks(client):
    answer = client.post(NEW, form(client, name="Study", action="open"), follow=True)

    assert Campaign.objects.get().state == CampaignState.DRAFT
    assert "Choose at least one run" in answer.text
    assert "Each trial goes to 1 person, and nobody is chosen" in answer.text
    assert "Saved as a draft, and not yet ready to be opened." in answer.text


def test_opening_asks_first_and_then_freezes_the_sample(client):
    run, person = campaigns.run(), campaigns.person()
    answer = client.post(
        NEW, form(client, name="Study", runs=[run.pk], annotators=[person.pk], action="open"), follow=True
    )
    campaign = Campaign.objects.get()
    assert "Open Study?" in answer.text
    assert campaign.state == CampaignState.DRAFT

    client.post(reverse("annotation:open", args=[campaign.pk]))
    client.post(
        edit(campaign),
        form(client, edit(campaign), method="per_project", sample_size="1", seed="9", action="save"),
    )

    campaign.refresh_from_db()
    assert campaign.state == CampaignState.OPEN
    assert (campaign.method, campaign.seed) == (SampleMethod.ALL, 1)
    assert campaign.items.count() == 12


def test_opening_a_second_time_changes_nothing(client):
    campaign = campaigns.opened()
    before = list(campaign.items.values_list("pk", flat=True))

    answer = client.post(reverse("annotation:open", args=[campaign.pk]), follow=True)

    assert "is open already" in answer.text
    assert list(campaign.items.values_list("pk", flat=True)) == before


def test_while_open_a_changed_guideline_is_a_new_version_and_marks_keep_theirs(client):
    campaign = campaigns.opened()
    mark_all(campaigns.taken(campaign), submit=False)

    client.post(edit(campaign), form(client, edit(campaign), guideline="Second wording", action="save"))

    assert [version.version for version in campaign.guidelines.all()] == [1, 2]
    assert set(Annotation.objects.exclude(mark="").values_list("guideline__version", flat=True)) == {1}


def test_while_a_draft_is_worded_there_is_one_version(client):
    campaign = made(client, guideline="First")

    for text in ("Second", "Third"):
        client.post(edit(campaign), form(client, edit(campaign), guideline=text, action="save"))

    assert list(campaign.guidelines.values_list("version", "text")) == [(1, "Third")]


def test_people_can_be_added_while_a_campaign_is_open(client):
    campaign = campaigns.opened()
    more = campaigns.person("late")
    old = list(campaign.annotators.values_list("pk", flat=True))

    client.post(edit(campaign), form(client, edit(campaign), annotators=[*old, more.pk], action="save"))

    assert more in campaign.annotators.all()


def test_two_leads_do_not_undo_each_other_unseen(client):
    campaign = made(client)
    stale = form(client, edit(campaign), name="Mine", action="save")
    client.post(edit(campaign), form(client, edit(campaign), name="Theirs", action="save"))

    answer = client.post(edit(campaign), stale)

    assert answer.status_code == 409
    assert 'value="Mine"' in answer.text
    campaign.refresh_from_db()
    assert campaign.name == "Theirs"

    client.post(edit(campaign), stale | {"base": answer.context["base"]})
    campaign.refresh_from_db()
    assert campaign.name == "Mine"


def test_saving_a_form_never_undoes_an_opening_or_a_closing_of_the_same_moment(lead):
    stale = campaigns.campaign(annotators=[campaigns.person()])
    design = checked(Given.from_campaign(stale))
    opening.open_campaign(Campaign.objects.get(pk=stale.pk), by=lead)

    drafting.save_draft(stale, replace(design, runs=()), by=lead)

    now = Campaign.objects.get(pk=stale.pk)
    assert now.state == CampaignState.OPEN
    assert now.opened_at is not None
    assert now.runs.count() == 1
    opening.close_campaign(Campaign.objects.get(pk=stale.pk), by=lead)
    drafting.save_draft(now, design, by=lead)
    assert Campaign.objects.get(pk=stale.pk).state == CampaignState.CLOSED


def test_the_usual_time_of_an_outcome_is_the_median():
    mine = campaigns.taken()
    for annotation, seconds in zip(mine.annotations.all(), (10, 20), strict=False):
        Annotation.objects.filter(pk=annotation.pk).update(mark="pass", active_ms=seconds * 1000)

    assert drafting.pace() == drafting.Pace(seconds=15, n=2)


def test_closing_and_reopening_keep_every_mark(client):
    campaign = campaigns.opened()
    mark_all(campaigns.taken(campaign))

    client.post(reverse("annotation:close", args=[campaign.pk]))
    campaign.refresh_from_db()
    closed = campaign.state
    client.post(reverse("annotation:reopen", args=[campaign.pk]))
    campaign.refresh_from_db()

    assert (closed, campaign.state) == (CampaignState.CLOSED, CampaignState.OPEN)
    assert Annotation.objects.exclude(mark="").count() == 6


def test_closing_a_draft_is_refused_with_a_sentence(client):
    campaign = made(client)

    answer = client.post(reverse("annotation:close", args=[campaign.pk]), follow=True)

    assert "Only an open campaign can be closed." in answer.text


def test_a_double_is_a_draft_with_the_same_design_and_no_deadline(client):
    campaign = campaigns.opened(
        annotators=campaigns.people(3), overlap=2, mark_set=MarkSet.THREE, deadline=timezone.now(), seed=99
    )
    item = campaign.items.order_by("pk")[0]
    Item.objects.filter(pk=item.pk).update(known_mark=Mark.PARTIAL)

    answer = client.post(reverse("annotation:duplicate", args=[campaign.pk]))

    double = Campaign.objects.latest("pk")
    assert answer.url == edit(double)
    assert (double.state, double.deadline, double.opened_at) == (CampaignState.DRAFT, None, None)
    assert (double.overlap, double.mark_set, double.seed) == (2, MarkSet.THREE, 99)
    assert set(double.annotators.all()) == set(campaign.annotators.all())
    assert [(each.outcome_id, each.known_mark) for each in double.items.all()] == [
        (item.outcome_id, "partial")
    ]
    assert double.guidelines.count() == 1


def test_calibration_items_are_chosen_in_the_draft_and_reach_every_copy(client):
    run, people = campaigns.run(), campaigns.people(2)
    campaign = made(
        client, runs=[run.pk], annotators=[p.pk for p in people], overlap="2", overlap_unit="outcome"
    )
    page = reverse("annotation:calibration", args=[campaign.pk])
    shown = client.get(page).context
    name = shown["rows"][1]["name"]

    client.post(page, {"round": shown["chosen"].pk, name: "fail"})
    client.post(reverse("annotation:open", args=[campaign.pk]))

    item = campaign.items.get(known_mark="fail")
    assert f"known_{item.outcome_id}" == name
    assert item.annotations.count() == 2


def test_a_mark_that_the_campaign_does_not_have_is_refused_and_nothing_saved(client):
    campaign = made(client, runs=[campaigns.run().pk])
    page = reverse("annotation:calibration", args=[campaign.pk])
    shown = client.get(page).context

    answer = client.post(page, {"round": shown["chosen"].pk, shown["rows"][0]["name"]: "partial"})

    assert answer.status_code == 422
    assert "is not a mark of this campaign" in answer.text
    assert not campaign.items.exists()


def test_a_known_rating_outside_its_scale_is_refused(client):
    campaign = campaigns.campaign(
        mark_set=MarkSet.SCALES,
        scales=[{"key": "design", "title": "Design", "definition": "x", "minimum": 0, "maximum": 10}],
    )
    page = reverse("annotation:calibration", args=[campaign.pk])

    answer = client.post(page, {"known_design": "11"})
    client.post(page, {"known_design": "7.5"})

    assert "takes a number from 0 to 10" in answer.text
    assert campaign.items.get().known_score == 7.5


def test_a_run_that_is_taken_out_takes_its_calibration_items_along(client):
    one, other = campaigns.run(), campaigns.run()
    campaign = made(client, runs=[one.pk, other.pk])
    page = reverse("annotation:calibration", args=[campaign.pk])
    for each in client.get(page).context["rounds"]:
        shown = client.get(f"{page}?round={each['round'].pk}").context
        client.post(page, {"round": each["round"].pk, shown["rows"][0]["name"]: "pass"})
    assert campaign.items.count() == 4

    client.post(edit(campaign), form(client, edit(campaign), runs=[one.pk], action="save"))

    assert set(campaign.items.values_list("round__trial__run", flat=True)) == {one.pk}


@pytest.mark.parametrize(
    "path", ["/campaigns/", "/campaigns/new/", "/campaigns/{}/", "/campaigns/{}/edit/", "/campaigns/{}/open/",
             "/campaigns/{}/calibration/", "/campaigns/{}/disagreements/", "/campaigns/{}/comments/", "/campaigns/{}/log/"],
)  # fmt: skip
def test_pages_of_leads_are_refused_to_annotators_with_a_sentence(path):
    campaign = campaigns.opened()

    answer = seat(campaign.annotators.get()).get(path.format(campaign.pk))

    assert answer.status_code == 403
    assert "Only a lead may do this." in answer.text


@pytest.mark.parametrize("act", ["close", "reopen", "duplicate", "open", "edit"])
def test_acts_of_leads_are_refused_to_annotators(act):
    campaign = campaigns.opened()

    answer = seat(campaign.annotators.get()).post(reverse(f"annotation:{act}", args=[campaign.pk]))

    campaign.refresh_from_db()
    assert answer.status_code == 403
    assert campaign.state == CampaignState.OPEN
    assert Campaign.objects.count() == 1


def test_ratings_are_opened_with_the_strata_that_a_form_ticks_by_itself(client):
    run, person = campaigns.run(), campaigns.person()
    scale = {
        "scale_title": "Design",
        "scale_definition": "How good?",
        "scale_minimum": "0",
        "scale_maximum": "9",
    }
    campaign = made(client, runs=[run.pk], annotators=[person.pk], mark_set="scales", scale_key="", **scale)

    client.post(reverse("annotation:open", args=[campaign.pk]))

    campaign.refresh_from_db()
    assert campaign.strata == ["agent", "kind"]
    assert campaign.state == CampaignState.OPEN
    assert [item.stratum for item in campaign.items.all()] == ["", ""]


def test_the_plan_shows_what_is_drawn_before_anybody_is_chosen(client):
    run = campaigns.run()

    plan = client.post(NEW, form(client, runs=[run.pk]), headers={"hx-request": "true"}).context["plan"]

    assert (plan["items"], plan["facts"][0], plan["is_possible"]) == ("12", "2 projects", False)
    assert len(plan["problems"]) == 1


def test_a_lead_who_marks_blind_is_not_shown_whose_work_it_is(lead, client):
    run = campaigns.run(agent="heron-2")
    campaign = campaigns.opened(run, annotators=[lead])
    campaigns.taken(campaign, by=lead)

    pages = [edit(campaign), NEW, reverse("annotation:campaign", args=[campaign.pk]), "/campaigns/", "/"]

    for page in pages:
        assert "heron-2" not in seat(lead).get(page).text, page


def test_saving_a_draft_keeps_the_runs_that_are_hidden_from_whoever_saves(lead, client):
    run = campaigns.run(agent="heron-2")
    campaign = made(client, runs=[run.pk])
    campaigns.opened(run, annotators=[lead])
    blind = seat(lead)

    page = blind.get(edit(campaign)).text
    blind.post(edit(campaign), form(blind, edit(campaign), runs=[], name="Renamed", action="save"))

    campaign.refresh_from_db()
    assert "heron-2" not in page
    assert campaign.name == "Renamed"
    assert list(campaign.runs.all()) == [run]


def test_the_form_shows_markup_as_text(client):
    nasty = "</textarea><script>alert(1)</script>"
    campaign = made(client, runs=[campaigns.run(agent=nasty).pk], guideline=nasty, name_=None)

    page = client.get(edit(campaign)).text

    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 2


def test_pages_ask_as_often_for_many_runs_and_campaigns_as_for_few(client):
    def measured() -> list[int]:
        campaign = made(client, runs=[campaigns.run().pk], annotators=[campaigns.person().pk])
        return [queries(client, path) for path in ("/campaigns/", NEW, edit(campaign))]

    few = measured()
    for _ in range(3):
        mark_all(sets_of(campaigns.planned(campaigns.run(campaigns.benchmark(tasks=4))))[0])
    many = measured()

    assert few == many
    assert max(many) <= 26


def test_every_act_is_written_down(client, lead):
    campaign = made(client, runs=[campaigns.run().pk], annotators=[campaigns.person().pk])
    client.post(reverse("annotation:open", args=[campaign.pk]))
    client.post(reverse("annotation:close", args=[campaign.pk]))

    acts = AuditEntry.objects.filter(subject=f"campaign:{campaign.pk}", user=lead).order_by("pk")
    assert [entry.act for entry in acts][-2:] == ["open", "close"]
    assert "campaign_draft" in [entry.act for entry in acts]


def test_guidelines_of_other_campaigns_are_left_alone(client):
    campaigns.opened()
    made(client, guideline="Mine")

    assert Guideline.objects.count() == 2
